"""Whether a recorded tool result is a failure and of which kind, by what the result says.

Recordings keep no status of a call: what the agent read is all there is. So a result is a failure if its
envelope is marked as one, or if it is what programs write of an error: never because an error is mentioned
somewhere in what was read.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from inspector.core.error import BreakerState, FailureKind
from inspector.loop.breaker import Breaker, Permit, admitted, ended
from inspector.loop.session_breakers import AGAINST_SERVER, AGAINST_TOOL
from inspector.mcp.recorded_link import RecordedRun
from inspector.schema.json_value import JsonObject

# What the kind is told by stands near the beginning, or in the last line of a stack trace.
_LOOKED_AT = 600
_DEEPEST = 8
# What a call costs that was not answered in time: the limit of the harnesses that say it.
TIMEOUT_SECONDS = 60.0


class Failure(Struct, frozen=True):
    """A failed call. `is_seen` tells that its client failed, not the tool with an answer of its own.

    Only what the client sees is retried and counted by breakers; of an answer nobody but the model reads the
    reason.
    """

    kind: FailureKind
    is_seen: bool


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# What the harness of an agent writes when its client raises an error, and no tool does.
_SEEN = _any(
    r"tool call timed out",
    r"(?:error: )?tool call '[^']*' timed out",
    r"error running tool [^:]*: error invoking mcp tool",
    r"error executing tool execute-tool: ",
    r"error: object of type \w+ is not json serializable",
)
_BEGINS = _any(
    r"\W*(?:\w+ ){0,3}(?:errors?\b|failed\b|failure\b|traceback|exception\b|invalid )",
    r"\W*(?:\w+ ){0,3}(?:cannot |could not |couldn't |unable to |access denied|permission denied)",
    r"\W*(?:\w+ ){0,3}(?:security violation|input validation|missing required|unknown tool)",
    r"\W*(?:\w+ ){0,3}tool '?[\w.-]+'? (?:not found|does not exist)",
    r"=== (?:EXECUTION TIMEOUT|STDERR|ERROR)",
    r"[\w.]*(?:Error|Exception): ",
)
_EXIT = _any(r"return code: (-?\d+)")
_REPR = re.compile(
    r"content=\[(?:TextContent\(type='text', text=(?P<text>'.*'|\".*\"), annotations=.*)?\]"
    r" .*isError=(?P<is>\w+)",
    re.DOTALL,
)
# A status of HTTP, and no other number.
_STATUS = r"\b(?:code|status|error|http\w*)\W{0,4}(?:code\W{0,3})?"
# The first that matches tells the kind.
_KINDS = (
    # An error of JSON-RPC is one whatever it says, but for rejected arguments and requests that timed out.
    (FailureKind.PROTOCOL, _any(r"mcp error -32(?!602|001)\d+")),
    (
        FailureKind.RATE_LIMIT,
        _any(
            rf"rate.?limit|too many requests|requests too quickly|{_STATUS}429\b",
            r"quota (?:was )?exceeded|throttl",
        ),
    ),
    (
        FailureKind.TIMEOUT,
        _any(r"timed out|deadline exceeded|ETIMEDOUT|TimeoutError", r"(?<![?&\w\"])timeout\b(?![=_\"\\])"),
    ),
    (
        FailureKind.TRANSPORT,
        _any(
            r"connection (?:was )?(?:closed|reset|refused|aborted|error|issue|failed|lost|terminated)",
            r"\bECONN\w+|ENOTFOUND|EAI_AGAIN|fetch failed|socket hang ?up|network error|broken pipe",
            r"not connected|server not initialized|failed to connect|connect(?:ion)? error",
            r"max retries exceeded|EOF occurred",
            r"server disconnected|bad gateway|service (?:is )?(?:temporarily )?unavailable",
            rf"{_STATUS}50[0234]\b",
            r"net::ERR_(?:ADDRESS|CONNECTION|EMPTY|INTERNET|NAME|NETWORK|SOCKET|TIMED|TUNNEL)",
        ),
    ),
    (
        FailureKind.SCHEMA,
        _any(
            r"-32602|invalid_type|invalid_union|invalid_enum_value|unrecognized_keys|invalid params",
            r"validation[_ ]errors?\b|input validation|failed validation|is not of type",
            r"missing (?:\d+ )?required|is a required property|required parameter|missing parameters?",
            r"invalid arguments?|unexpected keyword|must be provided",
        ),
    ),
    (
        FailureKind.PROTOCOL,
        _any(
            r"-32601|unknown tool|no such tool|not json serializable",
            r"tool '?[\w.-]+'? (?:not found|does not exist)",
        ),
    ),
)


def failure_of_result(text: str | None) -> Failure | None:
    """The failure that a recorded result tells of, None if it is none. No result at all is none, too."""
    if text is None:
        return None
    plain, is_marked = unwrapped(text)
    told = _reason(plain, is_marked=is_marked)
    if told is None:
        return None
    is_seen = bool(_SEEN.match(plain.lstrip()))
    return Failure(_kind(told), is_seen)


def unwrapped(text: str) -> tuple[str, bool]:
    """The text within the envelopes of MCP around a result, and whether one of them says `isError`."""
    is_marked = False
    for _ in range(_DEEPEST):
        found = _REPR.search(text) if text.startswith("meta=") else None
        if found is not None:
            is_marked = is_marked or found["is"] == "True"
            text = _literal(found["text"] or "''")
            continue
        inner, marked = _opened(_parsed(text))
        is_marked = is_marked or marked
        if inner is None:
            break
        text = inner
    return text, is_marked


def _opened(value: Any) -> tuple[str | None, bool]:
    """The text in one envelope, None if it is no envelope, and whether it says that it is an error."""
    if isinstance(value, dict):
        if isinstance(value.get("content"), list) and (
            "isError" in value or "meta" in value or "_meta" in value
        ):
            inner, _ = _opened(value["content"])
            return inner or "", value.get("isError") is True
        if value.get("type") == "text" and isinstance(value.get("text"), str):
            return value["text"], False
    elif isinstance(value, list) and value and all(_is_part(one) for one in value):
        return "\n".join(str(one.get("text", "")) for one in value), False
    return None, False


def _is_part(value: Any) -> bool:
    return (
        isinstance(value, dict) and value.get("type") in ("text", "image", "resource") and "id" not in value
    )


def _reason(text: str, *, is_marked: bool) -> str | None:
    """The part of a failed result that says why; None if it did not fail."""
    if is_marked or _SEEN.match(text.lstrip()):
        return text
    value = _parsed(text)
    if isinstance(value, dict):
        return _told_by(value)
    exits = _EXIT.findall(text[-_LOOKED_AT:])
    if exits:
        return text if exits[-1] != "0" else None
    return text if _BEGINS.match(text) else None


def _told_by(value: Mapping[str, Any]) -> str | None:
    """What an object with an error says of it; wrappers of an API have it one level down."""
    for wrapped in (value, value.get("execution_result"), value.get("result")):
        if not isinstance(wrapped, dict):
            continue
        part = {key.lower(): said for key, said in wrapped.items()}
        status = part.get("status_code", part.get("status"))
        said = part.get("error") or part.get("errors")
        is_failed = (
            any(part.get(key) is False for key in ("success", "successful", "ok"))
            or part.get("object") == "error"
            or str(part.get("status", "")).lower() in ("error", "failed", "failure")
            or (isinstance(status, int) and 400 <= status < 600)
            or (bool(said) and len(part) <= 3)
        )
        if is_failed:
            return json.dumps(part, ensure_ascii=False)
    return None


def _kind(told: str) -> FailureKind:
    if _EXIT.search(told[-_LOOKED_AT:]) or "file://" in told[:_LOOKED_AT]:
        # A program of the agent's own, or a file where only addresses are read.
        return FailureKind.TOOL
    if "Traceback (most recent call last)" in told:
        told = next((line for line in reversed(told.splitlines()) if line.strip()), "")
    for kind, words in _KINDS:
        if words.search(told[:_LOOKED_AT]):
            return kind
    return FailureKind.TOOL


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[", '"')):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _literal(text: str) -> str:
    try:
        return str(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


class Attempt(Struct, frozen=True):
    """A call of a recorded run. `number` is its place among the calls, `step` that of its model call."""

    run: str
    task: str
    step: int
    number: int
    server: str
    tool: str
    arguments: JsonObject
    failure: Failure | None

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for equal calls."""
        return self.server, self.tool, json.dumps(self.arguments, sort_keys=True, default=str)

    @property
    def is_good(self) -> bool:
        return self.failure is None

    def is_of(self, kind: FailureKind) -> bool:
        return self.failure is not None and self.failure.kind is kind

    def __hash__(self) -> int:
        return hash((self.run, self.number))


class Repeat(Struct, frozen=True):
    """A failed call that repeats no other failed one, and the equal calls after it until one succeeds."""

    first: Attempt
    again: tuple[Attempt, ...]

    @property
    def is_next(self) -> bool:
        """Whether the run's next call was the same again."""
        return bool(self.again) and self.again[0].number == self.first.number + 1


class Refusals(Struct, frozen=True):
    """What the breakers of one run would have done: how often one opened, and which calls were refused."""

    opened: int
    refused: tuple[Attempt, ...]


def is_told(attempt: Attempt) -> bool:
    """Whether a call failed for a reason that may pass, by the words of its result."""
    return attempt.failure is not None and attempt.failure.kind.is_transient


def is_seen(attempt: Attempt) -> bool:
    """Whether it is the client that failed so: what retries and breakers go by."""
    return is_told(attempt) and attempt.failure is not None and attempt.failure.is_seen


def counts_today(attempt: Attempt) -> bool:
    """Whether a failure speaks against its tool or server as breakers are: the client saw it."""
    failure = attempt.failure
    return failure is not None and failure.is_seen and failure.kind in AGAINST_TOOL


def counts_by_words(attempt: Attempt) -> bool:
    """The same if what a tool says of its own failure counted, too."""
    return is_told(attempt) or counts_today(attempt)


def attempts_of(run: RecordedRun) -> Sequence[Attempt]:
    """The calls of a run in order. Where no server is recorded, it is what stands before the first hyphen."""
    found: list[Attempt] = []
    for number, step in enumerate(run.steps):
        for call in step.calls:
            server = call.server or call.tool.partition("-")[0]
            failure = failure_of_result(call.result)
            found.append(
                Attempt(run.id, run.task, number, len(found), server, call.tool, call.arguments, failure)
            )
    return found


def repeats_of(run: RecordedRun) -> Sequence[Repeat]:
    """The failed calls of a run with the equal calls that followed."""
    waiting: dict[tuple[str, str, str], list[Attempt]] = {}
    found: list[list[Attempt]] = []
    for attempt in attempts_of(run):
        chain = waiting.get(attempt.key)
        if chain is not None:
            chain.append(attempt)
            if attempt.is_good:
                del waiting[attempt.key]
        elif not attempt.is_good:
            waiting[attempt.key] = [attempt]
            found.append(waiting[attempt.key])
    return [Repeat(chain[0], tuple(chain[1:])) for chain in found]


def next_of_tool(run: RecordedRun, chosen: Callable[[Attempt], bool]) -> Sequence[tuple[Attempt, Attempt]]:
    """The chosen calls of a run, each with the next call of its tool, whatever its arguments are."""
    found: list[tuple[Attempt, Attempt]] = []
    waiting: dict[tuple[str, str], Attempt] = {}
    for attempt in attempts_of(run):
        before = waiting.pop((attempt.server, attempt.tool), None)
        if before is not None:
            found.append((before, attempt))
        if chosen(attempt):
            waiting[attempt.server, attempt.tool] = attempt
    return found


def refusals_of(run: RecordedRun, counts: Callable[[Attempt], bool], *, pace: float) -> Refusals:
    """What breakers of the run's servers and tools would have refused; `pace` is the seconds a model call.

    Of the failures, those that `counts` names speak against a tool or its server. A refused call ends as it
    did in the recording for nobody: no breaker learns of it.
    """
    breakers: dict[tuple[str, str], Breaker] = {}
    refused: list[Attempt] = []
    opened, waited = 0, 0.0
    for attempt in attempts_of(run):
        now = attempt.step * pace + waited
        kinds = {(attempt.server, ""): AGAINST_SERVER, (attempt.server, attempt.tool): AGAINST_TOOL}
        permits: dict[tuple[str, str], Permit] = {}
        for key in kinds:
            breakers[key], permit = admitted(breakers.get(key, Breaker()), now, TIMEOUT_SECONDS)
            if permit is not None:
                permits[key] = permit
        if len(permits) < len(kinds):
            refused.append(attempt)
            continue
        kind = attempt.failure.kind if attempt.failure is not None and counts(attempt) else None
        if kind is FailureKind.TIMEOUT:
            waited += TIMEOUT_SECONDS
            now += TIMEOUT_SECONDS
        for key, against in kinds.items():
            before = breakers[key]
            failure = kind if kind in against else None
            breakers[key] = ended(before, permits[key], now, failure)
            opened += breakers[key].state is not before.state and breakers[key].state is BreakerState.OPEN
    return Refusals(opened, tuple(refused))

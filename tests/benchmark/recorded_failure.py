"""Whether a recorded tool result is a failure and of which kind, by what the result says.

Recordings keep no status of a call: what the agent read is all there is. So a result is a failure if its
envelope is marked as one, or if it is what programs write of an error: never because an error is mentioned
somewhere in what was read.
"""

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.core.error import FailureKind

# What the kind is told by stands near the beginning, or in the last line of a stack trace.
_LOOKED_AT = 600
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Failure:
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

"""Events of calls: approvals, retries, breakers, substitutes, changed definitions, the guard's counts."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from msgspec import field

from inspector.core.definition import ToolDefinition, Verdict
from inspector.core.error import BreakerState, FailureKind, failure_words
from inspector.core.events.base import Actor, Event, Group
from inspector.core.message import TaskState, arguments_text
from inspector.core.number import count, duration, milliseconds, money, pause, percent, tokens
from inspector.schema.json_value import JsonObject

# The window in which the iteration guard found too many equal calls; sessions of earlier versions also have
# "again", after a loop that was broken.
LoopTrigger = Literal["time", "calls", "again"]
# What the iteration guard counts: calls that ran, searches, and calls that were rejected.
Counted = Literal["call", "search", "rejection"]
Restarts = Literal["", "equal", "others", "all"]


class Decision(StrEnum):
    """The user's answer to an approval request.

    SERVER is a yes to every call of a tool that the server claims to only read, for the session.
    """

    ONCE = "once"
    SESSION = "session"
    SERVER = "server"
    NO = "no"


class CallStarted(Event, frozen=True, kind="call", groups={Group.CALLS}):
    call_id: str
    tool: str
    arguments: JsonObject
    by: Actor = "model"

    def summary(self) -> str:
        return f"{self.tool}  {arguments_text(self.arguments)}"


class TaskChanged(Event, frozen=True, kind="task", groups={Group.CALLS}, tone="muted"):
    """The task that a server runs a call by began, or is in another state than before."""

    call_id: str
    tool: str
    state: TaskState

    @property
    def words(self) -> str:
        """Its state."""
        return self.state.told

    def summary(self) -> str:
        return f"{self.tool}  {self.words}"


class CallFinished(Event, frozen=True, kind="result", groups={Group.CALLS}):
    """`ok` is false for a tool error, a timeout or a dead server; `text` is what the model reads.

    `milliseconds` is how long the last of its `attempts` took, 0 if nobody measured it. A failed call has a
    kind of `failure`, None in records of older versions; `retry_after` is in how many seconds a server that
    wants fewer requests wants to be asked again. `tokens` are those that an imported call's arguments and
    result added to the conversation. `whole` is how many characters the text had if that is its beginning.
    """

    call_id: str
    tool: str
    ok: bool
    text: str
    milliseconds: float = 0.0
    structured: JsonObject | None = None
    failure: FailureKind | None = None
    retry_after: float | None = None
    attempts: int = 1
    tokens: int | None = None
    whole: int = 0

    @property
    def outcome(self) -> str:
        """How the call ended, in words: `ok`, `timed out; it may have run`."""
        return "ok" if self.ok else failure_words(self.failure, self.retry_after)

    def summary(self) -> str:
        took = f"  {milliseconds(self.milliseconds)}" if self.milliseconds else ""
        again = f"  after {self.attempts} attempts" if self.attempts > 1 else ""
        cut = f"  cut: {count(self.whole, 'character')}" if self.whole else ""
        return f"{self.tool}  {self.outcome}{again}{took}{cut}"


class CallProgress(Event, frozen=True, kind="progress", groups={Group.CALLS}, tone="muted", routine=True):
    """A server reports how far a call is: `progress` of `total`, if it says that."""

    tool: str
    progress: float
    total: float | None = None
    message: str = ""

    @property
    def words(self) -> str:
        """How far it is."""
        of = "" if self.total is None else f" of {self.total:,.10g}"
        return f"{self.progress:,.10g}{of}{f'  {self.message}' if self.message else ''}"

    def summary(self) -> str:
        return f"{self.tool}  {self.words}"


REFUSED = "refused"
"""The reason of a call that a person did not allow."""


class CallRejected(
    Event, frozen=True, kind="reject", groups={Group.CALLS, Group.GUARDS, Group.ERRORS}, tone="error"
):
    """A call that never reached a server: not loaded, unknown, invalid arguments, or refused."""

    call_id: str
    name: str
    reason: str
    text: str
    arguments: JsonObject = field(default_factory=dict)
    closest: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether a person said no: the model made no mistake."""
        return self.reason == REFUSED

    def summary(self) -> str:
        return f"{self.name}  {self.reason}"


class ApprovalDecided(Event, frozen=True, kind="approval", groups={Group.CALLS}):
    """The user's answer about a call. It belongs to the tool's definition with the hash `definition`.

    `before` is the hash of the definition that was approved before, if it differs; `changed` names the parts
    that differ.
    """

    tool: str
    decision: Decision
    definition: str = ""
    before: str = ""
    changed: tuple[str, ...] = ()

    def summary(self) -> str:
        changed = f"  changed: {', '.join(self.changed)}" if self.changed else ""
        return f"{self.tool}  {self.decision}{changed}"


class CallCounted(Event, frozen=True, kind="count", groups={Group.GUARDS}, routine=True):
    """The iteration guard's counts after a call: equal calls within each window.

    `restarts` says which earlier calls no longer count, because the call was progress.
    """

    tool: str
    arguments_hash: str
    normalised: str
    in_time: int
    in_calls: int
    exempt: bool = False
    restarts: Restarts = ""

    def summary(self) -> str:
        exempt = ", exempt" if self.exempt else ""
        counts = f"{self.in_time}x in the time window, {self.in_calls}x in the last calls"
        return f"{self.tool}  {self.arguments_hash[:8]}  {counts}{exempt}"


class LoopDetected(Event, frozen=True, kind="loop", groups={Group.GUARDS}, tone="warning"):
    """The iteration guard found `count` equal calls, of the kind `counted`, in the window `trigger`.

    With the trigger "again" the count goes on where an earlier loop of the same call ended. `alternatives`
    are the tools that the guidance names.
    """

    tool: str
    count: int
    window_seconds: float
    arguments_hash: str
    guidance: str
    trigger: LoopTrigger = "time"
    counted: Counted = "call"
    alternatives: tuple[str, ...] = ()

    def summary(self) -> str:
        equal = {"call": "equal calls", "search": "equal searches", "rejection": "equal rejected calls"}
        said = f"{self.tool}  {self.count} {equal.get(self.counted, 'equal calls')}"
        if self.trigger == "again":
            return f"{said}, again after a loop"
        return f"{said} in {'the last calls' if self.trigger == 'calls' else f'{self.window_seconds:.0f} s'}"


BreakerSubject = Literal["server", "tool"]


class BreakerChanged(
    Event, frozen=True, kind="breaker", groups={Group.CALLS, Group.GUARDS, Group.SERVERS}, tone="warning"
):
    """The circuit breaker of a server, or of one tool of it, is found in another state than before.

    Another session may have brought it there. `tool` is the tool's id, "" for the server's own breaker.
    `failure_rate` is the share of the counted `calls` that failed, and `cool_down` in how many seconds a call
    may try it, 0 if one may now.
    """

    subject: BreakerSubject
    server: str
    tool: str
    before: BreakerState
    after: BreakerState
    why: str = ""
    failure_rate: float = 0.0
    calls: int = 0
    cool_down: float = 0.0

    @property
    def name(self) -> str:
        """The id of the tool, or the name of the server."""
        return self.tool or self.server

    def summary(self) -> str:
        rate = f"{percent(self.failure_rate)} of {count(self.calls, 'call')} failed" if self.calls else ""
        again = f"tried again in {duration(self.cool_down)}" if self.cool_down else ""
        told = "; ".join(filter(None, (self.why or rate, again)))
        return f"{self.name}  {self.before} → {self.after}{f'  {told}' if told else ''}"


class CallRetried(Event, frozen=True, kind="retry", groups={Group.CALLS, Group.GUARDS}, tone="warning"):
    """An attempt at a call failed, and the next one is made after `wait` seconds.

    `attempt` numbers the failed one from 1, of at most `of`; it took `milliseconds`. `left` is how many
    retries the turn still has after this one.
    """

    call_id: str
    tool: str
    attempt: int
    of: int
    wait: float
    failure: FailureKind
    retry_after: float | None = None
    milliseconds: float = 0.0
    left: int = 0

    def summary(self) -> str:
        failed = f"attempt {self.attempt} of {self.of}: {failure_words(self.failure, self.retry_after)}"
        left = count(self.left, "retry", "retries")
        return f"{self.tool}  {failed}; again in {pause(self.wait)}, {left} left"


class ModelRetried(
    Event, frozen=True, kind="model_retry", groups={Group.MODEL, Group.GUARDS}, tone="warning"
):
    """A model call failed, and the same request is sent again after `wait` seconds.

    As of a tool call, see CallRetried. `dollars` is what the repeated call is estimated to cost, if known.
    """

    call: int
    attempt: int
    of: int
    wait: float
    failure: FailureKind
    retry_after: float | None = None
    left: int = 0
    dollars: float | None = None

    def summary(self) -> str:
        failed = f"attempt {self.attempt} of {self.of}: {failure_words(self.failure, self.retry_after)}"
        price = f", about {money(self.dollars)}" if self.dollars is not None else ""
        left = count(self.left, "retry", "retries")
        return f"model  {failed}; again in {pause(self.wait)}{price}, {left} left"


class ToolSubstituted(
    Event, frozen=True, kind="substitute", groups={Group.CALLS, Group.GUARDS}, tone="warning"
):
    """Another tool is called in place of one that is not available; its own call follows.

    `mapping` says which parameter of it takes each argument, and `similarity` (0 to 1) how alike they are.
    """

    call_id: str
    instead_of: str
    tool: str
    mapping: Mapping[str, str] = field(default_factory=dict)
    similarity: float = 0.0
    why: str = ""

    def summary(self) -> str:
        renamed = [f"{name} as {other}" for name, other in self.mapping.items() if name != other]
        given = f", {', '.join(renamed)}" if renamed else ""
        return (
            f"{self.tool} instead of {self.instead_of}  similarity {self.similarity:.2f}{given}  {self.why}"
        )


class ScriptRun(Event, frozen=True, kind="script", groups={Group.CALLS}):
    """A script of the model was run, with so many `calls`, whose own events come before it.

    `returned` are the tokens of what the model reads, `withheld` those of the results that it does not read;
    `code` is the script, and `failed` why it stopped before its end.
    """

    call_id: str
    code: str
    calls: int
    returned: int
    withheld: int
    failed: str = ""

    def summary(self) -> str:
        ended = f"stopped: {self.failed}" if self.failed else f"{tokens(self.returned)} tokens returned"
        withheld = f"{tokens(self.withheld)} tokens of results never reached the model"
        return f"{count(self.calls, 'call')}, {ended}; {withheld}"


_SHOWN = 2


class DefinitionChanged(Event, frozen=True, kind="definition", groups={Group.SERVERS}):
    """A server lists another definition of a tool than it did before, and what that means for a caller.

    `before` and `after` are the hashes of both definitions; the first `breaking` of the `reasons` are
    breaking. `since` is when the earlier one was listed if that was in an earlier session, in seconds since
    1970, UTC; that one is `earlier`, and its hash is of what is remembered, which has no secrets. `others`
    changed besides, of which no event tells.
    """

    tool: str
    before: str
    after: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    breaking: int = 0
    since: float = 0.0
    earlier: ToolDefinition | None = None
    others: int = 0

    @property
    def is_routine(self) -> bool:
        """Other words alone are."""
        return self.verdict == "words"

    @property
    def breaking_reasons(self) -> tuple[str, ...]:
        """The reasons that are breaking."""
        return self.reasons[: self.breaking]

    def summary(self) -> str:
        since = " since an earlier session" if self.since else ""
        words = "words only" if self.verdict == "words" else self.verdict
        told = "; ".join(self.reasons[:_SHOWN])
        more = f"; {len(self.reasons) - _SHOWN} more" if len(self.reasons) > _SHOWN else ""
        others = f"  ({count(self.others, 'more tool')} changed)" if self.others else ""
        return f"{self.tool}  {words}{since}: {told}{more}{others}"


class VersionTold(Event, frozen=True, kind="told", groups={Group.SERVERS, Group.MODEL}, tone="muted"):
    """The model got `text`: these tools are no longer what it knows them as."""

    tools: tuple[str, ...]
    text: str

    def summary(self) -> str:
        return f"the model about the new definition of {', '.join(self.tools)}"

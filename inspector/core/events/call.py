"""Events of tool calls and of the guard that counts them."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal

from inspector.core.events.base import Actor, Event, Group, Tone
from inspector.core.failure import FailureKind, failure_words
from inspector.core.message import arguments_text
from inspector.core.number import milliseconds
from inspector.schema.json_value import JsonObject

__all__ = [
    "ApprovalDecided",
    "CallCounted",
    "CallFinished",
    "CallRejected",
    "CallStarted",
    "Counted",
    "Decision",
    "LoopDetected",
    "LoopTrigger",
]

# The window in which the iteration guard found too many equal calls, or "again": after a loop that was
# broken.
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


@dataclass(frozen=True, slots=True)
class CallStarted(Event):
    kind: ClassVar[str] = "call"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.CALLS})
    call_id: str
    tool: str
    arguments: JsonObject
    by: Actor = "model"

    def summary(self) -> str:
        return f"{self.tool}  {arguments_text(self.arguments)}"


@dataclass(frozen=True, slots=True)
class CallFinished(Event):
    """`ok` is false for a tool error, a timeout or a dead server; `text` is what the model reads.

    `milliseconds` is how long the last of its `attempts` took, 0 if nobody measured it. A failed call has a
    kind of `failure`, None in records of older versions; `retry_after` is in how many seconds a server that
    wants fewer requests wants to be asked again.
    """

    kind: ClassVar[str] = "result"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.CALLS})
    call_id: str
    tool: str
    ok: bool
    text: str
    milliseconds: float = 0.0
    structured: JsonObject | None = None
    failure: FailureKind | None = None
    retry_after: float | None = None
    attempts: int = 1

    @property
    def outcome(self) -> str:
        """How the call ended, in words: `ok`, `timed out; it may have run`."""
        return "ok" if self.ok else failure_words(self.failure, self.retry_after)

    def summary(self) -> str:
        took = f"  {milliseconds(self.milliseconds)}" if self.milliseconds else ""
        again = f"  after {self.attempts} attempts" if self.attempts > 1 else ""
        return f"{self.tool}  {self.outcome}{again}{took}"


@dataclass(frozen=True, slots=True)
class CallRejected(Event):
    """A call that never reached a server: not loaded, unknown, invalid arguments, or refused."""

    kind: ClassVar[str] = "reject"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.CALLS, Group.GUARDS, Group.ERRORS})
    tone: ClassVar[Tone] = "error"
    call_id: str
    name: str
    reason: str
    text: str
    arguments: JsonObject = field(default_factory=dict)
    closest: tuple[str, ...] = ()

    def summary(self) -> str:
        return f"{self.name}  {self.reason}"


@dataclass(frozen=True, slots=True)
class ApprovalDecided(Event):
    """The user's answer about a call. It belongs to the tool's definition with the hash `definition`.

    `before` is the hash of the definition that was approved before, if it differs; `changed` names the parts
    that differ.
    """

    kind: ClassVar[str] = "approval"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.CALLS})
    tool: str
    decision: Decision
    definition: str = ""
    before: str = ""
    changed: tuple[str, ...] = ()

    def summary(self) -> str:
        changed = f"  changed: {', '.join(self.changed)}" if self.changed else ""
        return f"{self.tool}  {self.decision}{changed}"


@dataclass(frozen=True, slots=True)
class CallCounted(Event):
    """The iteration guard's counts after a call: equal calls within each window.

    `restarts` says which earlier calls no longer count, because the call was progress.
    """

    kind: ClassVar[str] = "count"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.GUARDS})
    tool: str
    arguments_hash: str
    normalised: str
    in_time: int
    in_calls: int
    exempt: bool = False
    restarts: Restarts = ""

    @property
    def is_routine(self) -> bool:
        return True

    def summary(self) -> str:
        exempt = ", exempt" if self.exempt else ""
        counts = f"{self.in_time}x in the time window, {self.in_calls}x in the last calls"
        return f"{self.tool}  {self.arguments_hash[:8]}  {counts}{exempt}"


@dataclass(frozen=True, slots=True)
class LoopDetected(Event):
    """The iteration guard found `count` equal calls, of the kind `counted`, in the window `trigger`.

    With the trigger "again" the count goes on where an earlier loop of the same call ended. `alternatives`
    are the tools that the guidance names.
    """

    kind: ClassVar[str] = "loop"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.GUARDS})
    tone: ClassVar[Tone] = "warning"
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

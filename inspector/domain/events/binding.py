"""The events of what is bound and why: loading, evicting, gating, guarding."""

from dataclasses import dataclass
from typing import ClassVar

from inspector.domain.events.base import Event


@dataclass(frozen=True, slots=True)
class MilestoneReached(Event):
    """A point of the workflow that preconditions may ask for; `by` is `user` or `scenario`."""

    kind: ClassVar[str] = "milestone"
    name: str
    by: str = "user"


@dataclass(frozen=True, slots=True)
class GateScore:
    """One tool at the gate: its score, and the preconditions that do not hold."""

    tool: str
    score: float
    unmet: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateApplied(Event):
    """The gate chose the tools of a model call (Tool Attention, section 5.7).

    `active` are those bound, best first. `candidates` are the scores over `threshold` in order, those that
    a precondition keeps out among them; `below` counts the tools under it. `tokens` are of the definitions.
    """

    kind: ClassVar[str] = "gate"
    query: str
    active: tuple[str, ...]
    candidates: tuple[GateScore, ...]
    threshold: float
    below: int
    tokens: int
    milliseconds: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class ToolLoaded(Event):
    """`place` is the tool's rank among those the same search bound, from 1; 0 for one bound by hand."""

    kind: ClassVar[str] = "load"
    tool: str
    tokens: int
    reason: str
    place: int = 0


@dataclass(frozen=True, slots=True)
class ToolRefreshed(Event):
    """A tool that was bound already was found again: it counts as just used."""

    kind: ClassVar[str] = "refresh"
    tool: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToolEvicted(Event):
    """`cause` is `ttl`, `lru`, `loop`, `gone` (from its server), `changed`, `hand` or `window` (no room).

    `reason` is for people.
    """

    kind: ClassVar[str] = "evict"
    tool: str
    reason: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class CallCounted(Event):
    """What the iteration guard knows after a call: how often an equal one ran in either window."""

    kind: ClassVar[str] = "count"
    tool: str
    arguments_hash: str
    normalised: str
    in_time: int
    in_calls: int
    exempt: bool = False


@dataclass(frozen=True, slots=True)
class LoopDetected(Event):
    """The iteration guard fired: `count` equal calls in the window `trigger`, `time` or `calls`."""

    kind: ClassVar[str] = "loop"
    tool: str
    count: int
    window_seconds: float
    arguments_hash: str
    guidance: str
    trigger: str = "time"


@dataclass(frozen=True, slots=True)
class RedundantSearch(Event):
    """A search that found (`overlap`, 0 to 1) what an earlier one had found."""

    kind: ClassVar[str] = "redundant"
    query: str
    earlier: str
    overlap: float
    note: str

"""Events of what keeps a session going while tools fail: circuit breakers, retries, fallbacks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from inspector.core.breaker import BreakerState
from inspector.core.events.base import Event, Group, Tone
from inspector.core.failure import FailureKind, failure_words
from inspector.core.number import count, duration, pause, percent

__all__ = ["BreakerChanged", "BreakerSubject", "CallRetried", "ToolSubstituted"]

BreakerSubject = Literal["server", "tool"]


@dataclass(frozen=True, slots=True)
class BreakerChanged(Event):
    """The circuit breaker of a server, or of one tool of it, is found in another state than before.

    Another session may have brought it there. `tool` is the tool's id, "" for the server's own breaker.
    `failure_rate` is the share of the counted `calls` that failed, and `cool_down` in how many seconds a call
    may try it, 0 if one may now.
    """

    kind: ClassVar[str] = "breaker"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.CALLS, Group.GUARDS, Group.SERVERS})
    tone: ClassVar[Tone] = "warning"
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


@dataclass(frozen=True, slots=True)
class CallRetried(Event):
    """An attempt at a call failed, and the next one is made after `wait` seconds.

    `attempt` numbers the failed one from 1, of at most `of`; it took `milliseconds`. `left` is how many
    retries the turn still has after this one.
    """

    kind: ClassVar[str] = "retry"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.CALLS, Group.GUARDS})
    tone: ClassVar[Tone] = "warning"
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


@dataclass(frozen=True, slots=True)
class ToolSubstituted(Event):
    """Another tool is called in place of one that is not available; its own call follows.

    `mapping` says which parameter of it takes each argument, and `similarity` (0 to 1) how alike they are.
    """

    kind: ClassVar[str] = "substitute"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.CALLS, Group.GUARDS})
    tone: ClassVar[Tone] = "warning"
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

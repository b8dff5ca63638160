"""Failures of calls by kind, and what a session knows of circuit breakers."""

from dataclasses import dataclass
from enum import StrEnum

from inspector.core.number import duration


class FailureKind(StrEnum):
    """Why a call failed. TOOL is the tool's own answer that it failed (`isError`)."""

    TRANSPORT = "transport"
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    TOOL = "tool"
    SCHEMA = "schema"
    PROTOCOL = "protocol"
    CANCELLED = "cancelled"

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self in (FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.RATE_LIMIT)

    @property
    def words(self) -> str:
        """What happened, in plain words."""
        return _WORDS[self]


_WORDS = {
    FailureKind.TRANSPORT: "connection failed",
    FailureKind.TIMEOUT: "timed out; it may have run",
    FailureKind.RATE_LIMIT: "rate limited",
    FailureKind.TOOL: "the tool failed",
    FailureKind.SCHEMA: "arguments rejected",
    FailureKind.PROTOCOL: "invalid answer",
    FailureKind.CANCELLED: "cancelled; it may have run",
}


def failure_words(kind: FailureKind | None, retry_after: float | None = None) -> str:
    """A failed call in plain words; records of older versions have no kind."""
    if kind is None:
        return "failed"
    return kind.words if retry_after is None else f"{kind.words} for {duration(retry_after)}"


class BreakerState(StrEnum):
    """CLOSED lets every call through, OPEN none, HALF_OPEN a few that try whether it works again."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True, slots=True)
class BreakerStatus:
    """The circuit breaker of a server or tool as the session saw it last, `since` then; see `Breaker`.

    `until` is when a call may try it, `opened` how often it opened in the session. Times are in seconds since
    1970.
    """

    server: str
    tool: str
    state: BreakerState
    since: float
    until: float = 0.0
    why: str = ""
    failure_rate: float = 0.0
    calls: int = 0
    opened: int = 0

    @property
    def name(self) -> str:
        """The id of the tool, or the name of the server."""
        return self.tool or self.server

"""What kinds of failure a tool call can have: they decide what is retried, counted and reported."""

from enum import StrEnum

from inspector.core.error import (
    ArgumentsRejected,
    CallTimeout,
    ProtocolError,
    RateLimited,
    StoreError,
    ToolsightError,
)
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


def failure_of(error: ToolsightError) -> FailureKind:
    """The kind of failure that an error of a call is."""
    match error:
        case RateLimited():
            return FailureKind.RATE_LIMIT
        case CallTimeout():
            return FailureKind.TIMEOUT
        case ArgumentsRejected():
            return FailureKind.SCHEMA
        case ProtocolError():
            return FailureKind.PROTOCOL
        case StoreError():
            # Our own trouble: it says nothing of the tool, and the call may have run.
            return FailureKind.CANCELLED
        case _:
            return FailureKind.TRANSPORT


def retry_after_of(error: ToolsightError) -> float | None:
    """The seconds after which the server wants to be asked again, None if it does not say."""
    return error.retry_after if isinstance(error, RateLimited) else None


def failure_words(kind: FailureKind | None, retry_after: float | None = None) -> str:
    """A failed call in plain words; records of older versions have no kind."""
    if kind is None:
        return "failed"
    return kind.words if retry_after is None else f"{kind.words} for {duration(retry_after)}"

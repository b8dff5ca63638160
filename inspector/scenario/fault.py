"""A fault that a scenario lets a server have: its next calls fail, and reach nobody."""

from dataclasses import dataclass

from inspector.core.error import CallTimeout, ProtocolError, RateLimited, ServerExited, ToolsightError
from inspector.core.failure import FailureKind


@dataclass(frozen=True, slots=True)
class Fault:
    """The next `times` calls of a server, or of its tool, fail like this."""

    server: str
    kind: FailureKind
    times: int = 1
    tool: str = ""
    retry_after: float | None = None

    def error(self, tool: str) -> ToolsightError:
        """What a call of the tool fails with."""
        hint = "The scenario lets it fail."
        match self.kind:
            case FailureKind.TIMEOUT:
                return CallTimeout(f"{tool} did not return in time", hint=hint)
            case FailureKind.RATE_LIMIT:
                message = f"{self.server} wants fewer requests"
                return RateLimited(message, hint=hint, retry_after=self.retry_after)
            case FailureKind.PROTOCOL:
                return ProtocolError(f"{tool}: invalid answer", hint=hint)
            case _:
                return ServerExited(f"{self.server} closed the connection", hint=hint)

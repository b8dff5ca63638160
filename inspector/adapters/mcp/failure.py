"""What the SDK's errors of a request mean."""

from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS
from pydantic import ValidationError

from inspector.adapters.mcp.cut_frame import ASK_FOR_LESS, TOO_LARGE
from inspector.adapters.mcp.host import cause_text
from inspector.domain.error import ArgumentsRejected, ProtocolError

SERVER_BUG = "This is a bug in the server."
# The SDK's message for a session that an HTTP server has forgotten, for example after a restart.
_SESSION_GONE = "Session terminated"


def is_gone(error: Exception) -> bool:
    """Whether an error means that the connection cannot be used again."""
    return isinstance(error, MCPError) and (error.code == CONNECTION_CLOSED or error.message == _SESSION_GONE)


def protocol_error(error: Exception, what: str) -> ProtocolError:
    """The error of a request that was answered, but with no result; `what` names the tool or method."""
    if isinstance(error, ValidationError):
        return ProtocolError(f"Invalid answer to {what}: {cause_text(error)}", hint=SERVER_BUG)
    if not isinstance(error, MCPError):
        return ProtocolError(f"{what}: {cause_text(error)}")
    kind = ArgumentsRejected if error.code == INVALID_PARAMS else ProtocolError
    hint = ASK_FOR_LESS if TOO_LARGE in error.message else "The server rejected the request."
    return kind(f"{what}: {cause_text(error)}", hint=hint)

"""What the SDK's errors of a request mean."""

from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS
from pydantic import ValidationError

from inspector.adapters.mcp.cut_frame import ASK_FOR_LESS, TOO_LARGE
from inspector.adapters.mcp.frame import UNREADABLE
from inspector.adapters.mcp.host import cause_text
from inspector.adapters.mcp.reader import SESSION_GONE, is_reply
from inspector.domain.error import ArgumentsRejected, ProtocolError

SERVER_BUG = "This is a bug in the server."


def is_gone(error: Exception) -> bool:
    """Whether the SDK says that the connection has ended; a server may use the same code for anything."""
    if not isinstance(error, MCPError) or is_reply(error):
        return False
    return error.code == CONNECTION_CLOSED or error.message == SESSION_GONE


def protocol_error(error: Exception, what: str) -> ProtocolError:
    """The error of a request that was answered, but with no result; `what` names the tool or method."""
    if isinstance(error, ValidationError):
        return ProtocolError(f"Invalid answer to {what}: {cause_text(error)}", hint=SERVER_BUG)
    if not isinstance(error, MCPError):
        return ProtocolError(f"{what}: {cause_text(error)}")
    kind = ArgumentsRejected if error.code == INVALID_PARAMS else ProtocolError
    hint = "The server rejected the request."
    if error.message == UNREADABLE:
        hint = SERVER_BUG
    elif TOO_LARGE in error.message:
        hint = ASK_FOR_LESS
    return kind(f"{what}: {cause_text(error)}", hint=hint)

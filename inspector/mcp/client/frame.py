"""One message as it came, and what stands for an answer that is none."""

from dataclasses import dataclass

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

Message = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError

UNREADABLE = "The server's answer is not a valid JSON-RPC response"
"""The error that stands for an answer which is no frame."""


@dataclass
class RawMessage(SessionMessage):
    """A message with the bytes that it was read from: all `size` of them, or the first of too many."""

    raw: bytes = b""
    size: int = 0


def stray_hint(line: str) -> str:
    """What to do about a server that printed this line on stdout; "" for none."""
    return (
        f"It printed “{line}” to stdout, which is only for protocol messages: print to stderr instead."
        if line
        else ""
    )

"""Parses lines of a server's stdout as JSON-RPC frames; other output is logged and ignored."""

import json
from dataclasses import dataclass
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from inspector.adapters.mcp.log import LOG

Frame = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError

UNREADABLE = "The server's answer is not a valid JSON-RPC response"
"""The error that stands for an answer which is no frame."""

_SHOWN = 200


@dataclass
class RawMessage(SessionMessage):
    """A message with the bytes that it was read from: all `size` of them, or the first of too many."""

    raw: bytes = b""
    size: int = 0


def read_frame(line: bytes) -> Frame | None:
    """The frame on a line; None for a blank line or other output.

    An answer that is not a valid frame, such as one whose result is a list, becomes an error frame: without
    it the caller would wait until its timeout.
    """
    text = line.strip()
    if not text.startswith(b"{"):
        if text:
            LOG.info("not JSON-RPC on stdout: %r", text[:_SHOWN])
        return None
    readable = text.decode("utf-8", "replace")
    try:
        return jsonrpc_message_adapter.validate_json(readable, by_name=False)
    except ValueError:
        return _salvaged(readable)


def stray_hint(line: str) -> str:
    """What to do about a server that printed this line on stdout; "" for none."""
    return (
        f"It printed “{line}” on stdout, which is for protocol messages: print to stderr instead."
        if line
        else ""
    )


def _salvaged(text: str) -> Frame | None:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = {}
    answers = "result" in value or "error" in value
    request_id = value.get("id")
    LOG.info("not a JSON-RPC frame on stdout: %r", text[:_SHOWN])
    if not answers or isinstance(request_id, bool) or not isinstance(request_id, int | str):
        return None
    error = ErrorData(code=INTERNAL_ERROR, message=UNREADABLE)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)

"""The gateway's standard streams as a client's wire, read and written in its event loop.

The SDK does each line in a thread of its own, which takes longer than all else that stands in between.
"""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import IO

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from inspector.mcp.client.host import Streams
from inspector.mcp.client.process import LineWriter

_IN, _OUT, _ERR = 0, 1, 2


@asynccontextmanager
async def own_streams() -> AsyncGenerator[Streams, None]:
    """What the client sends and gets. Meanwhile stdin is empty, and what is printed goes to stderr."""
    if not all(map(_is_piped, (_IN, _OUT))):
        async with stdio_server() as streams:
            yield streams
        return
    loop = asyncio.get_running_loop()
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
    reading, _ = await loop.connect_read_pipe(lambda: _Incoming(to_session), _taken(_IN, "rb"))
    writing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, _taken(_OUT, "wb"))
    try:
        yield incoming, LineWriter(writing)
    finally:
        reading.close()
        writing.close()


def _is_piped(number: int) -> bool:
    """Whether a descriptor is what clients give: any other cannot be waited for, or is shared with others."""
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _taken(number: int, mode: str) -> IO[bytes]:
    """A standard stream for us alone: from now on a file of nobody's, or stderr, is in its place."""
    wire = os.fdopen(os.dup(number), mode, buffering=0)
    other = os.open(os.devnull, os.O_RDONLY) if number == _IN else os.dup(_ERR)
    os.dup2(other, number)
    os.close(other)
    return wire


class _Incoming(asyncio.Protocol):
    """Gives the session each message, and passes over what is none."""

    def __init__(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        self._to_session = to_session
        self._begun = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._begun = (self._begun + data).split(b"\n")
        for line in lines:
            with suppress(ValidationError, anyio.BrokenResourceError):
                text = line.decode("utf-8", "replace")
                message = jsonrpc_message_adapter.validate_json(text, by_name=False)
                self._to_session.send_nowait(SessionMessage(message))

    def connection_lost(self, _error: Exception | None) -> None:
        self._to_session.close()

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
from inspector.mcp.pace import CutLine, Lines

_IN, _OUT, _ERR = 0, 1, 2
# Seconds in which the client may still read what was written at the end.
_LAST_WORDS = 2.0


@asynccontextmanager
async def own_streams() -> AsyncGenerator[Streams, None]:
    """What the client sends and gets. Meanwhile stdin is empty, and what is printed goes to stderr."""
    if not all(map(_is_piped, (_IN, _OUT))):
        async with stdio_server() as streams:
            yield streams
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
    reading, _ = await loop.connect_read_pipe(lambda: _Incoming(to_session), _taken(_IN, "rb"))
    writing, _ = await loop.connect_write_pipe(lambda: _Ending(ended), _taken(_OUT, "wb"))
    try:
        yield incoming, LineWriter(writing)
    finally:
        reading.close()
        writing.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _LAST_WORDS)


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
        self._lines = Lines()

    def data_received(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            text = (line.head if isinstance(line, CutLine) else line).decode("utf-8", "replace")
            with suppress(ValidationError, anyio.BrokenResourceError):
                message = jsonrpc_message_adapter.validate_json(text, by_name=False)
                self._to_session.send_nowait(SessionMessage(message))

    def connection_lost(self, _error: Exception | None) -> None:
        self._to_session.close()


class _Ending(asyncio.BaseProtocol):
    """Says when everything is written, or nobody reads it."""

    def __init__(self, ended: asyncio.Event) -> None:
        self._ended = ended

    def connection_lost(self, _error: Exception | None) -> None:
        self._ended.set()

"""What an HTTP request or answer carries: its headers by name, and the messages in its body."""

import zlib
from typing import Final

import h11

from inspector.mcp.pace import CutLine, Lines

LONGEST_MESSAGE: Final = 4_000_000
"""Bytes of a message that is recorded."""


def headers_of(message: h11.Request | h11.Response) -> dict[str, str]:
    """The headers by their names in lower case."""
    return {name.decode(): value.decode("latin-1") for name, value in message.headers}


class Messages:
    """The messages in a body: it is one, or the data of each event is one."""

    def __init__(self, headers: dict[str, str]) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        self._is_stream, self._is_read = kind == "text/event-stream", kind.endswith(("json", "/event-stream"))
        packed = headers.get("content-encoding", "identity") != "identity"
        self._packed = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        self._lines, self._data = Lines(LONGEST_MESSAGE), list[bytes]()

    def feed(self, data: bytes) -> list[bytes | CutLine]:
        """The messages that a piece completes."""
        if self._packed is not None:
            data = self._packed.decompress(data, LONGEST_MESSAGE)
            if self._packed.unconsumed_tail:
                raise zlib.error("too large")
        if not self._is_stream:
            # Outside strings an end of a line is blank, and within them there is none.
            return list(self._lines.feed(data.replace(b"\n", b" "))) if self._is_read else []
        whole: list[bytes | CutLine] = []
        for line in self._lines.feed(data):
            if isinstance(line, CutLine):
                whole.append(line)
            elif line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif not line.strip():
                whole.append(b" ".join(self._data))
                self._data.clear()
        return whole

    def end(self) -> list[bytes | CutLine]:
        """The message that the end completes; an event that is not whole is none."""
        return [b""] if self._is_stream else list(self._lines.feed(b"\n"))

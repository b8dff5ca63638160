"""The bodies of HTTP answers, read before the SDK reads them: it gets a stand-in for each message."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import httpx2

from inspector.adapters.mcp.cut_frame import TOO_LARGE
from inspector.adapters.mcp.frame import RawMessage
from inspector.adapters.mcp.line import HEAD, LONGEST_LINE, TAIL, CutLine, Lines
from inspector.adapters.mcp.reader import BYTE_ORDER_MARK, Reader
from inspector.adapters.mcp.translate import size_text

_FIELDS = (b"data", b"event", b"id", b"retry")


def read_stream(inner: httpx2.AsyncByteStream, content_type: str, reader: Reader) -> httpx2.AsyncByteStream:
    """The body as the SDK gets it, by its content type."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        return _Events(inner, reader)
    return _Body(inner, reader if kind == "application/json" else None)


class _Body(httpx2.AsyncByteStream):
    """An answer in one piece; it ends with an error once it is larger than Toolsight reads."""

    def __init__(self, inner: httpx2.AsyncByteStream, reader: Reader | None) -> None:
        self._inner = inner
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, chunks = 0, list[bytes]()
        async for chunk in self._inner:
            size += len(chunk)
            if size > LONGEST_LINE:
                raise httpx2.StreamError(f"{TOO_LARGE}: Toolsight reads at most {size_text(LONGEST_LINE)}")
            chunks.append(chunk)
        whole = b"".join(chunks)
        messages = self._reader.body(whole) if self._reader is not None else []
        yield self._reader.stand_ins.hold(messages[-1]) if self._reader is not None and messages else whole

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Events(httpx2.AsyncByteStream):
    """A stream of server-sent events: those without a message are left out, and a flood is slowed down."""

    def __init__(self, inner: httpx2.AsyncByteStream, reader: Reader) -> None:
        self._inner = inner
        self._reader = reader
        self._data: list[bytes] = []
        self._size = 0
        self._has_fields = False
        self._is_first = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        lines = Lines()
        async for chunk in self._inner:
            began = time.perf_counter()
            passed = b"".join(part for line in lines.feed(chunk) for part in self._line(line))
            if pause := self._reader.pause(time.perf_counter() - began, is_flood=lines.is_cut):
                await asyncio.sleep(pause)
            if passed:
                yield passed
        last = b"".join((*self._line(lines.rest), *self._event()))
        if last:
            yield last

    def _line(self, line: bytes | CutLine) -> Iterator[bytes]:
        if isinstance(line, CutLine):
            self._data = []
            yield from self._passed(self._reader.cut(line))
            return
        line = line.removesuffix(b"\r")
        if self._is_first:
            line, self._is_first = line.removeprefix(BYTE_ORDER_MARK), False
        if not line:
            yield from self._event()
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._add(value.removeprefix(b" "))
        elif name in _FIELDS or not name:
            self._has_fields = True
            yield line + b"\n"
        elif self._data:
            # JSON over several lines, of which only the first says that it is data.
            self._add(line)

    def _add(self, value: bytes) -> None:
        self._size += len(value)
        self._data.append(value)
        if self._size > LONGEST_LINE:
            self._data = [b"".join(self._data)[:HEAD]]

    def _event(self) -> Iterator[bytes]:
        data, size = b"\n".join(self._data), self._size
        self._data, self._size = [], 0
        if size > LONGEST_LINE:
            yield from self._passed(self._reader.cut(CutLine(data, data[-TAIL:], size)))
        elif data:
            yield from self._passed(self._reader.body(data))
        else:
            yield from self._passed([])

    def _passed(self, messages: list[RawMessage]) -> Iterator[bytes]:
        for message in messages:
            yield b"data: " + self._reader.stand_ins.hold(message) + b"\n\n"
        if not messages and self._has_fields:
            yield b"\n"
        self._has_fields = False
        self._is_first = True

    async def aclose(self) -> None:
        await self._inner.aclose()

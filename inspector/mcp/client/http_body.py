"""The bodies of HTTP answers, read before the SDK reads them: it gets a stand-in for each message."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator

import httpx2

from inspector.core.text import one_line, shortened
from inspector.mcp.client.message import TOO_LARGE, RawMessage
from inspector.mcp.client.reader import BYTE_ORDER_MARK, Reader
from inspector.mcp.pace import HEAD, LONGEST_LINE, TAIL, CutLine, Lines, size_text

_FIELDS = (b"data", b"event", b"id", b"retry")


JSON, EVENTS = "application/json", "text/event-stream"
SESSION = "mcp-session-id"
# Of a page or an error in place of a message: what is read, in bytes, and shown, in characters.
_MOST_SAID, _SHOWN_SAID = 4_000, 100
_MARKUP = re.compile(r"<(script|style)\b.*?(</\1>|$)|<[^>]*>", re.DOTALL | re.IGNORECASE)


def content_type(response: httpx2.Response) -> str:
    """What the body is, without parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def read_stream(
    inner: httpx2.AsyncByteStream, response: httpx2.Response, reader: Reader, heard: Callable[[bytes], None]
) -> httpx2.AsyncByteStream:
    """The body as the SDK gets it, by its content type; `heard` gets one that may be no message."""
    return (
        _Events(inner, reader) if content_type(response) == EVENTS else _Body(inner, response, reader, heard)
    )


def said(body: bytes) -> str:
    """The beginning of the text of a page or an error, as the end of a sentence; "" without any."""
    text = one_line(_MARKUP.sub(" ", body[:_MOST_SAID].decode("utf-8", "replace")))
    return f": “{shortened(text, _SHOWN_SAID)}”" if text else ""


class _Body(httpx2.AsyncByteStream):
    """An answer in one piece; it ends with an error once it is larger than Toolsight reads."""

    def __init__(
        self,
        inner: httpx2.AsyncByteStream,
        response: httpx2.Response,
        reader: Reader,
        heard: Callable[[bytes], None],
    ) -> None:
        self._inner = inner
        self._reader = reader if content_type(response) == JSON else None
        self._status, self._heard = response.status_code, heard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, chunks = 0, list[bytes]()
        async for chunk in self._inner:
            size += len(chunk)
            if size > LONGEST_LINE:
                raise httpx2.StreamError(f"{TOO_LARGE}: Toolsight reads at most {size_text(LONGEST_LINE)}")
            chunks.append(chunk)
        whole = b"".join(chunks)
        if self._reader is None or self._status >= httpx2.codes.BAD_REQUEST:
            self._heard(whole)
        if self._reader is None:
            yield whole
            return
        messages = self._reader.body(whole, status=self._status)
        yield self._reader.stand_ins.hold(messages[-1]) if messages else whole

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

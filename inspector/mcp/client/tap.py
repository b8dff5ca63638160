"""Sits between the SDK and its transport, and keeps what the SDK would reject.

The SDK validates a whole page of tools, or a whole call result, and raises for one bad part. The tap removes
invalid tools from a page before the SDK sees it, and wraps a call result unchanged. It puts the names of the
removed tools and the raw result in `_meta`, where the link reads them. Every frame is recorded as it was.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import CLIENT_CAPABILITIES_META_KEY, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from inspector.mcp.client.frame import RawMessage
from inspector.mcp.client.reader import Reader
from inspector.mcp.client.recorder import Recorder
from inspector.mcp.client.translate import LIST, MAX_DEFINITION, with_valid_tools

Streams = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]

RAW = "toolsight/raw"
CALL = "tools/call"
INITIALIZE = "initialize"


class Tap:
    """Watches the frames of one connection; sets `ended` when the incoming stream ends.

    What requests declare becomes `declaration`: the SDK would say whatever it has callbacks for.
    """

    def __init__(
        self, ended: asyncio.Event, recorder: Recorder, reader: Reader, declaration: Mapping[str, Any]
    ) -> None:
        self.protocol = ""
        self._declaration = dict(declaration)
        self._recorder = recorder
        self.ended = ended
        self._reader = reader

    @asynccontextmanager
    async def through(self, transport: AbstractAsyncContextManager[Streams]) -> AsyncGenerator[Streams, None]:
        """The same transport, watched."""
        async with transport as (incoming, outgoing):
            yield _Incoming(incoming, self), _Outgoing(outgoing, self)

    def sent(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._declare(message)
            self._reader.asked[str(message.id)] = message.method
        self._recorder.message(message, sent=True)

    def _declare(self, request: JSONRPCRequest) -> None:
        params = request.params or {}
        meta = params.get("_meta")
        if request.method == INITIALIZE:
            request.params = {**params, "capabilities": self._declaration}
        elif isinstance(meta, Mapping) and CLIENT_CAPABILITIES_META_KEY in meta:
            request.params = {**params, "_meta": {**meta, CLIENT_CAPABILITIES_META_KEY: self._declaration}}

    def received(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """Record what came; return what the SDK gets in its place."""
        if isinstance(item, Exception):
            self._recorder.stray(str(item).encode("utf-8", "replace"))
            return item
        item = self._reader.stand_ins.released(item)
        self._note(item)
        return item

    def _note(self, item: SessionMessage) -> None:
        raw, size = (item.raw, item.size) if isinstance(item, RawMessage) else (None, 0)
        self._recorder.message(item.message, raw, sent=False, size=size)
        if not isinstance(item.message, JSONRPCResponse | JSONRPCError):
            return
        method = self._reader.asked.pop(str(item.message.id), "")
        if isinstance(item.message, JSONRPCResponse):
            if method == LIST:
                is_large = raw is None or size > MAX_DEFINITION
                item.message.result = with_valid_tools(item.message.result, self.protocol, is_large=is_large)
            elif method == CALL:
                item.message.result = {
                    "content": [],
                    "resultType": "complete",
                    "_meta": {RAW: item.message.result},
                }


class _Incoming:
    def __init__(self, inner: ReadStream[SessionMessage | Exception], tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    @property
    def last_context(self) -> Any:
        """The sender's context variables, which the SDK's HTTP streams carry."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            item = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._tap.ended.set()
            raise
        return self._tap.received(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def close(self) -> None:
        close = getattr(self._inner, "close", None)
        if close is not None:
            close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Outgoing:
    def __init__(self, inner: WriteStream[SessionMessage], tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    async def send(self, item: SessionMessage, /) -> None:
        self._tap.sent(item)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

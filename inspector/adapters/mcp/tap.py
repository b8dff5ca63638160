"""Sits between the SDK and its transport, and keeps what the SDK would reject.

The SDK validates a whole page of tools, or a whole call result, and raises for one bad part. The tap removes
invalid tools from a page before the SDK sees it, and wraps a call result unchanged. It puts the names of the
removed tools and the raw result in `_meta`, where the link reads them. Every frame is recorded as it was.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    ListToolsResult,
    Tool,
)
from mcp_types.methods import validate_server_result
from pydantic import BaseModel, ValidationError

from inspector.adapters.mcp.frame import RawMessage
from inspector.adapters.mcp.recorder import Recorder

Streams = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]

SKIPPED = "toolsight/skipped"
RAW = "toolsight/raw"
LIST = "tools/list"
CALL = "tools/call"
INITIALIZE = "initialize"
_SHOWN_ERRORS = 2


class Tap:
    """Watches the frames of one connection; sets `ended` when the incoming stream ends.

    What requests declare becomes `declaration`: the SDK would say whatever it has callbacks for.
    """

    def __init__(self, ended: asyncio.Event, recorder: Recorder, declaration: Mapping[str, Any]) -> None:
        self.protocol = ""
        self._declaration = dict(declaration)
        self._recorder = recorder
        self.ended = ended
        self._asked: dict[str, str] = {}

    @asynccontextmanager
    async def through(self, transport: AbstractAsyncContextManager[Streams]) -> AsyncGenerator[Streams, None]:
        """The same transport, watched."""
        async with transport as (incoming, outgoing):
            yield _Incoming(incoming, self), _Outgoing(outgoing, self)

    def sent(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._declare(message)
            if message.method in (LIST, CALL):
                self._asked[str(message.id)] = message.method
        self._recorder.message(message, sent=True)

    def _declare(self, request: JSONRPCRequest) -> None:
        params = request.params or {}
        meta = params.get("_meta")
        if request.method == INITIALIZE:
            request.params = {**params, "capabilities": self._declaration}
        elif isinstance(meta, Mapping) and CLIENT_CAPABILITIES_META_KEY in meta:
            request.params = {**params, "_meta": {**meta, CLIENT_CAPABILITIES_META_KEY: self._declaration}}

    def received(self, item: SessionMessage | Exception) -> None:
        if isinstance(item, Exception):
            self._recorder.stray(str(item).encode("utf-8", "replace"))
            return
        raw, size = (item.raw, item.size) if isinstance(item, RawMessage) else (None, 0)
        self._recorder.message(item.message, raw, sent=False, size=size)
        if not isinstance(item.message, JSONRPCResponse | JSONRPCError):
            return
        method = self._asked.pop(str(item.message.id), "")
        if isinstance(item.message, JSONRPCResponse):
            if method == LIST:
                item.message.result = with_valid_tools(item.message.result, self.protocol)
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
        self._tap.received(item)
        return item

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


def with_valid_tools(page: Mapping[str, Any], protocol: str) -> dict[str, Any]:
    """A page without the tools that the SDK would reject; `_meta` names those, with the reasons.

    A page that is invalid apart from its tools stays unchanged, so that the SDK reports it.
    """
    whole = dict(page)
    tools = page.get("tools")
    if not isinstance(tools, list) or _flaw({**whole, "tools": []}, protocol):
        return whole
    good, skipped = tools, list[list[str]]()
    if _flaw(whole, protocol) or _model_flaw(ListToolsResult, whole):
        good, skipped = _sorted_out(whole, tools, protocol)
    meta = page.get("_meta")
    return {**whole, "tools": good, "_meta": {**(meta if isinstance(meta, dict) else {}), SKIPPED: skipped}}


def _sorted_out(
    page: Mapping[str, Any], tools: Sequence[Any], protocol: str
) -> tuple[list[Any], list[list[str]]]:
    """The valid tools of a page, and the names of the others with what is wrong."""
    good: list[Any] = []
    skipped: list[list[str]] = []
    for number, tool in enumerate(tools, start=1):
        flaw = _flaw({**page, "tools": [tool]}, protocol) or _model_flaw(Tool, tool)
        if flaw:
            name = tool.get("name") if isinstance(tool, dict) else None
            skipped.append([name if isinstance(name, str) and name else f"tool {number}", flaw])
        else:
            good.append(tool)
    return good, skipped


def _flaw(page: Mapping[str, Any], protocol: str) -> str:
    try:
        validate_server_result(LIST, protocol, page)
    except ValidationError as error:
        return flaw_text(error)
    except (KeyError, ValueError):
        return ""
    return ""


def _model_flaw(model: type[BaseModel], value: object) -> str:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError as error:
        return flaw_text(error)
    return ""


def flaw_text(error: ValidationError) -> str:
    """What pydantic found wrong and where, in one short line."""
    flaws = error.errors(include_url=False, include_context=False, include_input=False)
    texts = []
    for flaw in flaws[:_SHOWN_ERRORS]:
        where = ".".join(str(step) for step in flaw["loc"]).removeprefix("tools.0").lstrip(".")
        texts.append(f"{where}: {flaw['msg']}" if where else flaw["msg"])
    more = len(flaws) - len(texts)
    return "; ".join(texts) + (f"; and {more} more" if more > 0 else "")

"""The task that owns one SDK client, and the tap between the SDK and its transport.

The SDK's cancel scopes belong to the task that entered them, and it cancels that task when a transport
breaks. So each client lives in a task of its own from start to end, and other tasks call its methods.

The SDK validates a whole page of tools, or a whole result, and raises for one bad part. The tap removes
invalid tools from a page before the SDK sees it, and wraps other results unchanged. It puts the names of the
removed tools and the raw result in `_meta`, where the link reads them. Every frame is recorded as it was.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Protocol, Self

import anyio
from mcp import Client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from inspector.core.error import ConnectError, ConnectTimeout, ServerExited
from inspector.mcp.client.reader import RawMessage, Reader, cause_text, is_closed, root_causes, stray_hint
from inspector.mcp.client.server_request import PROGRESS, ServerRequests
from inspector.mcp.client.task import METHODS as TASK_METHODS
from inspector.mcp.client.translate import LIST, MAX_DEFINITION, with_valid_tools
from inspector.mcp.frame import LOG

Streams = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]

RAW = "toolsight/raw"
CALL = "tools/call"
# What stands for any result that Toolsight reads itself: the SDK finds in it whatever it wants.
_LISTS = ("content", "contents", "messages", "resources", "resourceTemplates", "prompts")
_STAND_IN: dict[str, Any] = {name: [] for name in _LISTS}
_STAND_IN |= {"completion": {"values": []}, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
_READ_RAW = frozenset(
    {CALL, "resources/list", "resources/templates/list", "resources/read"}
    | {"prompts/list", "prompts/get", "completion/complete"}
    | TASK_METHODS
)
INITIALIZE = "initialize"
CANCELLED = "notifications/cancelled"


class Tap:
    """Watches the frames of one connection; sets `ended` when the incoming stream ends.

    What requests declare becomes that of `requests`: the SDK would say whatever it has callbacks for.
    """

    def __init__(self, ended: asyncio.Event, reader: Reader, requests: ServerRequests) -> None:
        self.protocol = ""
        self.ended = ended
        self._requests = requests
        self.reader = reader

    @asynccontextmanager
    async def through(self, transport: AbstractAsyncContextManager[Streams]) -> AsyncGenerator[Streams, None]:
        """The same transport, watched."""
        async with transport as (incoming, outgoing):
            yield _Incoming(incoming, self), _Outgoing(outgoing, self)

    def sent(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._declare(message)
            self.reader.asked[str(message.id)] = message.method
        elif isinstance(message, JSONRPCNotification) and self._is_late(message.method):
            # The SDK gives the same reason for a call that is stopped and for one that takes too long.
            message.params = {**(message.params or {}), "reason": "timed out"}
        self.reader.recorder.message(message, sent=True)

    def _is_late(self, method: str) -> bool:
        return method == CANCELLED and self._requests.patience.is_expired

    def _declare(self, request: JSONRPCRequest) -> None:
        params = request.params or {}
        meta = params.get("_meta")
        if request.method == INITIALIZE:
            request.params = {**params, "capabilities": self._requests.declaration()}
        elif isinstance(meta, Mapping) and CLIENT_CAPABILITIES_META_KEY in meta:
            added = {CLIENT_CAPABILITIES_META_KEY: self._requests.declaration(is_modern=True)}
            request.params = {**params, "_meta": {**meta, **added}}

    def received(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """Record what came; return what the SDK gets in its place."""
        if isinstance(item, Exception):
            self.reader.recorder.stray(str(item).encode("utf-8", "replace"))
            return item
        item = self.reader.stand_ins.released(item)
        self._note(item)
        return item

    def _note(self, item: SessionMessage) -> None:
        raw, size = (item.raw, item.size) if isinstance(item, RawMessage) else (None, 0)
        self.reader.recorder.message(item.message, raw, sent=False, size=size)
        if isinstance(item.message, JSONRPCNotification) and item.message.method != PROGRESS:
            self._requests.heard(item.message.method, item.message.params or {})
        if not isinstance(item.message, JSONRPCResponse | JSONRPCError):
            return
        method = self.reader.asked.pop(str(item.message.id), "")
        if isinstance(item.message, JSONRPCResponse):
            if method == LIST:
                is_large = raw is None or size > MAX_DEFINITION
                item.message.result = with_valid_tools(item.message.result, self.protocol, is_large=is_large)
            elif method in _READ_RAW:
                item.message.result = {**_STAND_IN, "_meta": {RAW: item.message.result}}


class Stream:
    """What the SDK wants of a stream beside its messages."""

    async def aclose(self) -> None:
        """Nothing to close: overridden where there is."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


class _Incoming(Stream):
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


class _Outgoing(Stream):
    def __init__(self, inner: WriteStream[SessionMessage], tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    async def send(self, item: SessionMessage, /) -> None:
        self._tap.sent(item)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()


# Seconds that a modern server gets to confirm the subscription to changes before it counts as ready.
_SUBSCRIBE_GRACE = 1.0
_FIRST_RETRY = 0.5
_LAST_RETRY = 30.0


class Channel(Protocol):
    """A way to reach a server, and what it knows about a failure."""

    ended: asyncio.Event

    def transport(self) -> AbstractAsyncContextManager[Streams]: ...

    def diagnose(self, causes: list[BaseException]) -> ConnectError | None: ...

    def stderr_tail(self) -> str: ...


class Host:
    """Opens, watches and closes one client. `mode` is the SDK's: legacy, auto or a protocol version."""

    def __init__(self, channel: Channel, mode: str, reader: Reader, requests: ServerRequests) -> None:
        self.tap = Tap(channel.ended, reader, requests)
        self.refused = False
        self.channel = channel
        self.requests = requests
        self.reader = reader
        self._closed_by_us = False
        self._mode = mode
        self._stop = asyncio.Event()
        self._subscribed = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._causes: list[BaseException] = []
        self._end: ServerExited | None = None

    async def open(self, deadline: float) -> Client:
        """Connect; `deadline` is in the event loop's time.

        Raises ConnectError; nothing is left running then.
        """
        seconds = max(deadline - asyncio.get_running_loop().time(), 0)
        task = self._task = asyncio.create_task(self._own())
        both: set[asyncio.Future[Any]] = {task, self._ready}
        try:
            await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.close()
            raise
        if self._ready.done():
            return self._ready.result()
        timed_out = not task.done()
        await self.close()
        raise self._timeout(seconds) if timed_out else self._open_failure()

    async def close(self) -> None:
        """End the client, even if the caller is cancelled: the cleanup runs in the owning task."""
        if self._task is None:
            return
        self._closed_by_us = self._closed_by_us or not self.channel.ended.is_set()
        if self._ready.done():
            self._stop.set()
        else:
            self._task.cancel()
        await asyncio.wait({self._task})

    def end(self, why: ServerExited) -> ServerExited:
        """End an open connection that is of no more use; return why."""
        self._end = why
        self.channel.ended.set()
        return why

    @property
    def is_over(self) -> bool:
        return self._task is not None and self._task.done()

    async def wait_over(self) -> ServerExited:
        """Wait until the connection has ended and is cleaned up; return why it ended."""
        assert self._task is not None
        await asyncio.wait({self._task})
        if self._closed_by_us:
            return ServerExited("The connection was closed", hint="Reconnect the server to use it again.")
        if self._end is not None:
            return self._end
        diagnosis = self.channel.diagnose(self._causes)
        if isinstance(diagnosis, ServerExited):
            return diagnosis
        message = diagnosis.message if diagnosis else "The server closed the connection"
        hint = diagnosis.hint if diagnosis else "Reconnect the server."
        return ServerExited(message, hint=hint, stderr_tail=self.channel.stderr_tail())

    async def _own(self) -> None:
        try:
            async with Client(
                self.tap.through(self.channel.transport()),
                mode=self._mode,
                client_info=self.requests.identity,
                message_handler=self._on_message,
                list_roots_callback=self.requests.roots,
                elicitation_callback=self.requests.elicit,
                sampling_callback=self.requests.sample,
                cache=None,  # always show what the server says now
            ) as client:
                self.tap.protocol = client.protocol_version
                await self._serve(client)
        except Exception as error:
            self._causes = root_causes(error)
            LOG.info("connection ended: %s", "; ".join(repr(cause) for cause in self._causes))

    async def _serve(self, client: Client) -> None:
        changes = asyncio.create_task(self._subscribe(client))
        try:
            # The tools are first listed after the subscription, so that no change is missed in between.
            with suppress(TimeoutError):
                async with asyncio.timeout(_SUBSCRIBE_GRACE):
                    await self._subscribed.wait()
            self._ready.set_result(client)
            await _first_of(self._stop, self.channel.ended)
        finally:
            changes.cancel()
            await asyncio.wait({changes})

    async def _on_message(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.reader.on_tools_changed()

    async def _subscribe(self, client: Client) -> None:
        """Subscribe to changes under protocol 2026-07-28; older servers notify without a subscription."""
        try:
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                await self._listen(client)
        except ListenNotSupportedError:
            pass
        except Exception as error:
            LOG.info("no subscription to changes: %r", error)
        finally:
            self._subscribed.set()

    async def _listen(self, client: Client) -> None:
        """Keep the stream of changes open; `_on_message` gets the changes."""
        delay = _FIRST_RETRY
        while True:
            with suppress(SubscriptionLost):
                async with client.listen(tools_list_changed=True) as events:
                    if self._ready.done():
                        # Missed changes are not sent again: the list may have changed meanwhile.
                        self.reader.on_tools_changed()
                    self._subscribed.set()
                    delay = _FIRST_RETRY
                    async for _event in events:
                        pass
                    return
            await asyncio.sleep(delay)
            delay = min(delay * 2, _LAST_RETRY)

    def _timeout(self, seconds: float) -> ConnectTimeout:
        return ConnectTimeout(
            f"The handshake did not finish within {round(seconds, 1):g} s",
            hint=stray_hint(self.reader.stray)
            or "Is it an MCP server? If it downloads something first, raise `connect_timeout`.",
            stderr_tail=self.channel.stderr_tail(),
        )

    def _open_failure(self) -> ConnectError:
        diagnosis = self.channel.diagnose(self._causes)
        if diagnosis is not None:
            return diagnosis
        self.refused = not any(is_closed(cause) for cause in self._causes)
        reason = "; ".join(dict.fromkeys(cause_text(cause) for cause in self._causes))
        return ConnectError(
            f"The handshake failed: {reason or 'the connection closed'}",
            hint="Is it an MCP server? Its protocol may be too old or too new.",
            stderr_tail=self.channel.stderr_tail(),
        )


async def _first_of(*events: asyncio.Event) -> None:
    waits = {asyncio.create_task(event.wait()) for event in events}
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()

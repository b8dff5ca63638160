"""A bridge from a client that speaks over stdio to a server over HTTP: messages pass as they come."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from mcp import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    PROTOCOL_VERSION_META_KEY,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from inspector.core.error import AuthRequired, ConnectError
from inspector.core.ports import SystemClock
from inspector.core.server import ServerSpec
from inspector.mcp.client.host import INITIALIZE
from inspector.mcp.client.http import HttpChannel
from inspector.mcp.client.reader import RawMessage, Reader, Recorder, root_causes
from inspector.mcp.client.session import is_lost
from inspector.mcp.frame import FrameLog
from inspector.mcp.sign_in.person import SignInWay

Give = Callable[[bytes], Awaitable[None]]


async def bridge(spec: ServerSpec, way: SignInWay, lines: AsyncIterator[bytes], give: Give) -> None:
    """Pass on a client's lines until they end or the server fails, and `give` the client each answer.

    What the server fails at becomes an error as the answer to whatever the client waits for.
    """
    reader = Reader(Recorder(FrameLog(), SystemClock()), lambda: None)
    channel = HttpChannel(spec, reader, way)
    passing = _Passing(spec, channel, give)
    back: asyncio.Task[None] | None = None
    try:
        async with channel.transport() as (incoming, outgoing):
            here = asyncio.current_task()
            back = asyncio.create_task(passing.back(incoming, lambda: here.cancel() if here else None))
            async for line in lines:
                with suppress(ValidationError):
                    await outgoing.send(passing.stamped(line))
    except asyncio.CancelledError:
        if not passing.is_lost:
            raise
    except Exception as error:  # whatever the transport fails at, the client waits for an answer
        causes = root_causes(error)
        await passing.refuse(channel.diagnose(causes) or ConnectError(str(causes[0])))
    finally:
        if back is not None:
            back.cancel()
            await asyncio.gather(back, return_exceptions=True)


class _Passing:
    """The messages of one session, both ways."""

    def __init__(self, spec: ServerSpec, channel: HttpChannel, give: Give) -> None:
        self.is_lost = False
        self._spec, self._channel, self._give = spec, channel, give
        self._version = ""
        self._ids: dict[str, str | int] = {}

    def stamped(self, line: bytes) -> SessionMessage:
        """A client's message, with the headers that repeat what is in it. Raises ValidationError."""
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if isinstance(message, JSONRPCRequest):
            self._channel.reader.asked[str(message.id)] = message.method
            self._ids[str(message.id)] = message.id
        params = getattr(message, "params", None) or {}
        return SessionMessage(message, ClientMessageMetadata(headers=dict(self._headers(message, params))))

    def _headers(self, message: Any, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        meta = params.get("_meta")
        modern = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, Mapping) else None
        if version := modern or self._version:
            yield MCP_PROTOCOL_VERSION_HEADER, str(version)
        if modern:
            yield MCP_METHOD_HEADER, message.method
            if name := params.get(NAME_BEARING_METHODS.get(message.method, "")):
                yield MCP_NAME_HEADER, encode_header_value(str(name))

    async def back(self, incoming: Any, end: Callable[[], object]) -> None:
        """Give the client what the server says; `end` once the server has forgotten the session."""
        asked = self._channel.reader.asked
        async for item in incoming:
            if isinstance(item, Exception):
                continue
            item = self._channel.reader.stand_ins.released(item)
            message = item.message
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self._ids.pop(str(message.id), None)
                method = asked.pop(str(message.id), "")
            if isinstance(message, JSONRPCResponse) and method == INITIALIZE:
                self._version = str(message.result.get("protocolVersion") or "")
            raw = item.raw if isinstance(item, RawMessage) else b""
            if isinstance(message, JSONRPCError):
                failed = MCPError(message.error.code, message.error.message, message.error.data)
                self.is_lost = is_lost(failed)
                if not raw and (refusal := self._channel.refusal(failed)) is not None:
                    message.error.message = self._told(refusal)
            is_whole = raw.startswith(b"{") and b"\n" not in raw
            await self._give(raw if is_whole else _written(message))
            if self.is_lost:
                end()

    async def refuse(self, error: ConnectError) -> None:
        """Answer every request that waits."""
        told = {"code": INTERNAL_ERROR, "message": self._told(error)}
        for id_ in self._ids.values():
            await self._give(json.dumps({"jsonrpc": "2.0", "id": id_, "error": told}).encode())

    def _told(self, error: ConnectError) -> str:
        if isinstance(error, AuthRequired) and error.can_sign_in:
            return f"{error.message}. Sign in once: toolsight servers --sign-in '' '{self._spec.url}'"
        return f"{error.message}. {error.hint}"


def _written(message: Any) -> bytes:
    text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode()

"""The session with a server over HTTP, begun anew when the server has forgotten it.

A server that restarts or cleans up forgets its sessions, and answers 404 to any request in one. It did not
carry the request out then, so the request is made once more in a new session.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mcp import ClientSession, MCPError, types
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from msgspec import Struct, field

from inspector.core.error import ConnectError, ConnectTimeout, ServerExited
from inspector.core.events import SessionRenewed
from inspector.mcp.client.host import Host
from inspector.mcp.client.reader import cause_text

T = TypeVar("T")

_LOST = "toolsight/lost"
SESSION_LOST = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {
        "code": INVALID_REQUEST,
        "message": "HTTP 404: the session is not known",
        "data": {_LOST: True},
    },
}
"""What the SDK reads in place of an answer that says that the session of the request is lost."""


class SessionLost(ConnectError):
    """The server answered HTTP 404: it does not know the session that a request was made in."""


def is_lost(error: Exception) -> bool:
    """Whether a request failed because the server does not know its session."""
    return isinstance(error, MCPError) and isinstance(error.data, dict) and _LOST in error.data


class ServerSession(Struct, eq=False):
    """The session that requests are made in. Requests that find it lost share the one that follows it.

    A new session may take `_seconds` to begin; `_begun` reads what a server lists in it.
    """

    _server: str
    _host: Host
    _session: ClientSession
    _seconds: float
    _begun: Callable[[], Awaitable[None]]
    _number: int = 0
    _beginning: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def within(self, request: Callable[[], Awaitable[T]]) -> T:
        """What a request gives; if its session was lost, what it gives in a new one.

        Raises what the request raises, and ConnectError if no new session can be used.
        """
        async with self._beginning:
            number = self._number
        try:
            return await request()
        except SessionLost:
            pass
        try:
            # A caller that is cancelled leaves no session behind that is begun by half.
            await asyncio.shield(self._begin(number))
            return await request()
        except SessionLost as error:
            raise SessionLost(
                "The server forgot its session, and the new one at once: HTTP 404",
                hint="Does its address lead to several servers that do not share their sessions?",
            ) from error

    async def _begin(self, lost: int) -> None:
        """Begin the session after number `lost`, unless another request has."""
        async with self._beginning:
            if self._number != lost:
                return
            try:
                async with asyncio.timeout(self._seconds):
                    await self._initialize()
                    await self._begun()
            except TimeoutError:
                raise ConnectTimeout(
                    f"The server forgot its session, and began no other within {self._seconds:g} s",
                    hint="Reconnect the server.",
                ) from None
            self._number += 1
        self._host.requests.note(SessionRenewed(self._server))

    async def _initialize(self) -> None:
        """Make the handshake again. The connection ends if the server refuses it."""
        request = types.InitializeRequest(
            params=types.InitializeRequestParams(
                protocol_version=LATEST_HANDSHAKE_VERSION,
                capabilities=types.ClientCapabilities(),
                client_info=self._host.requests.identity,
            )
        )
        try:
            result = await self._session.send_request(request, types.InitializeResult)
            if result.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
                raise ConnectError(f"it speaks {result.protocol_version} now")
            self._session.adopt(result)
            await self._session.send_notification(types.InitializedNotification())
        except Exception as error:
            raise self._refused(error) from error
        self._host.tap.protocol = result.protocol_version

    def _refused(self, error: Exception) -> ConnectError:
        if (refusal := self._host.channel.diagnose([error])) is not None:
            return refusal
        told = f"The server forgot its session, and refuses another: {cause_text(error)}"
        return self._host.end(ServerExited(told, hint="Reconnect the server."))

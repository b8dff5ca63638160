"""The connections of a session: one owner task per server, so that no server delays another."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain
from operator import is_

from inspector.access.reach import reaches
from inspector.core.access import Sight
from inspector.core.error import ToolsightError
from inspector.core.message import OnTask, ToolResult
from inspector.core.server import ServerSpec
from inspector.core.tool import Tool
from inspector.mcp.connection import Connection
from inspector.mcp.listing import Shared
from inspector.mcp.pace import Coalesced
from inspector.mcp.port import ignored
from inspector.mcp.reading import Offers
from inspector.schema.json_value import JsonObject


class Connections:
    """All servers of a configuration. `on_tools` is called soon after `tools` may have changed."""

    def __init__(self, specs: Sequence[ServerSpec], shared: Shared, on_tools: Callable[[], None]) -> None:
        self._shared = shared
        self._is_started = False
        self._changes = Coalesced(on_tools)
        self._is_starting = False
        self._all = {spec.name: self._new(spec) for spec in specs}
        self._servers = self._reached()
        self._parts: list[tuple[Tool, ...]] = []
        self._tools: tuple[Tool, ...] = ()

    def _new(self, spec: ServerSpec) -> Connection:
        return Connection(spec, self._shared, self._changed)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of all ready servers, in configuration order; the same object until they change."""
        parts = [server.tools for server in self._servers.values()]
        if len(parts) != len(self._parts) or not all(map(is_, parts, self._parts)):
            self._parts, self._tools = parts, tuple(chain.from_iterable(parts))
        return self._tools

    @property
    def away(self) -> tuple[Tool, ...]:
        """The tools that the servers which are not connected now listed last, in configuration order."""
        return tuple(tool for server in self._servers.values() for tool in server.away)

    @property
    def summaries(self) -> dict[str, str]:
        """The one-line summary of each ready server that has one."""
        return {name: server.summary for name, server in self._servers.items() if server.summary}

    @property
    def connecting(self) -> tuple[str, ...]:
        """The servers that are neither ready nor failed yet."""
        return tuple(name for name, server in self._servers.items() if server.is_connecting)

    @property
    def instructions(self) -> dict[str, str]:
        """The whole instructions of each ready server that sent some."""
        return {name: server.instructions for name, server in self._servers.items() if server.instructions}

    def start(self) -> None:
        """Start every server that is not running, a few at a time, and return immediately."""
        self._is_starting = self._is_started = True
        for server in self._servers.values():
            server.start()

    def _changed(self) -> None:
        self._changes.soon()
        if self._is_starting and not self.connecting:
            self._is_starting = False
            # Not here: what goes wrong with the catalog is not this server's doing.
            asyncio.get_running_loop().call_soon(self.catch_up)

    def _reached(self) -> dict[str, Connection]:
        """The servers that may have a tool to see."""
        return {name: server for name, server in self._all.items() if reaches(self._shared.sight(), name)}

    async def leave(self, sight: Sight) -> None:
        """Before another session begins, end the servers that do not exist in it, and open questions."""
        for server in self._all.values():
            server.withdraw()
        gone = [server for name, server in self._servers.items() if not reaches(sight, name)]
        await asyncio.gather(*(server.end() for server in gone))
        self._changes.drop()

    async def renew(self) -> None:
        """Tell a session that has just begun of every server, and start those that are not running."""
        before, self._servers = self._servers, self._reached()
        if not self._is_started:
            return
        for server in self._all.values():
            server.hide()
        known = [server for name, server in self._servers.items() if name in before]
        await asyncio.gather(*(server.renew() for server in known))
        for name, server in self._servers.items():
            if name not in before:
                server.start()
        self._changes.soon()
        self.catch_up()

    def narrow(self) -> None:
        """Offer at once no tool that may not be seen any more."""
        for server in self._all.values():
            server.narrow()

    async def look_again(self) -> None:
        """Offer what may be seen now: start servers that may have some of it, stop those that may not."""
        before, self._servers = self._servers, self._reached()
        if not self._is_started:
            return
        gone = [server for name, server in before.items() if name not in self._servers]
        await asyncio.gather(*(server.stop() for server in gone))
        for name, server in self._servers.items():
            if name not in before:
                server.start()
        kept = [server for name, server in self._servers.items() if name in before]
        await asyncio.gather(*(server.look_again() for server in kept))
        self._changes.soon()
        self.catch_up()

    async def settled(self) -> None:
        """Wait until no server is connecting.

        Raises an owner task's error if the server did not cause it, such as StoreError.
        """
        for server in self._servers.values():
            await server.settled()
        self.catch_up()

    async def calm(self) -> None:
        """Wait until every server has been started, though it may not be ready."""
        await self._shared.pace.calm()

    def catch_up(self) -> None:
        """Call `on_tools` now if it is to be called soon."""
        self._changes.now()

    async def reconnect(self, server: str) -> None:
        """Close the connection, if any, reopen it, and wait until the server is ready or has failed."""
        connection = self._known(server)
        await connection.restart()
        self._changes.soon()
        await connection.settled()
        self.catch_up()

    async def declare_again(self) -> None:
        """Reconnect the servers to which something else would be declared now."""
        await asyncio.gather(*(server.restart_if_outdated() for server in self._servers.values()))
        self._changes.soon()
        await self.settled()

    async def add(self, spec: ServerSpec) -> None:
        """Connect one more server, and wait until it is ready or has failed."""
        connection = self._all[spec.name] = self._servers[spec.name] = self._new(spec)
        connection.start()
        await connection.settled()
        self.catch_up()

    async def remove(self, server: str) -> None:
        """Close the connection, or stop opening it, and forget the server."""
        connection = self._all.pop(server, None)
        self._servers.pop(server, None)
        if connection is not None:
            await connection.stop()
            self._changes.soon()
            self.catch_up()

    async def stop(self, server: str) -> None:
        """Close the connection, or stop opening it."""
        await self._known(server).stop()
        self._changes.soon()
        self.catch_up()

    async def call(
        self, server: str, tool: str, arguments: JsonObject, on_task: OnTask = ignored
    ) -> ToolResult:
        """Call a tool of a ready server, with the server's own timeout.

        Raises CallTimeout, ServerExited (also if the server is not connected) or ProtocolError.
        """
        return await self._known(server).call(tool, arguments, on_task)

    async def ping(self, server: str) -> str:
        """Ask a server for a sign of life; see `Connection`. Raises as `call` does."""
        return await self._known(server).ping()

    def offers(self, server: str) -> Offers | None:
        """The resources and prompts of a connected server that may be seen as a whole."""
        return self._servers[server].offers if server in self._servers else None

    def stderr_tail(self, server: str) -> str:
        """The last lines of a connected server's stderr; "" for any other."""
        return self._servers[server].stderr_tail() if server in self._servers else ""

    async def aclose(self) -> None:
        """Close all connections at once; errors such as StoreError are raised after all are closed."""
        stops = (server.stop() for server in self._all.values())
        outcomes = await asyncio.gather(*stops, return_exceptions=True)
        self._changes.drop()
        for error in (outcome for outcome in outcomes if isinstance(outcome, BaseException)):
            raise error

    def _known(self, server: str) -> "Connection":
        try:
            return self._servers[server]
        except KeyError:
            raise ToolsightError(f"there is no server '{server}'") from None

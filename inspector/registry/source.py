"""A registry as a catalog: each server of its tools is one that can be searched and not called."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager

from inspector.access.reach import reaches
from inspector.core.access import Sight
from inspector.core.configuration import Configuration
from inspector.core.error import ConnectError, StoreError
from inspector.core.message import ToolResult
from inspector.core.ports import ClientSide, Connector, ServerLink
from inspector.core.server import SOURCE, Era, ServerInfo, ServerSpec, is_registered
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.tool import Tool
from inspector.mcp.recorded_link import RecordedLink
from inspector.search.registry_port import ToolRegistry

NOT_CONNECTED = (
    "This tool is known from the registry: its server is not connected. Start the server itself to call it."
)


def registry_configuration(servers: Iterable[str]) -> Configuration:
    """A configuration of these servers; nothing of it is started, so that nobody has to agree."""
    # The name is part of the listing: what is remembered of a server is tied to what reaches it.
    specs = tuple(ServerSpec(name, listing=f"{SOURCE}{name}") for name in servers)
    settings = Settings(discovery=DiscoverySettings(enabled=True, defer_all=True))
    return Configuration(SOURCE, specs, settings=settings, trusted=True)


def servers_for(
    sight: Sight, configuration: Configuration, opened: Callable[[], ToolRegistry] | None
) -> frozenset[str] | None:
    """The servers of a configuration that there are for a sight; None if it has none of the registry's.

    A server of the registry is there if it has a tool to see. Raises StoreError.
    """
    stored = {spec.name for spec in configuration.servers if is_registered(spec)}
    if opened is None or not stored:
        return None
    others = {spec.name for spec in configuration.servers if reaches(sight, spec.name)} - stored
    return frozenset(others | (stored & opened().servers(sight).keys()))


class WithRegistry:
    """A Connector that knows the servers of a registry, and leaves all others to another Connector.

    All tools are read at once, as the first server connects, and again with a server that connects anew.
    Which of them are seen is decided where any server's list arrives: that can change while it is connected.
    """

    def __init__(self, registry: ToolRegistry, others: Connector) -> None:
        self._registry = registry
        self._others = others
        self._lock = asyncio.Lock()
        self._unread: dict[str, tuple[Tool, ...]] = {}

    @asynccontextmanager
    async def connect(
        self,
        spec: ServerSpec,
        *,
        era: Era | None,
        on_tools_changed: Callable[[], None],
        client: ClientSide | None = None,
    ) -> AsyncGenerator[ServerLink, None]:
        """See `Connector`."""
        if is_registered(spec):
            info = ServerInfo(spec.name, protocol="stored")
            answer = ToolResult(NOT_CONNECTED, is_error=True)
            yield RecordedLink(info, await self._tools_of(spec.name), otherwise=answer)
            return
        opening = self._others.connect(spec, era=era, on_tools_changed=on_tools_changed, client=client)
        async with opening as link:
            yield link

    async def _tools_of(self, server: str) -> tuple[Tool, ...]:
        """The tools of a server. Raises ConnectError."""
        async with self._lock:
            if server not in self._unread:
                try:
                    self._unread = await asyncio.to_thread(self._read)
                except StoreError as error:
                    raise ConnectError(error.message, hint=error.hint) from error
            return self._unread.pop(server, ())

    def _read(self) -> dict[str, tuple[Tool, ...]]:
        found: dict[str, list[Tool]] = {}
        for one in self._registry.tools():
            found.setdefault(one.tool.server, []).append(one.tool)
        return {server: tuple(tools) for server, tools in found.items()}

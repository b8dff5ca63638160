"""The registry as the app has it, for threads, and as a source of servers."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from inspector.access.reach import reaches
from inspector.access.restriction import require_whole
from inspector.config.configuration import Configuration
from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import ConfigError, ConnectError, StoreError
from inspector.core.message import ToolResult
from inspector.core.server import SOURCE, Era, ServerInfo, ServerSpec, is_registered
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.tool import Tool
from inspector.features.registry.health import Health, HealthOf
from inspector.mcp.port import ClientSide, Connector, ServerLink
from inspector.mcp.recorded_link import RecordedLink
from inspector.search.index.ports import Embedder, Neighbour, RegisteredTool, ToolRegistry

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


FILL = "fill the registry"
"""What only the administrator does."""


@dataclass(frozen=True, slots=True)
class Overview:
    """How many tools there are of each origin, and how many of all are `embedded` by the `model`.

    `model` is "" where nothing embeds.
    """

    origins: dict[str, int] = field(default_factory=dict)
    model: str = ""
    embedded: int = 0

    @property
    def tools(self) -> int:
        return sum(self.origins.values())


@dataclass(frozen=True, slots=True)
class Rows:
    """Some tools of a list, and how long the whole list is."""

    tools: tuple[RegisteredTool, ...]
    total: int


class RegistryLibrary:
    """Reads the registry for somebody; the administrator fills it. Each method raises ToolsightError."""

    def __init__(
        self,
        opened: Callable[[], ToolRegistry],
        embedder: Callable[[], Embedder | None] = lambda: None,
        sight: Callable[[], Sight] = lambda: EVERYTHING,
        health: HealthOf = lambda _sight: None,
    ) -> None:
        """`opened` gives the same registry each time; `sight` says what may be seen now."""
        self.opened = opened
        self._embedder = embedder
        self._sight = sight
        self._health = health

    def has_tools(self) -> bool:
        """Whether there is any tool to see."""
        return self.opened().count(self._sight()) > 0

    def overview(self) -> Overview:
        """What there is."""
        registry, sight, embedder = self.opened(), self._sight(), self._embedder()
        origins = dict(registry.origins(sight))
        if embedder is None:
            return Overview(origins)
        return Overview(origins, embedder.name, registry.embedded(embedder.name, sight))

    def rows(self, part: str, after: str, limit: int) -> Rows:
        """The next tools whose id contains `part`, from behind `after`."""
        registry, sight = self.opened(), self._sight()
        tools = tuple(registry.tools(sight, part=part, after=after, limit=limit))
        return Rows(tools, registry.count(sight, part=part))

    def health(self) -> Health | None:
        """What is known of the tools' health; None for who may not see everything."""
        return self._health(self._sight())

    def versions(self, tool_id: str) -> tuple[RegisteredTool, ...]:
        """Every version of a tool, the newest first."""
        return self.opened().versions(tool_id, self._sight())

    def search(self, query: str, limit: int) -> tuple[Neighbour, ...]:
        """The tools nearest to the query."""
        from inspector.features.registry.registry_tier import search_registry

        embedder = self._required()
        embedder.prepare(lambda _done, _total: None, lambda: False)
        return search_registry(self.opened(), embedder, query, limit=limit, sight=self._sight())

    def embed(self, report: Callable[[int, int], None], stopped: Callable[[], bool]) -> int:
        """Embed what has no vector yet; what is done stays. Return how many texts that were."""
        from inspector.features.registry.embedding import embed_missing

        require_whole(self._sight(), FILL)
        return embed_missing(
            self.opened(), self._required(), lambda _what, done, total: report(done, total), stopped
        )

    def _required(self) -> Embedder:
        embedder = self._embedder()
        if embedder is None:
            hint = "Set discovery.embedding_model, for example to packaged."
            raise ConfigError("this session has no embedding model", hint=hint)
        return embedder

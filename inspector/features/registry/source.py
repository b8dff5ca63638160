"""The registry as a session has it: its servers without their processes, and the third tier of a search.

What the tier finds (section 4.3) is told with the results, apart from them: it can be neither loaded nor
called, as its server is not connected.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.access.reach import reaches
from inspector.cli.composition import open_breakers
from inspector.cli.location import database_path
from inspector.cli.options import Options
from inspector.config.configuration import Configuration
from inspector.core.access import EVERYTHING, Grant, Scope, Sight, matches
from inspector.core.error import ConfigError, ConnectError, StoreError, ToolsightError
from inspector.core.feature import Given
from inspector.core.message import ToolResult
from inspector.core.ranking import Unconnected
from inspector.core.server import SOURCE, ServerInfo, ServerSpec, is_registered
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import Neighbour
from inspector.features.registry.facts import HealthOf, health_of
from inspector.features.registry.feature import REGISTRY
from inspector.features.registry.library import RegistryLibrary, nearest_in
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.mcp.port import Connector, Opening, ServerLink
from inspector.mcp.recorded_link import RecordedLink
from inspector.search.answer.answer_text import unconnected_text
from inspector.session.workbench import Workbench
from inspector.store.store import SqliteStore

if TYPE_CHECKING:
    from inspector.search.answer.answer_text import SearchAnswer
    from inspector.search.index.semantics import Semantics

_DATABASE_URL = "TOOLSIGHT_DATABASE_URL"
_POSTGRES = ("postgres://", "postgresql://")
_ANYBODY = "anybody"
NOT_CONNECTED = (
    "This tool is known from the registry: its server is not connected. Start the server itself to call it."
)


def is_address(database: str) -> bool:
    """Whether it is an address of PostgreSQL; otherwise it is a file."""
    return database.startswith(_POSTGRES)


def open_registry(options: Options) -> ToolRegistry:
    """The tool registry: at TOOLSIGHT_DATABASE_URL, else in the database of the sessions.

    Raises ConfigError if nothing here can open that address.
    """
    url = os.environ.get(_DATABASE_URL, "")
    if not url:
        from inspector.features.registry.sqlite import SqliteRegistry

        return SqliteRegistry(database_path(options))
    if not is_address(url):
        hint = "Use postgresql://USER@HOST/DATABASE, or unset the variable to use the SQLite file."
        raise ConfigError(f"{_DATABASE_URL} is not a PostgreSQL address", hint=hint)
    from inspector.features.registry.postgres import PostgresRegistry

    return PostgresRegistry(url)


def stored_tools(options: Options) -> "RegistrySource":
    """The registry of the options; it is opened when it is first asked."""
    return RegistrySource(cache(partial(open_registry, options)))


class RegistrySource(Struct, frozen=True):
    """The tools of a registry as `StoredTools`. `opened` gives the same registry each time."""

    opened: Callable[[], ToolRegistry]
    _matched: set[str] = field(default_factory=set)
    """Patterns that a tool is known to match."""

    def configuration(self) -> Configuration:
        """See `StoredTools`."""
        # The name is part of the listing: what is remembered of a server is tied to what reaches it.
        specs = tuple(ServerSpec(name, listing=f"{SOURCE}{name}") for name in self.opened().servers())
        settings = Settings(discovery=DiscoverySettings(enabled=True, defer_all=True))
        return Configuration(SOURCE, specs, settings=settings, trusted=True)

    def servers(self, sight: Sight, configuration: Configuration) -> frozenset[str] | None:
        """See `StoredTools`."""
        stored = {spec.name for spec in configuration.servers if is_registered(spec)}
        if not stored:
            return None
        others = {spec.name for spec in configuration.servers if reaches(sight, spec.name)} - stored
        return frozenset(others | (stored & self.opened().servers(sight).keys()))

    def connector(self, others: Connector) -> "WithRegistry":
        """See `StoredTools`."""
        return WithRegistry(self.opened(), others)

    def tier(
        self,
        configured: Callable[[], Collection[str]],
        permits: Callable[[Tool], bool],
        sight: Callable[[], Sight],
    ) -> "RegistryTier":
        """See `StoredTools`."""
        return RegistryTier(self.opened, configured, permits, sight)

    def unmatched(self, patterns: Sequence[str], tools: Collection[str]) -> tuple[str, ...]:
        """See `StoredTools`.

        While the registry cannot be read, nothing is known of any: then none of them is left.
        """
        try:
            return tuple(
                one
                for one in patterns
                if any(matches(tool, (one,)) for tool in tools) or not self._matches(one)
            )
        except StoreError:
            return ()

    def _matches(self, pattern: str) -> bool:
        if pattern not in self._matched:
            sight = Sight(_ANYBODY, grants=(Grant(Scope.USER, _ANYBODY, "", (pattern,)),))
            if next(iter(self.opened().tools(sight, limit=1)), None) is None:
                return False
            self._matched.add(pattern)
        return True


class WithRegistry(Struct, eq=False):
    """A Connector that knows the servers of a registry, and leaves all others to another Connector.

    All tools are read at once, as the first server connects, and again with a server that connects anew.
    Which of them are seen is decided where any server's list arrives: that can change while it is connected.
    """

    _registry: ToolRegistry
    _others: Connector
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _unread: dict[str, list[Tool]] = {}

    @asynccontextmanager
    async def connect(self, spec: ServerSpec, opening: Opening) -> AsyncGenerator[ServerLink, None]:
        """See `Connector`."""
        if is_registered(spec):
            info = ServerInfo(spec.name, protocol="stored")
            answer = ToolResult(NOT_CONNECTED, is_error=True)
            yield RecordedLink(info, await self._tools_of(spec.name), otherwise=answer)
            return
        async with self._others.connect(spec, opening) as link:
            yield link

    async def _tools_of(self, server: str) -> tuple[Tool, ...]:
        """The tools of a server. Raises ConnectError."""
        async with self._lock:
            if server not in self._unread:
                try:
                    self._unread = await asyncio.to_thread(self._read)
                except StoreError as error:
                    raise ConnectError(error.message, hint=error.hint) from error
            return tuple(self._unread.pop(server, ()))

    def _read(self) -> dict[str, list[Tool]]:
        found: dict[str, list[Tool]] = {}
        for one in self._registry.tools():
            found.setdefault(one.tool.server, []).append(one.tool)
        return found


class RegistryTier(Struct, eq=False):
    """Adds to an answer the tools of a registry that no server of the configuration has.

    `_configured` names the session's servers as they are: their tools are searched there or not at all.
    `_permits` is the toolset: what it leaves out cannot be found here either.
    """

    _opened: Callable[[], ToolRegistry]
    _configured: Callable[[], Collection[str]]
    _permits: Callable[[Tool], bool]
    _sight: Callable[[], Sight] = lambda: EVERYTHING

    def added(
        self, answer: "SearchAnswer", semantics: "Semantics", *, limit: int, floor: float
    ) -> "SearchAnswer":
        """The answer with at most `limit` such tools whose cosine reaches `floor`; a failure is a note."""
        report = answer.report
        # Of tools with the same name those of later tiers are left out (section 4.4).
        names, configured = {hit.tool_id.rpartition(":")[2] for hit in report.results}, self._configured()

        def wanted(tool: Tool) -> bool:
            return tool.server not in configured and tool.name not in names and self._permits(tool)

        try:
            vector = semantics.query(report.request.query).tolist()
            near = self._nearest(semantics.model, vector, wanted, limit, floor)
        except ToolsightError as error:
            note = f"the registry was not searched: {error.message}"
            return replace(answer, report=replace(report, note="; ".join(filter(None, (report.note, note)))))
        if not near:
            return answer
        found = tuple(
            Unconnected(one.found.tool.id, one.found.tool.description, one.found.origin, one.similarity)
            for one in near
        )
        told = unconnected_text([one.found.tool for one in near])
        text, missing = ("\n\n".join(filter(None, (part, told))) for part in (answer.text, answer.missing))
        return replace(answer, report=replace(report, unconnected=found), text=text, missing=missing)

    def _nearest(
        self, model: str, vector: Sequence[float], wanted: Callable[[Tool], bool], limit: int, floor: float
    ) -> list[Neighbour]:
        """The `limit` nearest tools among the wanted ones. Raises StoreError."""
        registry, sight, asked = self._opened(), self._sight(), 2 * limit
        while True:
            near = nearest_in(registry, model, vector, asked, sight, floor=floor)
            found = [one for one in near if wanted(one.found.tool)]
            if len(found) >= limit or len(near) < asked:
                return found[:limit]
            asked *= 4


def open_health(options: Options) -> HealthOf:
    """Reads the health of registered tools, from the sessions of the database."""
    sessions, breakers = SqliteStore(database_path(options)), open_breakers(options)
    return health_of(sessions.outcomes, lambda: breakers.every().values())


def provide(options: Options, bench: Workbench) -> Given:
    """The registry of the session, searched with the session's own model."""
    ports = bench.ports
    if not isinstance(ports.stored_tools, RegistrySource):
        return {}
    library = RegistryLibrary(
        ports.stored_tools.opened,
        lambda: ports.embedder_for(bench.settings.discovery.embedding_model),
        lambda: bench.sight,
        open_health(options),
    )
    return {REGISTRY: library}

"""The marketplace of a session: what it has, what it suggests, and what installing would change.

Nothing here starts or changes anything: only a person's command does.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import RLock

from msgspec.structs import replace

from inspector.access.restriction import require_whole
from inspector.config.server_change import Addition, Removal
from inspector.core.error import ConfigError
from inspector.core.events import MarketplaceSearched
from inspector.core.events.base import Actor
from inspector.core.marketplace import MarketplaceReport, Suggestion, brief, why_further
from inspector.core.ranking import Answer, Score, SearchReport
from inspector.core.redaction import SECRETS
from inspector.core.server import ServerSpec
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.text import closest
from inspector.core.tool import Tool
from inspector.features.marketplace.plugin import Plugin, concealed_values, server_entry, server_name
from inspector.features.marketplace.reader import Catalogs
from inspector.search.answer.retrieval import Live, Retrieval
from inspector.session.assembly import Ports
from inspector.session.server_change import INSTALL, NO_VALUES, REMOVE, ServerSource
from inspector.session.view import SessionView

# Enough to choose from, and short enough to stand below a search's result.
MOST_SUGGESTED = 3
ReadCatalogs = Callable[[Sequence[str]], Catalogs]
"""Reads the files that the settings name and what was imported; in a thread."""


# Each plugin is a server of an index of its own: its tools are documents, and so is its description with its
# category. A plugin is as similar as its best document, whose score explains it (section 10.1).


class PluginSearch:
    """Searches the plugins that are not installed. What is embedded is embedded after the first search."""

    def __init__(self, plugins: Sequence[Plugin], retrieval: Retrieval) -> None:
        """`retrieval` is empty, and searches nothing else."""
        self.plugins = tuple(plugins)
        self._offered: tuple[Plugin, ...] | None = None
        self._documents: Mapping[str, tuple[Plugin, str]] = {}
        self._retrieval = retrieval

    def use_settings(self, settings: DiscoverySettings) -> None:
        """Rank as tools are ranked from now on. Raises ToolsightError."""
        self._retrieval.use_settings(settings)

    def search(self, query: str, specs: Sequence[ServerSpec], limit: int, why: str = "") -> MarketplaceReport:
        """The plugins that may serve the query, best first; those of configured servers are left out.

        As with tools, nothing is suggested if it is too improbable that any fits. With `limit` 0 every plugin
        is ranked, whatever it fits.
        """
        started = self._retrieval.clock.monotonic()
        self.offer(specs)
        offered, installed = self._offered or (), len(self.plugins) - len(self._offered or ())
        if not offered or not query.strip():
            return MarketplaceReport(query, (), len(offered), installed, why)
        found, probability = self._ranked(query, limit)
        took = (self._retrieval.clock.monotonic() - started) * 1000
        return MarketplaceReport(query, found, len(offered), installed, why, took, probability)

    def _ranked(self, query: str, limit: int) -> tuple[tuple[Suggestion, ...], float | None]:
        rules, rankers = self._retrieval.rules, self._retrieval.rankers
        ranking = rankers.get(self._retrieval.ranker_name).rank(query)
        if limit and rules.answer(ranking) is not Answer.FOUND:
            return (), ranking.probability
        best: dict[str, Suggestion] = {}
        top = max(float(ranking.values.max()), 1e-9)
        for position in ranking.order():
            plugin, matched = self._documents[rankers.index.tools[position].id]
            known = ranking.fit if ranking.fit is not None else ranking.similarity
            similarity = float(known[position] if known is not None else ranking.values[position] / top)
            is_likely = ranking.fit is None or similarity >= rules.threshold
            if plugin.name in best or (limit and not (is_likely and ranking.kept[position])):
                continue
            similarity = min(max(similarity, 0.0), 1.0)
            best[plugin.name] = suggestion(plugin, similarity, matched, ranking.explain(position))
            if len(best) == limit:
                break
        return tuple(best.values()), ranking.probability

    def warm(self) -> None:
        """Index what is offered, and rank once: the first search takes seconds over thousands of plugins."""
        self._retrieval.rankers.get(self._retrieval.ranker_name).rank("warm")

    def offer(self, specs: Sequence[ServerSpec]) -> None:
        """Search what is not installed, and embed it from now on."""
        offered = tuple(one for one in self.plugins if not one.is_installed(specs))
        if offered == self._offered:
            return
        documents = [(tool, (plugin, name)) for plugin in offered for tool, name in _documents(plugin)]
        self._documents = {tool.id: about for tool, about in documents}
        self._offered = offered
        summaries = {plugin.name: plugin.description for plugin in offered}
        self._retrieval.update([tool for tool, _ in documents], summaries)

    async def settled(self) -> None:
        """Wait until what was searched is embedded as far as it can be."""
        await self._retrieval.settled()

    def close(self) -> None:
        """Embed nothing more."""
        self._retrieval.close()


def _documents(plugin: Plugin) -> list[tuple[Tool, str]]:
    """The plugin's tools and the plugin itself as tools of an index, each with the name of the tool."""
    tools = [(Tool(plugin.name, one.name, one.description), one.name) for one in plugin.tools]
    name = plugin.label
    while any(one.name == name for one in plugin.tools):
        name += "_plugin"
    about = ". ".join(filter(None, (plugin.description.rstrip(". "), plugin.category)))
    return [(Tool(plugin.name, name, about), ""), *tools]


# More plugins than this are indexed before anybody searches for them.
_MANY = 300


class Marketplace(ServerSource):
    """Reads the catalogs when it is first asked for them, and again when others are set."""

    def __init__(
        self,
        ports: Ports,
        catalogs: ReadCatalogs,
        live: Live,
        is_connecting: Callable[[], bool] = lambda: False,
    ) -> None:
        """While `is_connecting`, no search goes on here: a server that comes may serve it."""
        self._ports = ports
        self._read_catalogs = catalogs
        self._is_connecting = is_connecting
        self._live = live
        # The catalogs are read in a thread, unless somebody asks for them before.
        self._reading = RLock()
        self._read: Catalogs | None = None
        self._search: PluginSearch | None = None
        self._is_closed = False
        self._read_for: object = None

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """Every plugin of every catalog, installed or not."""
        return self._catalogs.plugins

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the catalogs, and with entries that were left out: for the administrator."""
        return self._catalogs.problems if self._live.sight.is_whole else ()

    @property
    def _catalogs(self) -> Catalogs:
        wanted = self._live.settings.marketplace.catalogs
        with self._reading:
            if self._read is None or self._read_for != wanted:
                self._read, self._read_for = self._read_catalogs(wanted), wanted
                self._drop_search()
            return self._read

    async def prepare(self) -> None:
        """Read the catalogs in a thread, and index many plugins there: no search waits for it then."""
        plugins = await asyncio.to_thread(lambda: self.plugins)
        if len(plugins) > _MANY and not self._is_closed:
            searching = self._searching
            searching.offer(self._specs)
            await asyncio.to_thread(searching.warm)

    def find(self, name: str) -> Plugin:
        """The plugin of that name, or the only one whose name ends so. Raises ConfigError."""
        named = [one for one in self.plugins if one.name == name] or [
            one for one in self.plugins if one.label == name
        ]
        if len(named) == 1:
            return named[0]
        near = [one.name for one in named] or closest(name, [one.name for one in self.plugins])
        hint = (
            f"Closest: {', '.join(near)}."
            if near
            else "Add a catalog to marketplace.catalogs, or import one."
        )
        what = f"{len(named)} plugins are named" if named else "the marketplace has no plugin"
        raise ConfigError(f"{what} '{name}'", hint=hint)

    def server_of(self, plugin: Plugin) -> str:
        """The configured server that is the plugin's; "" if it is not installed."""
        return next((spec.name for spec in self._specs if plugin.is_installed((spec,))), "")

    def look(self, query: str, limit: int = 0) -> MarketplaceReport:
        """Search without recording anything; without a limit every plugin is ranked."""
        return self._searching.search(query, self._specs, limit)

    def after(self, report: SearchReport, by: Actor) -> MarketplaceSearched | None:
        """The search that goes on here after one where no tool clearly fits; None if it does not."""
        why = why_further(report)
        if not why or self._is_connecting() or not self.plugins:
            return None
        found = self._searching.search(report.request.query, self._specs, MOST_SUGGESTED, why)
        return MarketplaceSearched(found, found.text, by)

    def plan(self, name: str, values: Mapping[str, str] = NO_VALUES) -> Addition:
        """What installing a plugin would start and change, with these values of its variables by name.

        Reads the configuration's file and writes nothing. Raises ToolsightError.
        """
        require_whole(self._live.sight, INSTALL)
        plugin, configuration = self.find(name), self._live.configuration
        if plugin.is_installed(configuration.servers):
            server = self.server_of(plugin)
            raise ConfigError(
                f"{plugin.name} is already installed as {server}", hint="Remove that server first."
            )
        entry = server_entry(plugin, values)
        taken = {spec.name for spec in configuration.servers} | set(configuration.disabled)
        becomes = self._ports.editor.with_server(configuration, server_name(plugin, taken), entry)
        *others, spec = becomes.configuration.servers
        if spec.lacks:
            raise ConfigError(f"{plugin.name} cannot be installed without {spec.lacks}", hint=spec.advice)
        spec = replace(spec, concealed=concealed_values(plugin, values, spec))
        SECRETS.learn(spec.secrets)
        becomes = replace(becomes, configuration=replace(becomes.configuration, servers=(*others, spec)))
        return Addition(plugin.name, plugin.version, spec, becomes, configuration)

    def removal(self, server: str) -> Removal:
        """What removing a server would change. Writes nothing. Raises ToolsightError."""
        require_whole(self._live.sight, REMOVE)
        configuration = self._live.configuration
        names = [spec.name for spec in configuration.servers]
        if server not in names:
            hint = f"Servers: {', '.join(closest(server, names) or tuple(names))}."
            raise ConfigError(f"there is no server '{server}'", hint=hint)
        becomes = self._ports.editor.without_server(configuration, server)
        return Removal(server, becomes, configuration)

    def use_settings(self, settings: Settings, changed: Sequence[str]) -> None:
        """Follow the settings; another embedding model begins anew. Raises ToolsightError."""
        if "discovery.embedding_model" in changed:
            self._drop_search()
        elif self._search is not None:
            self._search.use_settings(settings.discovery)

    async def settled(self) -> None:
        """Wait until what was searched here is embedded as far as it can be."""
        if self._search is not None:
            await self._search.settled()

    def close(self) -> None:
        """Embed nothing more."""
        self._is_closed = True
        self._drop_search()

    @property
    def _specs(self) -> tuple[ServerSpec, ...]:
        return self._live.configuration.servers

    @property
    def _searching(self) -> PluginSearch:
        plugins = self.plugins
        if self._search is None:
            self._search = PluginSearch(plugins, self._new_retrieval())
        return self._search

    def _new_retrieval(self) -> Retrieval:
        ports, settings = self._ports, self._live.settings.discovery
        return Retrieval(
            settings,
            ports.clock,
            embedder=ports.embedder_for(settings.embedding_model),
            static=ports.static,
            vectors=ports.vectors,
            report=lambda _: None,
        )

    def _drop_search(self) -> None:
        if self._search is not None:
            self._search.close()
        self._search = None


def marketplace_of(session: SessionView) -> Marketplace:
    """The marketplace of a session that was composed with it."""
    source = session.server_source
    if not isinstance(source, Marketplace):
        raise ConfigError("this session has no marketplace")
    return source


def with_marketplace(ports: Ports, catalogs: ReadCatalogs) -> Ports:
    """The ports with a marketplace of these catalogs."""
    return replace(ports, source_for=partial(Marketplace, ports, catalogs))


def suggestion(plugin: Plugin, similarity: float, matched: str, score: Score) -> Suggestion:
    """What is suggested of a plugin."""
    return Suggestion(
        plugin.name,
        brief(plugin.description),
        plugin.category,
        plugin.price,
        plugin.rating,
        plugin.publisher,
        plugin.origin,
        plugin.version,
        tuple(tool.name for tool in plugin.tools),
        similarity,
        matched,
        score,
    )

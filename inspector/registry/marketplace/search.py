"""Searches plugins as tools are searched: by words and by the meaning of what their publishers say.

Each plugin is a server of an index of its own: its tools are documents, and so is its description with its
category. A plugin is as similar as its best document, whose score explains it (section 10.1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from inspector.core.marketplace import MarketplaceReport, Suggestion, suggestion
from inspector.core.plugin import Plugin
from inspector.core.ports import Clock
from inspector.core.ranking import Answer
from inspector.core.server import ServerSpec
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.ports import Embedder, StaticEmbedder, VectorStore
from inspector.search.retrieval import Retrieval


class PluginSearch:
    """Searches the plugins that are not installed. What is embedded is embedded after the first search."""

    def __init__(
        self,
        plugins: Sequence[Plugin],
        settings: DiscoverySettings,
        clock: Clock,
        *,
        embedder: Embedder | None,
        static: StaticEmbedder | None,
        vectors: VectorStore,
    ) -> None:
        self.plugins = tuple(plugins)
        self._clock = clock
        self._offered: tuple[Plugin, ...] | None = None
        self._documents: Mapping[str, tuple[Plugin, str]] = {}
        self._retrieval = Retrieval(
            replace(settings, learn=False),
            clock,
            embedder=embedder,
            static=static,
            vectors=vectors,
            report=lambda _: None,
        )

    def use_settings(self, settings: DiscoverySettings) -> None:
        """Rank as tools are ranked from now on. Raises ToolsightError."""
        self._retrieval.use_settings(replace(settings, learn=False))

    def search(self, query: str, specs: Sequence[ServerSpec], limit: int, why: str = "") -> MarketplaceReport:
        """The plugins that may serve the query, best first; those of configured servers are left out.

        As with tools, nothing is suggested if it is too improbable that any fits. With `limit` 0 every plugin
        is ranked, whatever it fits.
        """
        started = self._clock.monotonic()
        self.offer(specs)
        offered, installed = self._offered or (), len(self.plugins) - len(self._offered or ())
        if not offered or not query.strip():
            return MarketplaceReport(query, (), len(offered), installed, why)
        found, probability = self._ranked(query, limit)
        took = (self._clock.monotonic() - started) * 1000
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

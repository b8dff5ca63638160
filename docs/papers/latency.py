"""Latency of retrieval (semantic tool discovery, section 11.2, Table 2)."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from docs.papers.report import Section, Table
from docs.papers.source import NamedCatalog, Source, Steps, StoredEmbedder, indexed
from inspector.core.ranking import SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.features.marketplace.marketplace import MOST_SUGGESTED, PluginSearch
from inspector.features.marketplace.plugin import Plugin
from inspector.features.registry.library import embed_missing
from inspector.features.registry.source import RegistryTier
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.search.answer.retrieval import Retrieval
from inspector.search.answer.search import SearchRules, ToolSearch
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers

_LOOK_S = 0.2


def synthetic_plugins(plugins: Sequence[Plugin], number: int) -> tuple[Plugin, ...]:
    """So many entries without lists of tools, as most are in public registries.

    What each does is what two tools of the given plugins do, every time another two as long as there are any.
    """
    texts = [tool.description for plugin in plugins for tool in plugin.tools if tool.description]
    if not texts:
        return ()
    made = []
    for at in range(number):
        base, first = plugins[at % len(plugins)], at % len(texts)
        second = (first + 1 + at // len(texts)) % len(texts)
        about = f"{texts[first]} {texts[second]}"
        made.append(replace(base, name=f"synthetic/{base.label}-{at}", description=about, tools=()))
    return tuple(made)


@contextmanager
def opened_market(plugins: Sequence[Plugin], source: Source, steps: Steps) -> Iterator[PluginSearch]:
    """A search of these plugins with the default settings, embedded. Raises ToolsightError and Stopped."""
    with asyncio.Runner() as runner:
        retrieval = Retrieval(
            DiscoverySettings(),
            source.clock,
            embedder=source.embedder,
            static=source.static,
            vectors=source.vectors,
            report=lambda _: None,
        )
        search = PluginSearch(plugins, retrieval)

        async def embed() -> None:
            search.offer(())
            settled = asyncio.create_task(search.settled())
            while not settled.done():
                steps(f"marketplace: index of {len(plugins)} entries")
                await asyncio.wait([settled], timeout=_LOOK_S)
            settled.result()

        try:
            runner.run(embed())
            search.warm()
            yield search
        finally:
            search.close()


class Latency(Struct, frozen=True):
    """The median and 95th percentile of `queries` searches, in milliseconds."""

    median: float
    p95: float
    queries: int


def timed(
    name: str, ask: Callable[[str], object], queries: Sequence[str], source: Source, steps: Steps
) -> Latency:
    """The latency of asking each query once, after another one. Raises what `ask` raises, and Stopped."""
    ask("warm up")
    seconds = []
    for done, query in enumerate(queries):
        steps(f"latency of {name}", done, len(queries))
        started = source.clock.monotonic()
        ask(query)
        seconds.append(source.clock.monotonic() - started)
    times = np.array(seconds) * 1000
    return Latency(float(np.median(times)), float(np.percentile(times, 95)), len(queries))


def milliseconds(value: float) -> str:
    """A number of milliseconds: two decimals below one millisecond, one above."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"


QUERIES = 200
SEARCH = "search_tools, not in the paper"
DATABASE, MARKETPLACE, END_TO_END = "database (vector)", "marketplace (vector)", "end to end"
# Table 2 of the paper: median and 95th percentile, ms.
PUBLISHED: Mapping[str, tuple[float, float]] = {
    "expert (keyword)": (2, 5),
    "system (keyword)": (3, 8),
    DATABASE: (45, 120),
    MARKETPLACE: (60, 180),
    END_TO_END: (80, 250),
}
# What the third tier is measured on, if it can be.
BACK_ENDS = ("SQLite", "PostgreSQL")
# Our ranker for each tier of words, and those that the paper has no tier for.
TIERS: Mapping[str, str] = {
    "expert (keyword)": "keyword-expert",
    "system (keyword)": "keyword-system",
    "vectors in memory, not in the paper": "dense",
    "BM25, not in the paper": "bm25",
}
_DEPTH = 5


class _Beyond(Struct, frozen=True):
    """What is searched beyond the connected servers; the marketplace's rows are the same for all catalogs."""

    registries: Mapping[str, ToolRegistry]
    market: PluginSearch
    marketplaces: tuple[tuple[str, ...], ...]


def latency(source: Source, steps: Steps) -> Section:
    """Table 2 for the demo's catalog and the largest other one. Raises ToolsightError and Stopped."""
    catalogs = [source.demo(), *_largest(source.others())]
    queries = asked(source)
    plugins = tuple(source.plugins())
    with ExitStack() as opened:
        registries = opened.enter_context(source.registries())
        market = opened.enter_context(opened_market(plugins, source, steps))
        beyond = _Beyond(registries, market, tuple(_marketplaces(market, queries, source, steps)))
        tables = tuple(_table(catalog, queries, beyond, source, steps) for catalog in catalogs)
    return Section(
        "latency",
        "Latency of retrieval",
        "semantic tool discovery, section 11.2, Table 2",
        f"milliseconds per search on this machine ({len(queries)} different queries per row; the packaged "
        "encoder on the CPU). A vector tier's time includes embedding the query. The database tier is the "
        "tool registry with this catalog alone: in SQLite and, where TOOLSIGHT_DATABASE_URL names a server, "
        "in PostgreSQL with pgvector; docs/papers/registry.md has 100,000 and 1,000,000 tools. The "
        "marketplace is the demo's catalog, and a synthetic one made of the texts of its tools, searched as "
        "the app does. "
        "“search_tools” is a whole call with the default ranker: ranking, the report with every score, and "
        "the text for the model. “End to end” is that, then the registry in SQLite, then the demo's "
        "marketplace, whatever was found before; the query is embedded for the tools and again for the "
        "marketplace. Times depend on the machine: compare their order, not their digits. The paper does not "
        "name the catalog, its size, the encoder or the machine",
        tables,
    )


def asked(source: Source) -> tuple[str, ...]:
    """The queries of the demo's requests and searches, each once."""
    cases = (*source.demo().cases, *source.searches())
    return tuple(dict.fromkeys(case.query for case in cases))


def measured_ranker(
    name: str, index: ToolIndex, queries: Sequence[str], source: Source, steps: Steps
) -> Latency:
    """The latency of ranking every tool and taking the first five. Raises ToolsightError and Stopped."""
    ranker = _rankers(index, source).get(name)

    def ask(query: str) -> object:
        return ranker.rank(query).order(_DEPTH)

    return timed(name, ask, queries, source, steps)


def measured_search(
    index: ToolIndex,
    queries: Sequence[str],
    source: Source,
    steps: Steps,
    *,
    registry: ToolRegistry | None = None,
    market: PluginSearch | None = None,
) -> Latency:
    """The latency of a whole search with its answer, and of what is searched after it.

    Raises ToolsightError and Stopped.
    """
    settings, rankers = DiscoverySettings(), _rankers(index, source)
    rules = SearchRules.of(settings)
    search = ToolSearch(index, rankers.names, rankers.get(settings.ranker), rules, source.clock)

    semantics, floor = rankers.index.semantics, settings.iso_threshold
    tier = RegistryTier(lambda: registry, tuple, lambda _: True) if registry is not None else None

    def ask(query: str) -> object:
        answer = search.run(SearchRequest(query))
        if tier is not None and semantics is not None:
            answer = tier.added(answer, semantics, limit=rules.limit, floor=floor)
        return answer, market.search(query, (), MOST_SUGGESTED) if market else None

    return timed(END_TO_END if market else SEARCH, ask, queries, source, steps)


def measured_market(
    name: str, market: PluginSearch, queries: Sequence[str], source: Source, steps: Steps
) -> Latency:
    """The latency of a search for suggestions, for which the query is embedded anew.

    Raises ToolsightError and Stopped.
    """

    def ask(query: str) -> object:
        return market.search(query, (), MOST_SUGGESTED)

    return timed(name, ask, queries, source, steps)


def measured_registry(
    name: str,
    registry: ToolRegistry,
    catalog: NamedCatalog,
    queries: Sequence[str],
    source: Source,
    steps: Steps,
) -> Latency | None:
    """The latency of embedding a query and asking a registry of this catalog alone for the nearest five.

    None without an embedder. Raises ToolsightError and Stopped.
    """
    embedder = source.embedder
    if embedder is None:
        return None
    for origin in registry.origins():
        registry.sync(origin, (), at=0.0)
    registry.sync(catalog.name, catalog.tools, at=0.0)
    stored = StoredEmbedder(embedder, source.vectors)
    embed_missing(registry, stored, steps.report, steps.stopped)

    def ask(query: str) -> object:
        return registry.nearest(embedder.name, embedder.embed([query])[0], _DEPTH)

    return timed(name, ask, queries, source, steps)


def _largest(catalogs: Sequence[NamedCatalog]) -> list[NamedCatalog]:
    return [max(catalogs, key=lambda catalog: len(catalog.tools))] if catalogs else []


def _table(
    catalog: NamedCatalog, queries: Sequence[str], beyond: "_Beyond", source: Source, steps: Steps
) -> Table:
    index = indexed(catalog, source, steps)
    headers = ("tier", "ranker", "median ms, paper", "median ms", "p95 ms, paper", "p95 ms")
    words = _rows(index, queries, source, steps)
    third = tuple(_databases(catalog, queries, beyond.registries, source, steps))
    rows = (*words, *third, *beyond.marketplaces, *_whole(index, queries, beyond, source, steps))
    return Table(f"{catalog.name}, {len(catalog.tools)} tools", headers, rows, frozenset(range(2, 6)))


def _rows(
    index: ToolIndex, queries: Sequence[str], source: Source, steps: Steps
) -> Iterator[tuple[str, ...]]:
    for tier, ranker in TIERS.items():
        yield _row(tier, ranker, measured_ranker(ranker, index, queries, source, steps))


def _databases(
    catalog: NamedCatalog,
    queries: Sequence[str],
    registries: Mapping[str, ToolRegistry],
    source: Source,
    steps: Steps,
) -> Iterator[tuple[str, ...]]:
    for name in BACK_ENDS:
        what = f"registry in {name}"
        if name in registries:
            found = measured_registry(what, registries[name], catalog, queries, source, steps)
            yield _row(DATABASE, what, found)
        else:
            yield _row(DATABASE, f"{what}: no server named", None)


def _marketplaces(
    market: PluginSearch, queries: Sequence[str], source: Source, steps: Steps
) -> Iterator[tuple[str, ...]]:
    ranker, plugins = DiscoverySettings().ranker, market.plugins
    name = f"{ranker}, {len(plugins)} entries"
    yield _row(MARKETPLACE, name, measured_market(name, market, queries, source, steps))
    name = f"{ranker}, {source.synthetic:,} synthetic entries"
    with opened_market(synthetic_plugins(plugins, source.synthetic), source, steps) as large:
        yield _row(MARKETPLACE, name, measured_market(name, large, queries, source, steps))


def _whole(
    index: ToolIndex, queries: Sequence[str], beyond: "_Beyond", source: Source, steps: Steps
) -> Iterator[tuple[str, ...]]:
    ranker = DiscoverySettings().ranker
    yield _row(SEARCH, ranker, measured_search(index, queries, source, steps))
    registry, market = beyond.registries.get(BACK_ENDS[0]), beyond.market
    found = measured_search(index, queries, source, steps, registry=registry, market=market)
    yield _row(END_TO_END, f"{ranker}, registry, marketplace", found)


def _row(tier: str, ranker: str, latency: Latency | None) -> tuple[str, ...]:
    median, p95 = (f"{value:g}" for value in PUBLISHED[tier]) if tier in PUBLISHED else ("–", "–")
    if latency is None:
        return tier, ranker, median, "–", p95, "–"
    return tier, ranker, median, milliseconds(latency.median), p95, milliseconds(latency.p95)


def _rankers(index: ToolIndex, source: Source) -> CatalogRankers:
    """Rankers without cached queries: one that found the previous ranker's vectors would look fast."""
    fresh = ToolIndex(index.tools, summaries=index.summaries, semantics=source.semantics(), before=index)
    return CatalogRankers(fresh, DiscoverySettings())

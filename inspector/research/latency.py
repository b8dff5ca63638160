"""Retrieval latency by tier (semantic tool discovery, section 11.2, Table 2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from inspector.domain.ranking import SearchRequest
from inspector.domain.report import Section, Table
from inspector.domain.settings import DiscoverySettings
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.rules import SearchRules
from inspector.engine.discovery.search import ToolSearch
from inspector.engine.registry.embedding import embed_missing
from inspector.engine.registry.port import ToolRegistry
from inspector.research.source import NamedCatalog, Source, Steps, indexed
from inspector.research.stored_embedder import StoredEmbedder

QUERIES = 200
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


@dataclass(frozen=True, slots=True)
class Latency:
    """The median and 95th percentile of `queries` searches, in milliseconds."""

    median: float
    p95: float
    queries: int


def latency(source: Source, steps: Steps) -> Section:
    """Table 2 for the demo's catalog and the largest other one. Raises ToolsightError and Stopped."""
    catalogs = [source.demo(), *_largest(source.others())]
    queries = asked(source)
    with source.registries() as registries:
        tables = tuple(_table(catalog, queries, registries, source, steps) for catalog in catalogs)
    return Section(
        "latency",
        "Latency of retrieval",
        "semantic tool discovery, section 11.2, Table 2",
        f"milliseconds per search on this machine ({len(queries)} different queries per row; the packaged "
        "encoder on the CPU). A vector tier's time includes embedding the query. The database tier is the "
        "tool registry with this catalog alone: in SQLite and, where TOOLSIGHT_DATABASE_URL names a server, "
        "in PostgreSQL with pgvector; docs/registry.md has 100,000 and 1,000,000 tools. “End to end” is a "
        "whole `search_tools` call with the default ranker: ranking, the report with every score, and the "
        "text for the model. Times depend on the machine: compare their order, not their digits. The paper "
        "does not name the catalog, its size, the encoder or the machine",
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

    return _timed(name, ask, queries, source, steps)


def measured_search(index: ToolIndex, queries: Sequence[str], source: Source, steps: Steps) -> Latency:
    """The latency of a whole search with its answer. Raises ToolsightError and Stopped."""
    settings, rankers = DiscoverySettings(), _rankers(index, source)
    rules = SearchRules(settings.max_search_results, settings.min_probability, settings.min_tool_probability)
    search = ToolSearch(index, rankers.names, rankers.get(settings.ranker), rules, source.clock)

    def ask(query: str) -> object:
        return search.run(SearchRequest(query))

    return _timed(END_TO_END, ask, queries, source, steps)


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

    return _timed(name, ask, queries, source, steps)


def _largest(catalogs: Sequence[NamedCatalog]) -> list[NamedCatalog]:
    return [max(catalogs, key=lambda catalog: len(catalog.tools))] if catalogs else []


def _table(
    catalog: NamedCatalog,
    queries: Sequence[str],
    registries: Mapping[str, ToolRegistry],
    source: Source,
    steps: Steps,
) -> Table:
    index = indexed(catalog, source, steps)
    headers = ("tier", "ranker", "median ms, paper", "median ms", "p95 ms, paper", "p95 ms")
    words = _rows(index, queries, source, steps)
    third = _databases(catalog, queries, registries, source, steps)
    rows = (*words, *third, _marketplace(), _whole(index, queries, source, steps))
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


def _marketplace() -> tuple[str, ...]:
    return _row(MARKETPLACE, "not built", None)


def _whole(index: ToolIndex, queries: Sequence[str], source: Source, steps: Steps) -> tuple[str, ...]:
    return _row(END_TO_END, DiscoverySettings().ranker, measured_search(index, queries, source, steps))


def _row(tier: str, ranker: str, latency: Latency | None) -> tuple[str, ...]:
    median, p95 = (f"{value:g}" for value in PUBLISHED[tier]) if tier in PUBLISHED else ("–", "–")
    if latency is None:
        return tier, ranker, median, "–", p95, "–"
    return tier, ranker, median, milliseconds(latency.median), p95, milliseconds(latency.p95)


def milliseconds(value: float) -> str:
    """A number of milliseconds: two decimals below one millisecond, one above."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"


def _rankers(index: ToolIndex, source: Source) -> CatalogRankers:
    """Rankers without cached queries: one that found the previous ranker's vectors would look fast."""
    fresh = ToolIndex(index.tools, summaries=index.summaries, semantics=source.semantics(), before=index)
    return CatalogRankers(fresh, DiscoverySettings())


def _timed(
    name: str, ask: Callable[[str], object], queries: Sequence[str], source: Source, steps: Steps
) -> Latency:
    ask("warm up")
    seconds = []
    for done, query in enumerate(queries):
        steps(f"latency of {name}", done, len(queries))
        started = source.clock.monotonic()
        ask(query)
        seconds.append(source.clock.monotonic() - started)
    times = np.array(seconds) * 1000
    return Latency(float(np.median(times)), float(np.percentile(times, 95)), len(queries))

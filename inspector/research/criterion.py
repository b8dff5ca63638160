"""The product's success criteria (PRD section 6), each beside its measurement."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.access.reach import EvalCase
from inspector.config.configuration import Configuration
from inspector.core.events import Record
from inspector.core.fold import fold
from inspector.core.message import UserMessage
from inspector.core.number import percent, percent_down
from inspector.core.ports import Clock
from inspector.core.ranking import SearchRequest
from inspector.core.report import Section, Table
from inspector.core.server import ServerSpec
from inspector.core.settings import DiscoverySettings, GateSettings, Settings
from inspector.core.tool import definition
from inspector.loop.catalog import build_catalog
from inspector.loop.gate import Gate
from inspector.measure.bootstrap import Estimate, clusters, share_estimate
from inspector.research.catalog_size import SIZES, part_of
from inspector.research.first_call import first_call, meter_of
from inspector.research.latency import Latency, asked, measured_ranker, milliseconds
from inspector.research.source import NamedCatalog, Source, Steps, indexed, recorded
from inspector.schema.json_value import compact
from inspector.search.embedding import BATCH
from inspector.search.index import ToolIndex
from inspector.search.ports import Embedder
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rules import SearchRules
from inspector.search.search import ToolSearch
from inspector.search.vocabulary import terms
from inspector.tokens.delivery import DefinitionLoader, tools_array
from inspector.tokens.measure import BudgetMeter

Bound = Callable[[str], Sequence[str]]
"""The ids of the tools that a request with this text binds, best first."""


def gate_bound(rankers: CatalogRankers, clock: Clock) -> tuple[str, Bound]:
    """The gate's name and what it binds."""
    gate, settings = Gate(clock), GateSettings()

    def bound(query: str) -> Sequence[str]:
        messages = [UserMessage(query)]
        return gate.apply(rankers, messages, settings, pinned=(), unmet={}, tokens=len).active

    return f"gate: {settings.ranker}, {settings.threshold:g}, at most {settings.top_k}", bound


def search_bound(rankers: CatalogRankers, ranker: str, clock: Clock) -> tuple[str, Bound]:
    """The name of a search with this ranker and what it binds."""
    settings = rankers.settings
    rules = SearchRules.of(settings)
    search = ToolSearch(rankers.index, rankers.names, rankers.get(ranker), rules, clock)

    def bound(query: str) -> Sequence[str]:
        answer = search.run(SearchRequest(query), misses=0)
        return [tool.id for tool in answer.to_load]

    return f"search: {ranker}, at most {settings.max_search_results}", bound


Matrix = NDArray[np.float64]


class KnownVectors:
    """An Embedder with a memory: it embeds no text twice."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._known: dict[str, Sequence[float]] = {}

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        self._embedder.prepare(progress, cancelled)

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One unit vector per text, in order. Raises ModelError."""
        self.learn(texts)
        return [self._known[text] for text in texts]

    def words(self) -> Sequence[str]:
        """See `Embedder`."""
        return self._embedder.words()

    def learn(
        self,
        texts: Iterable[str],
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Embed the texts that are not known yet; false if it was stopped early. Raises ModelError."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(missing), BATCH):
            if stopped():
                return False
            batch = missing[start : start + BATCH]
            self._known.update(zip(batch, self._embedder.embed(batch), strict=True))
            progress(start + len(batch), len(missing))
        return True


@dataclass(frozen=True)
class Ranked:
    """For each text, the tools from the closest down, and their similarities in that order."""

    by_text: Mapping[str, tuple[Sequence[str], Sequence[float]]]

    def active(
        self, text: str, threshold: float, top_k: int, closed: frozenset[str] = frozenset()
    ) -> list[str]:
        """The first `top_k` tools of at least `threshold` that are not closed (section 4.2, equation 7)."""
        active: list[str] = []
        for tool_id, score in zip(*self.by_text[text], strict=True):
            if score < threshold or len(active) == top_k:
                break
            if tool_id not in closed:
                active.append(tool_id)
        return active


def ranked(scores: Matrix, texts: Sequence[str], ids: Sequence[str]) -> Ranked:
    """Rank the tools by similarities of shape (texts, tools); ties keep the tools' order."""
    orders = np.argsort(-scores, axis=1, kind="stable")
    return Ranked(
        {
            text: ([ids[int(i)] for i in order], row[order].tolist())
            for text, order, row in zip(texts, orders, scores, strict=True)
        }
    )


def cosines(embedder: Embedder, texts: Sequence[str], passages: Sequence[str]) -> Matrix:
    """The cosine of every text with every passage, shape (texts, passages). Raises ModelError."""
    first, second = (np.asarray(embedder.embed(side), np.float64) for side in (texts, passages))
    return np.asarray(first @ second.T)


def tf_idf(texts: Sequence[str], passages: Sequence[str]) -> Matrix:
    """Cosines of TF-IDF vectors, shape (texts, passages): tf (1 + ln N/df), df over the passages."""
    split = [Counter(terms(passage)) for passage in passages]
    frequency = Counter(term for counts in split for term in counts)
    column = {term: number for number, term in enumerate(frequency)}
    weights = np.array([1 + math.log(len(passages) / count) for count in frequency.values()])
    asked = _unit([Counter(terms(text)) for text in texts], column, weights)
    return np.asarray(asked @ _unit(split, column, weights).T)


def _unit(rows: Sequence[Counter[str]], column: Mapping[str, int], weights: Matrix) -> Matrix:
    """Unit rows of weighted counts; a row without a known term is zero."""
    table = np.zeros((len(rows), len(column)))
    for row, counts in zip(table, rows, strict=True):
        for term, count in counts.items():
            if term in column:
                row[column[term]] = count * weights[column[term]]
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1.0)


DEFERRED, CUT, FOUND, MILLISECONDS = 10, 0.5, 0.95, 10.0
_BM25 = ("bm25", "prd-bm25")

Row = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """Of `total` requests, how many found all the tools they need, and how many at least one.

    `share` is that of the first, with its interval; None without requests.
    """

    whole: int
    some: int
    total: int
    share: Estimate | None = None


def criteria(source: Source, steps: Steps) -> Section:
    """The section with one row per criterion. Raises ToolsightError and Stopped."""
    demo, others = source.demo(), source.others()
    meter = meter_of(source.counter)
    index = indexed(demo, source, steps)
    rows = [
        _reduction([demo, *others], meter, steps),
        *_search_accuracy(demo, index, source, steps),
        _unchanged([demo, *others], meter),
        *_latencies(index, source, steps),
        (
            "works across providers: OpenAI, OpenRouter, Anthropic",
            "tested with all three",
            "not measured by this command, which calls no provider. The test suite talks to stub servers "
            "with the wire formats of OpenAI, Anthropic and Ollama; OpenRouter uses the same adapter, and "
            "only its model names are tested. No live provider was called",
            "in part",
        ),
    ]
    return Section(
        "criteria",
        "Success criteria",
        "PRD section 6",
        "each criterion on the demo's catalog"
        + (f" and {len(others)} of other people's" if others else "; other people's were not given")
        + ", with the default settings",
        (Table("Criteria", ("criterion", "target", "measured", "met"), tuple(rows)),),
        recorded=recorded("the share of the tools that agents called which their searches returned"),
    )


def found_tools(
    cases: Sequence[EvalCase], index: ToolIndex, source: Source, steps: Steps, ranker: str
) -> Found:
    """What one search finds for each possible request. Raises ToolsightError and Stopped."""
    settings = DiscoverySettings()
    rankers = CatalogRankers(index, settings)
    rules = SearchRules.of(settings)
    search = ToolSearch(index, rankers.names, rankers.get(ranker), rules, source.clock)
    possible = [case for case in cases if case.is_possible]
    whole: list[bool] = []
    some = 0
    for done, case in enumerate(possible):
        steps(f"search accuracy of {ranker}", done, len(possible))
        results = {tool.id for tool in search.run(SearchRequest(case.query), misses=0).to_load}
        whole.append(all(group & results for group in case.relevant))
        some += any(group & results for group in case.relevant)
    share = share_estimate(whole, clusters(possible)) if whole else None
    return Found(sum(whole), some, len(possible), share)


def sent_without_discovery(catalog: NamedCatalog, meter: BudgetMeter) -> tuple[str, str]:
    """The `tools` array with discovery off and the one of static binding, both as they are sent."""
    servers = tuple(
        ServerSpec(name, name, defer_loading=True)
        for name in dict.fromkeys(tool.server for tool in catalog.tools)
    )
    settings = Settings(discovery=DiscoverySettings(enabled=False))
    configuration = Configuration("off", servers, {})
    built = build_catalog(
        catalog.tools, configuration, settings, toolset="", summaries=catalog.summaries, meter=meter
    )
    state = fold([Record("off", 1, 0.0, built.event)])
    loader = DefinitionLoader(built.catalog, len(catalog.tools) or 1)
    sent = tools_array(built.catalog, state, settings.binding.delivery, loader)
    return compact(sent), compact([definition(tool) for tool in catalog.tools])


def _reduction(catalogs: Sequence[NamedCatalog], meter: BudgetMeter, steps: Steps) -> Row:
    """The smallest cut among all catalogs, and parts of catalogs, with enough deferred tools."""
    parts = [part_of(one, size) for one in catalogs for size in SIZES if size < len(one.tools)]
    parts += [one for one in catalogs if len(one.tools) >= DEFERRED]
    worst, name = 1.0, "no catalog"
    for part in parts:
        steps("token reduction")
        found = first_call(part.tools, part.summaries, meter)
        if found.cut <= worst:
            worst, name = found.cut, part.name
    return (
        f"token reduction of the first call, {DEFERRED} or more deferred tools",
        f"over {percent(CUT)}",
        f"at least {percent_down(worst)}: the smallest of {len(parts)} catalogs ({name})",
        _met(bool(parts) and worst > CUT),
    )


def _search_accuracy(demo: NamedCatalog, index: ToolIndex, source: Source, steps: Steps) -> Iterator[Row]:
    limit = DiscoverySettings().max_search_results
    sets = (("what people ask", demo.cases), ("what an agent types into a search", source.searches()))
    for whose, cases in sets:
        for ranker in (DiscoverySettings().ranker, "bm25"):
            found = found_tools(cases, index, source, steps, ranker)
            share = found.share.mean if found.share is not None else 0.0
            yield (
                f"search accuracy, {whose}, {ranker}",
                f"over {percent(FOUND)} of test cases (with an LLM)",
                f"{percent_down(share)} ({found.whole} of {found.total}{_interval(found.share)}) have every "
                "tool they need "
                f"among the {limit} results of one search, {found.some} have at least one of them. No LLM "
                "was used, and there was no second search",
                _met(share > FOUND),
            )


def _interval(value: Estimate | None) -> str:
    """The 95 % interval of a share, clustered by tool."""
    return "" if value is None else f", 95 % interval {percent(value.low, 1)} to {percent(value.high, 1)}"


def _unchanged(catalogs: Sequence[NamedCatalog], meter: BudgetMeter) -> Row:
    differing = [one.name for one in catalogs if len(set(sent_without_discovery(one, meter))) > 1]
    measured = (
        f"`tools` is byte for byte the same as with static binding, for {len(catalogs)} of "
        f"{len(catalogs)} catalogs"
    )
    if differing:
        measured = f"`tools` differs from static binding for {', '.join(differing)}"
    return "no regression: discovery off", "zero changes", measured, _met(not differing)


def _latencies(index: ToolIndex, source: Source, steps: Steps) -> Iterator[Row]:
    queries = asked(source)
    for ranker in _BM25:
        found = measured_ranker(ranker, index, queries, source, steps)
        yield _latency_row(ranker, found, len(index.tools))


def _latency_row(ranker: str, latency: Latency, tools: int) -> Row:
    return (
        f"latency of a search, {ranker}",
        f"below {MILLISECONDS:g} ms",
        f"{milliseconds(latency.median)} ms in the median, {milliseconds(latency.p95)} ms at p95, "
        f"{tools} tools, {latency.queries} queries",
        _met(latency.p95 < MILLISECONDS),
    )


def _met(is_met: bool) -> str:
    return "✓ yes" if is_met else "✕ no"

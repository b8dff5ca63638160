"""The product's success criteria (PRD section 6), each beside its measurement."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from statistics import mean, median

from msgspec import Struct

from docs.papers.method import Quality
from docs.papers.report import Table
from docs.papers.source import NamedCatalog, Source, Steps, columns, indexed
from inspector.access.reach import EvalCase
from inspector.core.message import UserMessage
from inspector.core.ports import Clock
from inspector.core.ranking import SearchRequest
from inspector.core.settings import DiscoverySettings, GateSettings, ManifestSettings
from inspector.core.tool import SUMMARY_TOKENS, Tool, definition, summary_pool
from inspector.loop.gate import Gate
from inspector.search.answer.answer_text import found_text
from inspector.search.answer.metric import Estimate, clusters, estimate, p_value, ratio_estimate
from inspector.search.answer.search import SearchRules, ToolSearch
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.tokens.manifest import entries, fitted_manifest, search_tools_definition
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


# Requests that people wrote for real catalogs: what a search or a gate gives for each, and what is right.
#
# The labels say which tools a request needs. An agent is taken to call each of them that it was given, and no
# other: what is found is measured, not how a model chooses.
EVERY_TOOL = "every tool"


class RequestSet(Struct, frozen=True):
    """Labelled requests over one catalog."""

    name: str
    catalog: NamedCatalog
    cases: tuple[EvalCase, ...]


class Answers(Struct, frozen=True, dict=True):
    """The ids of the tools that one method gives for each of these requests, in their order."""

    method: str
    cases: tuple[EvalCase, ...]
    given: tuple[frozenset[str], ...]

    @property
    def discovered(self) -> int:
        """How many tools were given, over all requests."""
        return sum(map(len, self.given))

    @property
    def used(self) -> int:
        """How many of them a request needed; of tools that can replace each other, one."""
        return sum(map(used, self.cases, self.given))

    @cached_property
    def share(self) -> Estimate | None:
        """Used over discovered (equation 4 over all requests); None if nothing was discovered."""
        return ratio_estimate(
            (cluster, float(used(case, given)), float(len(given)))
            for cluster, case, given in zip(clusters(self.cases), self.cases, self.given, strict=True)
        )

    @property
    def median(self) -> float | None:
        """The median of equation 4 over the requests that discovered something; None if none did."""
        shares = [
            used(case, given) / len(given)
            for case, given in zip(self.cases, self.given, strict=True)
            if given
        ]
        return median(shares) if shares else None

    @cached_property
    def qualities(self) -> tuple[Quality, ...]:
        """Precision, recall and F1 of each request that a tool fits."""
        pairs = zip(self.cases, self.given, strict=True)
        return tuple(labelled_quality(case, given) for case, given in pairs if case.is_possible)

    @property
    def f1(self) -> Estimate:
        """The mean F1 over requests that a tool fits. Raises ValueError without any."""
        return estimate(
            [one.f1 for one in self.qualities], clusters([c for c in self.cases if c.is_possible])
        )

    @property
    def tools_given(self) -> float:
        """Tools given for a request that some tool fits, in the mean. Raises StatisticsError without any."""
        pairs = zip(self.cases, self.given, strict=True)
        return mean(len(given) for case, given in pairs if case.is_possible)


def used(case: EvalCase, given: frozenset[str]) -> int:
    """How many of the tools that the request needs were given."""
    return sum(bool(group & given) for group in case.relevant)


def labelled_quality(case: EvalCase, given: frozenset[str]) -> Quality:
    """The quality of what was given; all 0 if nothing was. Raises ZeroDivisionError if no tool fits."""
    right = used(case, given)
    return Quality(
        right / len(given) if given else 0.0,
        right / len(case.relevant),
        2 * right / (len(given) + len(case.relevant)),
    )


def request_sets(source: Source) -> tuple[RequestSet, ...]:
    """Every set of labelled requests over the demo's catalog and other people's."""
    demo = source.demo()
    sets = [
        RequestSet("demo, what people ask", demo, tuple(demo.cases)),
        RequestSet("demo, what an agent types", demo, tuple(source.searches())),
        *(RequestSet(one.name, one, one.cases) for one in source.others()),
    ]
    return tuple(one for one in sets if one.cases)


def index_of(one: RequestSet, source: Source, steps: Steps, *, lined: bool = False) -> ToolIndex:
    """The index of a set's catalog. Raises ModelError and Stopped."""
    return indexed(one.catalog, source, steps, lined=lined)


def searched(one: RequestSet, index: ToolIndex, clock: Clock, steps: Steps) -> Answers:
    """What one search with the default settings loads for each request. Raises Stopped."""
    settings = DiscoverySettings()
    return _answers(one, search_bound(CatalogRankers(index, settings), settings.ranker, clock), steps)


def gated(one: RequestSet, index: ToolIndex, clock: Clock, steps: Steps) -> Answers:
    """What the gate binds for each request; the index is `lined`. Raises Stopped."""
    return _answers(one, gate_bound(CatalogRankers(index, DiscoverySettings()), clock), steps)


def everything(one: RequestSet) -> Answers:
    """Static binding."""
    tools = frozenset(tool.id for tool in one.catalog.tools)
    return Answers(EVERY_TOOL, one.cases, (tools,) * len(one.cases))


def _answers(one: RequestSet, method: tuple[str, Bound], steps: Steps) -> Answers:
    name, bound = method
    return Answers(name, one.cases, tuple(_each(one.name, name, one.cases, bound, steps)))


def _each(
    whose: str, name: str, cases: Sequence[EvalCase], bound: Bound, steps: Steps
) -> Iterable[frozenset[str]]:
    for done, case in enumerate(cases):
        steps(f"{whose}: {name}", done, len(cases))
        yield frozenset(bound(case.query))


HEADERS = columns(
    "requests | method | tools given | tokens of the call | of all calls | precision | recall | "
    "F1 [95 % interval]"
)


class Sent(Struct, frozen=True):
    """Tokens because of tools: in the model call that can call the tool, and in all calls up to it."""

    call: float
    until: float


def request_table(source: Source, meter: BudgetMeter, steps: Steps) -> Table:
    """Static binding, the gate and one search over every set of labelled requests.

    Raises ToolsightError and Stopped.
    """
    rows, notes = [], []
    for one in request_sets(source):
        possible = tuple(case for case in one.cases if case.is_possible)
        if not possible:
            continue
        asked = RequestSet(one.name, one.catalog, possible)
        index = index_of(asked, source, steps, lined=True)
        gate = gated(asked, index, source.clock, steps)
        search = searched(asked, index, source.clock, steps)
        rows += list(_rows(asked, (everything(asked), gate, search), _Tokens(asked, meter)))
        notes.append(_compared(asked, gate, search))
    return Table(
        "Requests over real catalogs, one at a time",
        HEADERS,
        tuple(rows),
        frozenset(range(2, 8)),
        (
            "Labelled requests that some tool fits, each in a session of its own. Tokens are definitions, "
            "summary pool or meta-tool with manifest, and the text of the search.",
            "A search needs a model call before the one that calls the tool, the gate and static binding "
            "need none: compare “of all calls”; and each call has the rest of the conversation, too.",
            *notes,
        ),
    )


class _Tokens:
    """What each method's answers cost over one catalog."""

    def __init__(self, asked: RequestSet, meter: BudgetMeter) -> None:
        tools = asked.catalog.tools
        self._meter = meter
        self._by_id: Mapping[str, Tool] = {tool.id: tool for tool in tools}
        found = fitted_manifest(entries(tools, asked.catalog.summaries), ManifestSettings(), meter.text)
        self._meta = search_tools_definition(found.text)
        self._first = sum(meter.entries([self._meta]))
        self._pool = meter.text(summary_pool(tools, SUMMARY_TOKENS, meter.text))

    def static(self, answers: Answers) -> Sent:
        return self._mean([self._definitions(given) for given in answers.given])

    def gate(self, answers: Answers) -> Sent:
        return self._mean([self._pool + self._definitions(given) for given in answers.given])

    def search(self, answers: Answers) -> Sent:
        calls = [self._searched(given) for given in answers.given]
        return Sent(mean(calls), mean(calls) + self._first)

    def _searched(self, given: frozenset[str]) -> int:
        tools = [self._by_id[tool_id] for tool_id in sorted(given)]
        text = found_text(tools, (), brief=DiscoverySettings().results == "brief")
        sent = [self._meta, *map(definition, tools)]
        return sum(self._meter.entries(sent)) + self._meter.text(text)

    def _definitions(self, given: frozenset[str]) -> int:
        return self._meter.static([self._by_id[tool_id] for tool_id in sorted(given)])

    @staticmethod
    def _mean(tokens: Sequence[int]) -> Sent:
        return Sent(mean(tokens), mean(tokens))


def _rows(asked: RequestSet, answers: Sequence[Answers], tokens: _Tokens) -> Iterator[tuple[str, ...]]:
    static, gate, search = answers
    sent = (tokens.static(static), tokens.gate(gate), tokens.search(search))
    for one, cost in zip(answers, sent, strict=True):
        f1 = one.f1
        yield (
            f"{asked.name}: {len(asked.cases)}, {len(asked.catalog.tools)} tools",
            one.method,
            f"{one.tools_given:.1f}",
            f"{cost.call:,.0f}",
            f"{cost.until:,.0f}",
            f"{mean(q.precision for q in one.qualities):.3f}",
            f"{mean(q.recall for q in one.qualities):.3f}",
            f"{f1.mean:.3f} [{f1.low:.3f}, {f1.high:.3f}]",
        )


def _compared(asked: RequestSet, gate: Answers, search: Answers) -> str:
    changes = [b.f1 - a.f1 for a, b in zip(gate.qualities, search.qualities, strict=True)]
    p = p_value(changes, clusters(asked.cases))
    return (
        f"{asked.name}: F1 of the search less that of the gate {mean(changes):+.3f}; paired test over "
        f"requests, clustered by tool, p {p:.4f}."
    )

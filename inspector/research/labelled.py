"""Requests that people wrote for real catalogs: what a search or a gate gives for each, and what is right.

The labels say which tools a request needs. An agent is taken to call each of them that it was given, and no
other: what is found is measured, not how a model chooses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean, median

from inspector.access.reach import EvalCase
from inspector.core.ports import Clock
from inspector.core.settings import DiscoverySettings
from inspector.measure.bootstrap import Estimate, clusters, estimate, ratio_estimate
from inspector.research.criterion import Bound, gate_bound, search_bound
from inspector.research.method import Quality
from inspector.research.source import NamedCatalog, Source, Steps, indexed
from inspector.search.index import ToolIndex
from inspector.search.rankers.catalog_rankers import CatalogRankers

EVERY_TOOL = "every tool"


@dataclass(frozen=True, slots=True)
class RequestSet:
    """Labelled requests over one catalog."""

    name: str
    catalog: NamedCatalog
    cases: tuple[EvalCase, ...]


@dataclass(frozen=True)
class Answers:
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

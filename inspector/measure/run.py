"""Runs one ranker on every request of a data set: its ranking, what a search returns of it, and latencies."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.ports import Clock
from inspector.core.ranking import Answer, SearchRequest
from inspector.search.index import ToolIndex
from inspector.search.name_index import NameIndex
from inspector.search.rankers.ranker import Ranker, Ranking
from inspector.search.rules import SearchRules
from inspector.search.search import ToolSearch

DEPTH = 10


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One request's outcome.

    `ranked` holds the first tools that the ranker keeps, best first, whatever the search returns of them, so
    that the ranking and the answer are measured separately. `returned` is what the search returns, in order.
    """

    id: str
    ranked: tuple[str, ...]
    seconds: float
    answer: Answer
    returned: tuple[str, ...] = ()
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A ranker's outcomes in the order of the data set's cases; fewer than `total` if canceled."""

    ranker: str
    dataset: str
    cases: tuple[CaseRun, ...]
    total: int
    depth: int = DEPTH

    @property
    def is_complete(self) -> bool:
        return len(self.cases) == self.total


def run_bench(
    ranker: Ranker,
    evalset: EvalSet,
    index: ToolIndex,
    *,
    rules: SearchRules,
    clock: Clock,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    depth: int = DEPTH,
) -> Run:
    """Run every request of `evalset` on a ranker built over `index`, which holds its tools in order.

    `cancelled` is checked before each request and `progress(done, total)` is called after it. A query's
    seconds run until its first `depth` tools are known. What is returned is what a search under `rules`
    returns. Raises ValueError if the ranker has a different number of tools.
    """
    once = _Once(ranker)
    search = ToolSearch(index, NameIndex(evalset.tools), once, rules, clock)
    total = len(evalset.cases)
    done: list[CaseRun] = []
    for case in evalset.cases:
        if cancelled():
            break
        done.append(_ask(once, search, case, evalset=evalset, clock=clock, depth=depth))
        progress(len(done), total)
    return Run(ranker.name, evalset.name, tuple(done), total, depth)


class _Once:
    """A ranker that a search asks again for the ranking that was measured before it."""

    def __init__(self, ranker: Ranker) -> None:
        self.name = ranker.name
        self.terms = ranker.terms
        self._ranker = ranker
        self._last: tuple[str, Ranking] | None = None

    def rank(self, query: str) -> Ranking:
        if self._last is None or self._last[0] != query:
            self._last = query, self._ranker.rank(query)
        return self._last[1]


def _ask(
    ranker: _Once, search: ToolSearch, case: EvalCase, *, evalset: EvalSet, clock: Clock, depth: int
) -> CaseRun:
    started = clock.monotonic()
    ranking = ranker.rank(case.query)
    first = _first(ranking, depth)
    seconds = clock.monotonic() - started
    tools = evalset.tools
    if len(ranking.values) != len(tools):
        raise ValueError(
            f"{ranker.name} ranks {len(ranking.values)} tools, but the data set has {len(tools)}"
        )
    report = search.run(SearchRequest(case.query), load=False, misses=0).report
    return CaseRun(
        case.id,
        tuple(tools[position].id for position in first),
        seconds,
        report.answer,
        tuple(hit.tool_id for hit in report.results),
        ranking.probability,
    )


def _first(ranking: Ranking, depth: int) -> list[int]:
    """The positions of the best `depth` tools among those kept."""
    positions = np.flatnonzero(ranking.kept)
    among_kept = replace(ranking, values=ranking.values[positions], kept=ranking.kept[positions])
    return [int(positions[index]) for index in among_kept.order(depth)]

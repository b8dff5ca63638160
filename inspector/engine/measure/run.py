"""Runs one ranker on every request of a data set and records its results and latencies."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from inspector.domain.evaluation import EvalCase, EvalSet
from inspector.engine.discovery.rankers.ranker import Ranker, Ranking
from inspector.engine.ports import Clock

DEPTH = 10
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One request's outcome.

    `ranked` holds the first tools that the ranker keeps, best first, even if it abstained, so that ranking
    and abstention are measured separately; `answered` is false if it abstained or kept nothing.
    """

    id: str
    ranked: tuple[str, ...]
    seconds: float
    answered: bool
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
    *,
    clock: Clock,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    depth: int = DEPTH,
    threshold: float = THRESHOLD,
) -> Run:
    """Run every request of `evalset` on a ranker built over its tools in order.

    `cancelled` is checked before each request and `progress(done, total)` is called after it. A ranker
    abstains if its probability is below `threshold`. A query's seconds run until its first `depth` tools are
    known. Raises ValueError if the ranker has a different number of tools.
    """
    tool_ids = [tool.id for tool in evalset.tools]
    total = len(evalset.cases)
    done: list[CaseRun] = []
    for case in evalset.cases:
        if cancelled():
            break
        done.append(_ask(ranker, case, tool_ids=tool_ids, clock=clock, depth=depth, threshold=threshold))
        progress(len(done), total)
    return Run(ranker.name, evalset.name, tuple(done), total, depth)


def _ask(
    ranker: Ranker, case: EvalCase, *, tool_ids: list[str], clock: Clock, depth: int, threshold: float
) -> CaseRun:
    started = clock.monotonic()
    ranking = ranker.rank(case.query)
    first = _first(ranking, depth)
    seconds = clock.monotonic() - started
    if len(ranking.values) != len(tool_ids):
        raise ValueError(f"{ranker.name} ranks {len(ranking.values)} tools, the data set has {len(tool_ids)}")
    abstained = ranking.probability is not None and ranking.probability < threshold
    return CaseRun(
        case.id,
        tuple(tool_ids[position] for position in first),
        seconds,
        bool(ranking.kept.any()) and not abstained,
        ranking.probability,
    )


def _first(ranking: Ranking, depth: int) -> list[int]:
    """The positions of the best `depth` tools among those kept."""
    positions = np.flatnonzero(ranking.kept)
    among_kept = replace(ranking, values=ranking.values[positions], kept=ranking.kept[positions])
    return [int(positions[index]) for index in among_kept.order(depth)]

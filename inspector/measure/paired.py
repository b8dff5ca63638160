"""Whether two measurements of the same cases differ by more than chance, and by how much."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from inspector.access.reach import EvalSet
from inspector.measure.bootstrap import Estimate, Floats, by_cluster, clusters, estimate
from inspector.measure.report import CUT, paired
from inspector.measure.run import Run
from inspector.search.metric import ndcg_at

SIGNIFICANT = 0.05
_FLIPS = 10_000
_SEED = 0
_EXACT = 12
_FLIPS_AT_ONCE = 1_000_000
# Sums in another order differ in the last bit; such a tie counts as a tie.
_ROUNDING = 1e-12


def p_value(differences: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float:
    """The two-sided p value of a paired randomization test (Smucker, Allan & Carterette 2007).

    If both measurements are alike, the sign of each cluster's difference is a coin's: 10,000 throws from a
    fixed seed, or every combination up to 12 clusters. Raises ValueError without differences.
    """
    sums, _ = by_cluster(differences, clusters)
    moved = sums[sums != 0]
    if not len(moved):
        return 1.0
    seen = abs(float(moved.sum())) - _ROUNDING
    if len(moved) <= _EXACT:
        signs = 1 - 2 * (np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1)
        return float(np.mean(np.abs(signs @ moved) >= seen))
    generator = np.random.default_rng(_SEED)
    rows = max(1, _FLIPS_AT_ONCE // len(moved))
    blocks = [min(rows, _FLIPS - start) for start in range(0, _FLIPS, rows)]
    extreme = sum(_extreme(moved, seen, generator, block) for block in blocks)
    return (extreme + 1) / (_FLIPS + 1)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p values of several tests, corrected for their number (Holm 1979), in the same order."""
    corrected, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = least
    return tuple(corrected)


def _extreme(moved: Floats, seen: float, generator: np.random.Generator, rows: int) -> int:
    signs = generator.integers(0, 2, size=(rows, len(moved)), dtype=np.int8) * 2.0 - 1.0
    return int(np.count_nonzero(np.abs(signs @ moved) >= seen))


@dataclass(frozen=True, slots=True)
class Change:
    """One request's nDCG@10 in both runs."""

    id: str
    query: str
    before: float
    after: float

    @property
    def value(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Difference:
    """`mean` is the mean of after - before in nDCG@10, `p_value` that of a paired randomization test.

    Requests that need the same tool count as one, in the interval and in the test. `changes` holds every
    request that some tool fits, largest absolute change first, equal ones in data set order.
    """

    mean: Estimate
    changes: tuple[Change, ...]
    p_value: float = 1.0

    @property
    def is_significant(self) -> bool:
        """Whether so large a difference is rare by chance alone."""
        return self.p_value < SIGNIFICANT


def difference(before: Run, after: Run, evalset: EvalSet) -> Difference | None:
    """A paired comparison of two runs, request by request.

    None if no tool fits any request. Raises ValueError if the runs cover different cases.
    """
    if len(before.cases) != len(after.cases):
        raise ValueError(f"the runs have {len(before.cases)} and {len(after.cases)} cases")
    changes = [
        Change(
            case.id,
            case.query,
            ndcg_at(CUT, old.ranked, case.relevant),
            ndcg_at(CUT, new.ranked, case.relevant),
        )
        for (case, old), (_, new) in zip(paired(before, evalset), paired(after, evalset), strict=True)
        if case.is_possible
    ]
    if not changes:
        return None
    grouped = clusters([case for case, _ in paired(before, evalset) if case.is_possible])
    values = [change.value for change in changes]
    ordered = tuple(sorted(changes, key=lambda change: -abs(change.value)))
    return Difference(estimate(values, grouped), ordered, p_value(values, grouped))

"""Ranking metrics from 0 to 1, percentiles, and means with 95 % confidence intervals; paired tests.

`ranked` holds tool ids, best first; `relevant` the groups of an `EvalCase`. A group counts once, at the rank
of its first member in the list. The metrics are undefined for a request without groups and raise ValueError.
Intervals are over cases that need not be independent.
"""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.access.reach import EvalCase
from inspector.core.number import effective, wilson

Groups = Collection[frozenset[str]]


def hit_at(k: int, ranked: Sequence[str], relevant: Groups) -> float:
    """1 if any group is found among the first k, else 0 (success@k in trec_eval)."""
    return 1.0 if _ranks(ranked[:k], relevant) else 0.0


def recall_at(k: int, ranked: Sequence[str], relevant: Groups) -> float:
    """The share of the groups found among the first k (Manning, Raghavan & Schütze 2008, section 8.3)."""
    return len(_ranks(ranked[:k], relevant)) / len(set(relevant))


def ndcg_at(k: int, ranked: Sequence[str], relevant: Groups) -> float:
    """Normalized discounted cumulative gain (Järvelin & Kekäläinen 2002, section 2) with binary gains.

    The sum of 1 / log2(rank + 1) over the groups found among the first k, divided by the same sum for an
    ideal list, which finds a group at each rank from 1 to min(groups, k). The discount is trec_eval's, which
    starts at rank 2; the paper's starts at the base of its logarithm. Groups that share a tool can be found
    at the same rank, earlier than in the ideal list, so the result is capped at 1.
    """
    actual = math.fsum(_gain(rank) for rank in _ranks(ranked[:k], relevant))
    ideal = math.fsum(_gain(rank) for rank in range(1, min(len(set(relevant)), k) + 1))
    return min(actual / ideal, 1.0)


def reciprocal_rank(ranked: Sequence[str], relevant: Groups) -> float:
    """1 / rank of the first relevant tool, or 0 if there is none (Voorhees 1999; its mean is MRR)."""
    ranks = _ranks(ranked, relevant)
    return 1 / min(ranks) if ranks else 0.0


def _ranks(ranked: Sequence[str], relevant: Groups) -> list[int]:
    """The rank, from 1, of each group found in the list."""
    if not relevant:
        raise ValueError("a request that no tool fits has no ranking to measure")
    first: dict[str, int] = {}
    for rank, tool_id in enumerate(ranked, start=1):
        first.setdefault(tool_id, rank)
    ranks = (
        min((first[member] for member in group if member in first), default=0) for group in set(relevant)
    )
    return [rank for rank in ranks if rank]


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def clusters(cases: Sequence[EvalCase]) -> tuple[str, ...]:
    """The cluster of each labelled request, see `clusters_of`."""
    return clusters_of([frozenset[str]().union(*case.relevant) for case in cases])


def clusters_of(wanted: Sequence[Collection[str]]) -> tuple[str, ...]:
    """The cluster of each case that needs these tools: the one it shares with most other cases.

    Among equals it is the first by name. A case without a tool stands alone. Chains of cases that share one
    tool each do not become one cluster.
    """
    counts = Counter(tool_id for tools in wanted for tool_id in tools)
    return tuple(
        f"tool {min(tools, key=lambda tool_id: (-counts[tool_id], tool_id))}" if tools else f"case {number}"
        for number, tools in enumerate(wanted)
    )


RESAMPLES = 1000
SEED = 0
LEVEL = 95.0
_DRAWS_AT_ONCE = 1_000_000

Floats = NDArray[np.float64]


class Estimate(Struct, frozen=True):
    """A mean over cases with its 95 % confidence interval.

    `clusters` is how many independent groups the cases form; as many as cases if each stands alone.
    """

    mean: float
    low: float
    high: float
    clusters: int = 1

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def estimate(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Estimate:
    """The mean with its bootstrap percentile interval (Efron & Tibshirani 1993, chapter 13).

    `clusters` names each value's cluster: whole clusters are resampled, because cases that share a tool fail
    together (Field & Welsh 2007). Without it, each value is its own. They are drawn with replacement 1,000
    times from a fixed seed, so equal values always get equal intervals. A single cluster says nothing about
    others: its interval is from its smallest to its largest value. Raises ValueError without values.
    """
    sums, sizes = by_cluster(values, clusters)
    mean = float(sums.sum() / sizes.sum())
    if len(sums) == 1:
        return Estimate(mean, min(values), max(values))
    generator = np.random.default_rng(SEED)
    # Draw in blocks: all draws at once would take 8 bytes times 1,000 times the clusters.
    rows = max(1, _DRAWS_AT_ONCE // len(sums))
    blocks = [min(rows, RESAMPLES - start) for start in range(0, RESAMPLES, rows)]
    means = np.concatenate([_resampled(sums, sizes, generator, block) for block in blocks])
    tail = (100 - LEVEL) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    # Sums in another order differ in the last bit, which can put the mean outside the interval.
    return Estimate(mean, min(float(low), mean), max(float(high), mean), len(sums))


def share_estimate(flags: Sequence[bool], clusters: Sequence[Hashable] | None = None) -> Estimate:
    """A share of cases with its Wilson interval (Wilson 1927), which is right near 0 and 1 as well.

    Clusters reduce the sample to its effective size (Kish 1965): that of as many independent cases with the
    same variance, and as many as there are clusters if all cases agree. Raises ValueError without cases.
    """
    sums, sizes = by_cluster([float(flag) for flag in flags], clusters)
    share = float(sums.sum() / sizes.sum())
    low, high = wilson(share, effective(sums, sizes, share))
    return Estimate(share, low, high, len(sums))


def ratio_estimate(cases: Iterable[tuple[Hashable, float, float]]) -> Estimate | None:
    """The sum of the second values over the sum of the third, with its bootstrap percentile interval.

    Whole clusters (the first value) are drawn, see `estimate` (Davison & Hinkley 1997, section 3.8); draws in
    which the denominator is 0 do not count. The interval of a single cluster is from the smallest to the
    largest ratio of its cases. None if the denominators add up to 0.
    """
    known = list(cases)
    table = _sums(known)
    above, below = table.sum(axis=0)
    if not below:
        return None
    size = len(table)
    if size == 1:
        ratios = [over / under for _, over, under in known if under]
    else:
        generator = np.random.default_rng(SEED)
        drawn = np.stack([table[generator.integers(size, size=size)].sum(axis=0) for _ in range(RESAMPLES)])
        drawn = drawn[drawn[:, 1] != 0]
        tail = (100 - LEVEL) / 2
        ratios = list(np.percentile(drawn[:, 0] / drawn[:, 1], [tail, 100 - tail]))
    ratio = float(above / below)
    return Estimate(ratio, min(*map(float, ratios), ratio), max(*map(float, ratios), ratio), size)


def effective_size(flags: Sequence[bool], clusters: Sequence[Hashable] | None = None) -> float:
    """How many independent cases would give as sure a share. Raises ValueError without cases."""
    sums, sizes = by_cluster([float(flag) for flag in flags], clusters)
    return effective(sums, sizes, float(sums.sum() / sizes.sum()))


def _sums(cases: Iterable[tuple[Hashable, float, float]]) -> Floats:
    """Both sums of each cluster, one cluster a row."""
    sums: dict[Hashable, tuple[float, float]] = {}
    for cluster, above, below in cases:
        known = sums.get(cluster, (0.0, 0.0))
        sums[cluster] = (known[0] + above, known[1] + below)
    return np.array(list(sums.values()), dtype=np.float64).reshape(-1, 2)


def by_cluster(values: Sequence[float], clusters: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    """The sum and the size of each cluster, in order of appearance. Raises ValueError without values."""
    if not len(values):
        raise ValueError("no values")
    sample = np.asarray(values, dtype=np.float64)
    if clusters is None:
        return sample, np.ones(len(sample))
    if len(clusters) != len(sample):
        raise ValueError(f"{len(sample)} values and {len(clusters)} clusters")
    numbers: dict[Hashable, int] = {}
    places = np.asarray([numbers.setdefault(cluster, len(numbers)) for cluster in clusters])
    sums, sizes = np.zeros(len(numbers)), np.zeros(len(numbers))
    np.add.at(sums, places, sample)
    np.add.at(sizes, places, 1.0)
    return sums, sizes


def _resampled(sums: Floats, sizes: Floats, generator: np.random.Generator, rows: int) -> Floats:
    drawn = generator.integers(len(sums), size=(rows, len(sums)))
    means: Floats = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return means


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

"""How well one ranked list answers one request, each from 0 to 1, and percentiles of many numbers.

`ranked` is tool ids, the best first; `relevant` is the groups of an `EvalCase`. A group counts once, at the
first of its members in the list. Nothing here is defined for a request without a group: ValueError.
"""

import math
from collections.abc import Collection, Sequence

Groups = Collection[frozenset[str]]


def hit_at(k: int, ranked: Sequence[str], relevant: Groups) -> float:
    """1 where any group is found among the first k, else 0 (success@k in trec_eval)."""
    return 1.0 if _ranks(ranked[:k], relevant) else 0.0


def recall_at(k: int, ranked: Sequence[str], relevant: Groups) -> float:
    """The share of the groups found among the first k (Manning, Raghavan & Schütze 2008, section 8.3)."""
    return len(_ranks(ranked[:k], relevant)) / len(set(relevant))


def ndcg_at(k: int, ranked: Sequence[str], relevant: Groups) -> float:
    """Normalised discounted cumulated gain (Järvelin & Kekäläinen 2002, section 2) of binary gains.

    The sum of 1 / log2(rank + 1) over the groups found among the first k, divided by the same sum of a
    perfect list, which finds a group at each of the ranks 1 to min(groups, k). The discount is the one of
    trec_eval, which starts at rank 2, whereas the paper's starts at its logarithm's base. Groups that share
    a tool can be found at one rank together, earlier than in the perfect list: that counts as 1 at most.
    """
    found = math.fsum(_gain(rank) for rank in _ranks(ranked[:k], relevant))
    ideal = math.fsum(_gain(rank) for rank in range(1, min(len(set(relevant)), k) + 1))
    return min(found / ideal, 1.0)


def reciprocal_rank(ranked: Sequence[str], relevant: Groups) -> float:
    """1 / rank of the first relevant tool, 0 where there is none (Voorhees 1999; its mean is MRR)."""
    ranks = _ranks(ranked, relevant)
    return 1 / min(ranks) if ranks else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value with `share` (0 to 1) of the others below it; ValueError where there is no value.

    Linear between neighbours (Hyndman & Fan 1996, definition 7, numpy's default); 0.5 is the median.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _ranks(ranked: Sequence[str], relevant: Groups) -> list[int]:
    """The rank, from 1, of each group that the list has."""
    if not relevant:
        raise ValueError("a request that no tool fits has no ranking to measure")
    first: dict[str, int] = {}
    for rank, tool_id in enumerate(ranked, start=1):
        first.setdefault(tool_id, rank)
    found = (
        min((first[member] for member in group if member in first), default=0) for group in set(relevant)
    )
    return [rank for rank in found if rank]


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1)

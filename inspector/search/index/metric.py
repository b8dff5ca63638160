"""Ranking metrics from 0 to 1 for one ranked list and one request, percentiles, and rankers side by side.

`ranked` holds tool ids, best first; `relevant` the groups of an `EvalCase`. A group counts once, at the rank
of its first member in the list. The metrics are undefined for a request without groups and raise ValueError.
"""

import math
import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

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


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie; ValueError if there are none.

    Linear between neighbors (Hyndman & Fan 1996, definition 7, numpy's default); 0.5 is the median.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


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


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# More gain little: what is computed waits for memory.
_MOST = 4


def processors() -> int:
    """How many pieces of work run at once."""
    return min(_MOST, os.cpu_count() or 1)


def side_by_side(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """The result for each item, in order; the first error is raised. `work` must not come here itself."""
    if len(items) < 2:
        return [work(item) for item in items]
    return list(_threads().map(work, items))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(processors(), "search")

"""Compares two rankers on the same requests: by how much they differ, whether by chance, and on which."""

from dataclasses import dataclass

from inspector.access.reach import EvalSet
from inspector.measure.bootstrap import Estimate, estimate
from inspector.measure.cluster import clusters
from inspector.measure.paired import SIGNIFICANT, p_value
from inspector.measure.report import CUT, paired
from inspector.measure.run import Run
from inspector.search.metric import ndcg_at


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

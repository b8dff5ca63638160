"""Whether two measurements differ by more than chance, and which ranker is best."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.ranking import Answer
from inspector.features.bench.ranker_bench import Measured
from inspector.features.bench.run import CUT, CaseRun, Run, paired
from inspector.search.answer.metric import SIGNIFICANT, Estimate, clusters, estimate, holm, ndcg_at, p_value


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


@dataclass(frozen=True, slots=True)
class Behind:
    """A ranker that is behind the best one: by how much in nDCG@10, and the corrected p value."""

    ranker: str
    difference: Difference
    p_value: float

    @property
    def is_worse(self) -> bool:
        """Whether so large a difference is rare by chance alone."""
        return self.p_value < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Standing:
    """The ranker with the highest nDCG@10 on a data set; the others in their order."""

    dataset: str
    best: str
    others: tuple[Behind, ...]

    @property
    def tied(self) -> tuple[str, ...]:
        """The others that are not worse by more than chance."""
        return tuple(other.ranker for other in self.others if not other.is_worse)


def standings(measured: Sequence[Measured]) -> tuple[Standing, ...]:
    """The standing on each data set on which two or more rankers were measured completely.

    Each difference from the best has a paired randomization test, request by request and clustered by tool,
    corrected for the number of rankers (Holm).
    """
    complete = [one for one in measured if one.run.is_complete and one.row.summary.ndcg_10 is not None]
    grouped = groupby(complete, lambda one: one.row.dataset)
    return tuple(found for _, group in grouped if (found := _standing(list(group))) is not None)


def _standing(measured: Sequence[Measured]) -> Standing | None:
    if len(measured) < 2:
        return None
    best = max(measured, key=_score)
    rest = [
        (one.run.ranker, difference(best.run, one.run, best.evalset)) for one in measured if one is not best
    ]
    behind = [(ranker, found) for ranker, found in rest if found is not None]
    corrected = holm([found.p_value for _, found in behind])
    others = (Behind(ranker, found, p) for (ranker, found), p in zip(behind, corrected, strict=True))
    return Standing(best.row.dataset, best.run.ranker, tuple(others))


def _score(measured: Measured) -> float:
    ndcg = measured.row.summary.ndcg_10
    return ndcg.mean if ndcg is not None else 0.0


@dataclass(frozen=True, slots=True)
class Weak:
    """A request not served perfectly; `ndcg_10` measures the ranking alone, None if no tool fits."""

    case: EvalCase
    done: CaseRun
    ndcg_10: float | None

    @property
    def is_refused(self) -> bool:
        """Whether some tool fits, but the search returned nothing."""
        return self.case.is_possible and self.done.answer is Answer.NOTHING

    @property
    def value(self) -> float:
        """The value to the user: a refusal, or a tool that is said to fit if none does, is worth 0."""
        return 0.0 if self.is_refused else self.ndcg_10 or 0.0


def weakest(run: Run, evalset: EvalSet) -> tuple[Weak, ...]:
    """The requests that could be served better, worst first, equal ones in data set order.

    Raises ValueError if the run covers other cases.
    """
    candidates = [
        Weak(case, done, ndcg_at(CUT, done.ranked, case.relevant) if case.is_possible else None)
        for case, done in paired(run, evalset)
        if case.is_possible or done.answer is Answer.FOUND
    ]
    return tuple(sorted((weak for weak in candidates if weak.value < 1), key=lambda weak: weak.value))

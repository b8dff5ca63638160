"""The requests on which a ranker does worst."""

from dataclasses import dataclass

from inspector.access.evaluation import EvalCase, EvalSet
from inspector.core.ranking import Answer
from inspector.measure.run import CaseRun, Run
from inspector.measure.summary import CUT, paired
from inspector.search.metric import ndcg_at


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

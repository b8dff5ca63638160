"""Where one ranker falls short: the requests to look at first."""

from dataclasses import dataclass

from inspector.domain.evaluation import EvalCase, EvalSet
from inspector.domain.metric import ndcg_at
from inspector.engine.measure.run import CaseRun, Run
from inspector.engine.measure.summary import CUT, paired


@dataclass(frozen=True, slots=True)
class Weak:
    """A request that was not served perfectly; `ndcg_10` is of the order alone, None where no tool fits."""

    case: EvalCase
    done: CaseRun
    ndcg_10: float | None

    @property
    def is_refused(self) -> bool:
        """Whether some tool fits, and nothing was answered."""
        return self.case.is_possible and not self.done.answered

    @property
    def value(self) -> float:
        """What it was worth to who asked: a refusal, and an answer where no tool fits, are worth nothing."""
        return 0.0 if self.is_refused else self.ndcg_10 or 0.0


def weakest(run: Run, evalset: EvalSet) -> tuple[Weak, ...]:
    """What could be better, the worst first, equal ones in the data set's order.

    Raises ValueError where the run is of other cases.
    """
    found = [
        Weak(case, done, ndcg_at(CUT, done.ranked, case.relevant) if case.is_possible else None)
        for case, done in paired(run, evalset)
        if case.is_possible or done.answered
    ]
    return tuple(sorted((weak for weak in found if weak.value < 1), key=lambda weak: weak.value))

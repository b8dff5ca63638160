"""Which ranker is the best on a data set, and which others are not distinguishable from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from inspector.measure.difference import Difference, difference
from inspector.measure.paired import SIGNIFICANT, holm
from inspector.measure.ranker_bench import Measured


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
    behind = list(_differences(best, measured))
    corrected = holm([found.p_value for _, found in behind])
    others = (Behind(ranker, found, p) for (ranker, found), p in zip(behind, corrected, strict=True))
    return Standing(best.row.dataset, best.run.ranker, tuple(others))


def _differences(best: Measured, measured: Sequence[Measured]) -> Iterator[tuple[str, Difference]]:
    for other in measured:
        found = difference(best.run, other.run, best.evalset) if other is not best else None
        if found is not None:
            yield other.run.ranker, found


def _score(measured: Measured) -> float:
    ndcg = measured.row.summary.ndcg_10
    return ndcg.mean if ndcg is not None else 0.0

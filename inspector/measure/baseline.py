"""Checks whether rankers got worse since their results were stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inspector.measure.report import Row

# A drop of exactly the allowed amount must pass: 0.80 - 0.78 is slightly more than 0.02 in binary.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Mark:
    """The nDCG@10 of a ranker on a data set; None if undefined."""

    dataset: str
    ranker: str
    ndcg_10: float | None


@dataclass(frozen=True, slots=True)
class Drop:
    """A mark that fell too far, or that only one table has (the other side is None)."""

    dataset: str
    ranker: str
    before: float | None
    now: float | None

    @property
    def reason(self) -> str:
        """The problem, for people."""
        if self.now is None:
            return f"{self.before:.3f} before, not measured now"
        if self.before is None:
            return f"{self.now:.3f} now, not in the baseline"
        return f"{self.before:.3f} before, {self.now:.3f} now"


def marks(rows: Iterable[Row]) -> list[Mark]:
    """The marks of measured rows."""
    return [
        Mark(row.dataset, row.ranker, row.summary.ndcg_10.mean if row.summary.ndcg_10 else None)
        for row in rows
    ]


def stored_marks(value: object) -> list[Mark]:
    """The marks in a parsed JSON value from `report.json_rows`. Raises ValueError for any other value."""
    if not isinstance(value, list):
        raise ValueError("expected a list of rows")
    return [_stored_mark(row, number) for number, row in enumerate(value, start=1)]


def drops(now: Sequence[Mark], before: Sequence[Mark], max_drop: float) -> list[Drop]:
    """The marks that fell by more than `max_drop`, in the order of `before`, then the new ones.

    Marks are matched by data set and ranker. A mark that only one side has is reported too, so that a renamed
    ranker does not pass unnoticed. Raises ValueError if a side has the same mark twice.
    """
    current, stored = _table(now), _table(before)
    dropped = []
    for dataset, ranker in (*stored, *(key for key in current if key not in stored)):
        old, new = stored.get((dataset, ranker)), current.get((dataset, ranker))
        has_dropped = old is not None and new is not None and old - new > max_drop + _ROUNDING
        if has_dropped or (old is None) != (new is None):
            dropped.append(Drop(dataset, ranker, old, new))
    return dropped


def _table(side: Sequence[Mark]) -> dict[tuple[str, str], float | None]:
    table: dict[tuple[str, str], float | None] = {}
    for mark in side:
        key = (mark.dataset, mark.ranker)
        if key in table:
            raise ValueError(f"{mark.ranker} on {mark.dataset} appears twice")
        table[key] = mark.ndcg_10
    return table


def _stored_mark(row: object, number: int) -> Mark:
    if not isinstance(row, dict):
        raise ValueError(f"row {number} is not an object")
    dataset, ranker, ndcg = row.get("dataset"), row.get("ranker"), row.get("ndcg_10")
    if not isinstance(dataset, str) or not isinstance(ranker, str):
        raise ValueError(f"row {number} lacks its dataset or ranker")
    if ndcg is None and "ndcg_10" in row:
        return Mark(dataset, ranker, None)
    mean = ndcg.get("mean") if isinstance(ndcg, dict) else None
    if not isinstance(mean, int | float) or isinstance(mean, bool):
        raise ValueError(f"row {number} has no ndcg_10.mean")
    return Mark(dataset, ranker, float(mean))

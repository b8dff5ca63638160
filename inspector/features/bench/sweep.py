"""The threshold of a ranker that suits a catalog, found by trying many on labelled requests.

After Tool Attention, section 5.2: the best F1. The paper sweeps 0.10 to 0.50 for one encoder; the sweep here
goes further, because confidences and the cosines of other encoders are higher. hybrid has two thresholds: the
best F1 is that of `found`; `closest` refuses fewer requests, far lower.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, to_builtins

from inspector.access.reach import GENERATED, EvalCase, EvalSet
from inspector.core.error import ToolsightError
from inspector.core.number import Share, bar, percent
from inspector.core.report import NOTHING, NUMBER, TWO, Column, Table
from inspector.search.answer.metric import hit_at
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker import Ranking
from inspector.search.ranker.ranker_list import DENSE, ISO

HYBRID = "hybrid"
SETTINGS = {HYBRID: "discovery.min_probability", DENSE: "discovery.iso_threshold", ISO: "gate.threshold"}
"""The setting that holds a ranker's threshold: a confidence for hybrid, a cosine for the others."""
CLOSEST = "discovery.min_closest"
# The fine ones at the low end are for hybrid alone: the threshold of `closest` is there.
_FINE = tuple(number / 100 for number in range(1, 10))
_THRESHOLDS = tuple(number / 100 for number in range(10, 91, 2))
# The share of possible requests that a cautious threshold may refuse.
MAX_REFUSED = 0.10
# The share of possible requests that may get nothing from hybrid, not even what comes closest.
MAX_NOTHING = 0.06
_HYBRID_DEPTH, _DENSE_DEPTH = 5, 10


class Point(Struct, frozen=True):
    """The effect of one threshold. `precision` is None, and F1 is 0, if nothing is returned."""

    threshold: float
    precision: float | None
    recall: float
    answered_impossible: Share | None
    refused_possible: Share

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall (Manning, Raghavan & Schütze 2008, section 8.3)."""
        total = (self.precision or 0.0) + self.recall
        return 2 * (self.precision or 0.0) * self.recall / total if total else 0.0


class Sweep(Struct, frozen=True):
    """The curve of a ranker on a data set, with ascending thresholds, at least one."""

    ranker: str
    dataset: str
    possible: int
    impossible: int
    points: tuple[Point, ...]

    @property
    def best(self) -> Point:
        """The point with the highest F1, and among equals the lowest threshold."""
        return max(self.points, key=lambda point: point.f1)

    @property
    def max_refused(self) -> float:
        """The share of possible requests that the cautious threshold may refuse."""
        return MAX_NOTHING if self.ranker == HYBRID else MAX_REFUSED

    @property
    def cautious(self) -> Point | None:
        """The highest threshold that refuses so few, or None; for hybrid that of `closest`."""
        kept = [point for point in self.points if point.refused_possible.value <= self.max_refused]
        return kept[-1] if kept else None

    @property
    def values(self) -> dict[str, float]:
        """The settings to write by their paths: for hybrid also that of `closest`, never above it."""
        best = self.best.threshold
        closest = self.cautious if self.ranker == HYBRID else None
        lower = {CLOSEST: min(closest.threshold, best)} if closest is not None else {}
        return {SETTINGS[self.ranker]: best, **lower}


class _Outcome(Struct, frozen=True):
    """One request: what the ranker would return as the threshold falls, and which of it is right.

    `scores` are descending; those that reach the threshold are returned. `right` says which of them are
    right, and `found` holds the score at which each wanted item is first returned (-inf for never).
    """

    is_possible: bool
    scores: tuple[float, ...]
    right: tuple[bool, ...]
    found: tuple[float, ...]


def sweep(
    rankers: CatalogRankers,
    evalset: EvalSet,
    ranker: str,
    *,
    thresholds: Sequence[float] = (),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Sweep | None:
    """Measure the curve of a ranker of `SETTINGS` over the tools of `evalset` in order; None if canceled.

    For `hybrid` the threshold is the least confidence of an answer. It is measured on requests:
    precision over those answered, recall over the possible ones; an answer is right if a relevant tool is
    among its first five. For the others the threshold is a cosine. It is measured on pairs of a request and
    one of its first ten tools, summed over all requests: precision over those returned, recall over the
    groups of relevant tools. Impossible requests count against precision.

    Every request is ranked once. Raises ToolsightError if there are no vectors, or if no request is possible;
    ModelError.
    """
    if not any(case.is_possible for case in evalset.cases):
        raise ToolsightError(
            f"no tool fits any request in {evalset.name}",
            hint="Add some with `toolsight bench label FILE`, which also generates them.",
        )
    if not rankers.index.is_semantic:
        raise ToolsightError(
            f"the tools have no vectors, and without them '{ranker}' has no threshold",
            hint="Wait until they are embedded, or set tool_discovery.embedding_model to 'packaged'.",
        )
    read = _read_hybrid if ranker == HYBRID else _read_dense
    ranking = rankers.get(ranker)
    tool_ids = [tool.id for tool in evalset.tools]
    outcomes: list[_Outcome] = []
    for case in evalset.cases:
        if cancelled():
            return None
        outcomes.append(read(case, ranking.rank(case.query), tool_ids))
        progress(len(outcomes), len(evalset.cases))
    tried = thresholds or (*(_FINE if ranker == HYBRID else ()), *_THRESHOLDS)
    possible = sum(outcome.is_possible for outcome in outcomes)
    points = tuple(_point(threshold, outcomes) for threshold in tried)
    return Sweep(ranker, evalset.name, possible, len(outcomes) - possible, points)


def _read_hybrid(case: EvalCase, ranking: Ranking, tool_ids: Sequence[str]) -> _Outcome:
    """A single item is returned: the answer, with its probability. Without one it is always returned."""
    positions = np.flatnonzero(ranking.kept)
    values = ranking.values[positions]
    first = [tool_ids[positions[index]] for index in np.argsort(-values, kind="stable")[:_HYBRID_DEPTH]]
    if not first:
        return _Outcome(case.is_possible, (), (), (-math.inf,) if case.is_possible else ())
    score = math.inf if ranking.probability is None else ranking.probability
    is_right = case.is_possible and bool(hit_at(_HYBRID_DEPTH, first, case.relevant))
    found = (score if is_right else -math.inf,) if case.is_possible else ()
    return _Outcome(case.is_possible, (score,), (is_right,), found)


def _read_dense(case: EvalCase, ranking: Ranking, tool_ids: Sequence[str]) -> _Outcome:
    """The cosines of the first tools, regardless of the ranker's own threshold."""
    order = ranking.order(_DENSE_DEPTH)
    scores = {tool_ids[position]: float(ranking.values[position]) for position in order}
    wanted = frozenset[str]().union(*case.relevant)
    return _Outcome(
        case.is_possible,
        tuple(scores.values()),
        tuple(tool_id in wanted for tool_id in scores),
        tuple(max((scores[t] for t in group if t in scores), default=-math.inf) for group in case.relevant),
    )


def _point(threshold: float, outcomes: Sequence[_Outcome]) -> Point:
    returned = [
        is_right
        for outcome in outcomes
        for score, is_right in zip(outcome.scores, outcome.right, strict=True)
        if score >= threshold
    ]
    wanted = [score >= threshold for outcome in outcomes for score in outcome.found]
    possible = [_answers(one, threshold) for one in outcomes if one.is_possible]
    impossible = [_answers(one, threshold) for one in outcomes if not one.is_possible]
    return Point(
        threshold,
        precision=sum(returned) / len(returned) if returned else None,
        recall=sum(wanted) / len(wanted),
        answered_impossible=Share(sum(impossible), len(impossible)) if impossible else None,
        refused_possible=Share(len(possible) - sum(possible), len(possible)),
    )


def _answers(outcome: _Outcome, threshold: float) -> bool:
    return any(score >= threshold for score in outcome.scores)


_BAR = 10


def sweep_lines(found: Sweep, now: float) -> Iterator[str | Table]:
    """The curve with a bar for F1, its best points, and the setting to write; `now` is its value."""
    is_hybrid = found.ranker == HYBRID
    best, cautious = ("found", "closest") if is_hybrid else ("best", "cautious")
    marks = {found.best.threshold: [best]}
    if found.cautious is not None:
        marks.setdefault(found.cautious.threshold, []).append(cautious)
    yield (
        f"{found.ranker} on {found.dataset}: {found.possible} possible and "
        f"{found.impossible} impossible requests"
    )
    columns = (
        Column("confidence" if is_hybrid else "cosine", "threshold", TWO),
        Column("F1", lambda point: f"{bar(point.f1, _BAR):<{_BAR}} {point.f1:.3f}"),
        Column("precision", lambda p: NOTHING if p.precision is None else f"{p.precision:.3f}", NUMBER),
        Column("recall", lambda point: f"{point.recall:.3f}", NUMBER),
        Column("answered\nimpossible", lambda point: share_text(point.answered_impossible), NUMBER),
        Column("refused\npossible", lambda point: share_text(point.refused_possible), NUMBER),
        Column("", lambda point: ", ".join(marks.get(point.threshold, ()))),
    )
    yield Table.of(columns, found.points)
    yield _summary("found: best F1" if is_hybrid else "best F1", found.best)
    most = f"refuses at most {percent(found.max_refused)} of the possible requests"
    if found.cautious is None:
        yield f"{cautious}: no threshold {most}"
    else:
        yield _summary(f"{cautious}, the highest that {most}", found.cautious)
    if found.best in (found.points[0], found.points[-1]):
        yield "The best threshold is at the edge of the sweep, so these requests cannot pin it down."
    yield f"now: {now:.2f}"
    if found.dataset == GENERATED:
        words = "people ask in other words than these. Measure your own requests with --data."
        yield f"No setting to copy: {words}"
    else:
        section = SETTINGS[found.ranker].partition(".")[0]
        values = {path.partition(".")[2]: value for path, value in found.values.items()}
        # This line of a configuration overrides what a profile says.
        yield f'"settings": {json.dumps({section: values})}'


def sweep_json(found: Sweep, now: float) -> dict[str, Any]:
    """The curve for programs."""
    return {
        **to_builtins(found),
        "setting": SETTINGS[found.ranker],
        "values": found.values,
        "now": now,
        "best": _point_json(found.best),
        "cautious": found.cautious and _point_json(found.cautious),
        "points": list(map(_point_json, found.points)),
    }


def _point_json(point: Point) -> dict[str, Any]:
    return {**to_builtins(point), "f1": point.f1}


def share_text(value: Share | None) -> str:
    """The share in percent, if there is one."""
    return NOTHING if value is None else percent(value.value)


def _summary(what: str, point: Point) -> str:
    answered = point.answered_impossible
    impossible = f"answers {share_text(answered)} of the impossible requests, " if answered else ""
    refused = f"refuses {share_text(point.refused_possible)} of the possible ones"
    return f"{what}: {point.threshold:.2f}  F1 {point.f1:.3f}, {impossible}{refused}"

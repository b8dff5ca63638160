"""Calibrates the thresholds of a ranker for a catalog: sweeps them over labelled requests.

After Tool Attention, section 5.2: the best F1. The paper sweeps 0.10 to 0.50 for one encoder; the sweep here
goes further, because confidences and the cosines of other encoders are higher. hybrid has two thresholds: the
best F1 is that of `found`; `closest` refuses fewer requests, far lower.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from inspector.access.reach import GENERATED, EvalCase, EvalSet
from inspector.config.setting import value_of
from inspector.core.error import ToolsightError
from inspector.core.number import Share
from inspector.core.settings import Settings
from inspector.search.index.metric import hit_at
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker import Ranking
from inspector.search.ranker.ranker_list import DENSE, ISO

START, STOP, STEP = 0.10, 0.90, 0.02
# Below START, where the threshold of `closest` is.
FINE = 0.01
# The share of possible requests that a cautious threshold may refuse.
MAX_REFUSED = 0.10
# The share of possible requests that may get nothing from hybrid, not even what comes closest.
MAX_NOTHING = 0.06
CLOSEST = "discovery.min_closest"
HYBRID = "hybrid"
SETTINGS = {HYBRID: "discovery.min_probability", DENSE: "discovery.iso_threshold", ISO: "gate.threshold"}
"""The setting that holds a ranker's threshold: a confidence for hybrid, a cosine for the others."""
_HYBRID_DEPTH, _DENSE_DEPTH = 5, 10
_FOLDS = 5
_DIGITS = 6


def threshold_of(settings: Settings, ranker: str) -> float | None:
    """A ranker's current threshold; None for a ranker without one."""
    return value_of(settings, SETTINGS[ranker]) if ranker in SETTINGS else None


@dataclass(frozen=True, slots=True)
class Point:
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


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curve of a ranker on a data set, with ascending thresholds, at least one.

    `held_out` has each fifth of the requests at the best threshold of the others, and so says what to expect
    of requests that no threshold was fitted on; None with too few requests.
    """

    ranker: str
    dataset: str
    possible: int
    impossible: int
    points: tuple[Point, ...]
    held_out: Point | None = None

    @property
    def is_generated(self) -> bool:
        """Whether its requests are made of the tools' own words, which no setting should be taken from."""
        return self.dataset == GENERATED

    @property
    def best(self) -> Point:
        """The point with the highest F1, and among equals the lowest threshold."""
        return _best(self.points)

    @property
    def is_at_edge(self) -> bool:
        """Whether the best threshold is the first or last tried, so that the real optimum is unknown."""
        return self.best in (self.points[0], self.points[-1])

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
    def setting(self) -> str:
        """The path of the setting that holds the threshold."""
        return SETTINGS[self.ranker]

    def values(self, threshold: float) -> dict[str, float]:
        """The settings for a threshold by their paths: for hybrid also that of `closest`, never above it."""
        closest = self.cautious if self.ranker == HYBRID else None
        lower = {CLOSEST: min(closest.threshold, threshold)} if closest is not None else {}
        return {self.setting: threshold, **lower}

    def line(self, threshold: float) -> str:
        """The configuration line for a threshold; it overrides what a profile says."""
        section = self.setting.partition(".")[0]
        values = {path.partition(".")[2]: value for path, value in self.values(threshold).items()}
        return f'"settings": {json.dumps({section: values})}'


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One request: what the ranker would return as the threshold falls, and which of it is right.

    `scores` are descending; those that reach the threshold are returned. `right` says which of them are
    right, and `found` holds the score at which each wanted item is first returned (-inf for never).
    """

    is_possible: bool
    scores: tuple[float, ...]
    right: tuple[bool, ...]
    found: tuple[float, ...]


def calibrate(
    rankers: CatalogRankers,
    evalset: EvalSet,
    *,
    ranker_name: str,
    thresholds: Sequence[float] = (),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Calibration | None:
    """Measure the curve of `hybrid`, `dense` or `iso` over the tools of `evalset` in order; None if canceled.

    For `hybrid` the threshold is the least confidence of an answer. It is measured on requests:
    precision over those answered, recall over the possible ones; an answer is right if a relevant tool is
    among its first five. For the others the threshold is a cosine. It is measured on pairs of a request and
    one of its first ten tools, summed over all requests: precision over those returned, recall over the
    groups of relevant tools. Impossible requests count against precision.

    Every request is ranked once. `cancelled` is checked before each request and `progress(done, total)` is
    called after it. Raises ToolsightError if the ranker has no threshold or no vectors, or if no request is
    possible; ModelError.
    """
    thresholds = thresholds or swept(ranker_name)
    _require(rankers, evalset, ranker_name)
    read = _read_hybrid if ranker_name == HYBRID else _read_dense
    ranker = rankers.get(ranker_name)
    tool_ids = [tool.id for tool in evalset.tools]
    outcomes: list[_Outcome] = []
    for case in evalset.cases:
        if cancelled():
            return None
        outcomes.append(read(case, ranker.rank(case.query), tool_ids))
        progress(len(outcomes), len(evalset.cases))
    points = _points(thresholds, outcomes)
    held_out = _held_out(thresholds, outcomes)
    possible = sum(outcome.is_possible for outcome in outcomes)
    return Calibration(ranker_name, evalset.name, possible, len(outcomes) - possible, points, held_out)


def swept(ranker: str) -> list[float]:
    """The thresholds that are tried for a ranker, ascending."""
    low = sweep(FINE, START - FINE, FINE) if ranker == HYBRID else []
    return [*low, *sweep(START, STOP, STEP)]


def sweep(start: float, stop: float, step: float) -> list[float]:
    """Thresholds at equal distances. Raises ValueError if there are none."""
    if not (all(map(math.isfinite, (start, stop, step))) and step > 0 and start <= stop):
        raise ValueError(f"no thresholds from {start} to {stop} in steps of {step}")
    count = math.floor((stop - start) / step + 1e-9) + 1
    return [round(start + index * step, _DIGITS) for index in range(count)]


def _require(rankers: CatalogRankers, evalset: EvalSet, name: str) -> None:
    if name not in SETTINGS:
        raise ToolsightError(
            f"the ranker '{name}' has no threshold to calibrate", hint=f"Choose from: {', '.join(SETTINGS)}."
        )
    if not any(case.is_possible for case in evalset.cases):
        raise ToolsightError(
            f"no tool fits any request in {evalset.name}",
            hint="Add some with `toolsight bench label FILE`, which also generates them.",
        )
    if not rankers.index.is_semantic:
        raise ToolsightError(
            f"the tools have no vectors, and without them '{name}' has no threshold",
            hint="Wait until they are embedded, or set tool_discovery.embedding_model to 'packaged'.",
        )
    if name == ISO and not rankers.index.lined:
        raise ToolsightError(
            "the tools' summary lines are not embedded, because no gate uses them",
            hint="Use the attention profile, or run `toolsight bench calibrate --ranker iso`.",
        )


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


def _points(thresholds: Sequence[float], outcomes: Sequence[_Outcome]) -> tuple[Point, ...]:
    return tuple(_point(threshold, [(one, threshold) for one in outcomes]) for threshold in thresholds)


def _best(points: Sequence[Point]) -> Point:
    return max(points, key=lambda point: point.f1)


def _held_out(thresholds: Sequence[float], outcomes: Sequence[_Outcome]) -> Point | None:
    """Every request at the best threshold of the other folds; None where a fold leaves none to fit on."""
    limits: list[tuple[_Outcome, float]] = []
    for fold in range(_FOLDS):
        others = [one for number, one in enumerate(outcomes) if number % _FOLDS != fold]
        if len(outcomes) < 2 * _FOLDS or not any(one.is_possible for one in others):
            return None
        threshold = _best(_points(thresholds, others)).threshold
        limits += [(one, threshold) for one in outcomes[fold::_FOLDS]]
    return _point(sum(limit for _, limit in limits) / len(limits), limits)


def _point(threshold: float, outcomes: Sequence[tuple[_Outcome, float]]) -> Point:
    """The effect of each request's own limit, named by one `threshold`."""
    returned = [
        is_right
        for outcome, limit in outcomes
        for score, is_right in zip(outcome.scores, outcome.right, strict=True)
        if score >= limit
    ]
    wanted = [score >= limit for outcome, limit in outcomes for score in outcome.found]
    possible = [_answers(*one) for one in outcomes if one[0].is_possible]
    impossible = [_answers(*one) for one in outcomes if not one[0].is_possible]
    return Point(
        threshold,
        precision=sum(returned) / len(returned) if returned else None,
        recall=sum(wanted) / len(wanted),
        answered_impossible=Share(sum(impossible), len(impossible)) if impossible else None,
        refused_possible=Share(len(possible) - sum(possible), len(possible)),
    )


def _answers(outcome: _Outcome, threshold: float) -> bool:
    return any(score >= threshold for score in outcome.scores)

"""The threshold that suits a catalog: one ranking a request, then a sweep over what was found."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.error import ToolsightError
from inspector.core.number import Share
from inspector.core.ranking import Answer
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.features.bench.calibrate import (
    STEP,
    STOP,
    Calibration,
    Point,
    _held_out,
    _Outcome,
    calibrate,
    sweep,
)
from inspector.features.bench.run import run_bench, summarise
from inspector.search.answer.search import SearchRules
from tests.support.examples import examples
from tests.support.fakes import ManualClock
from tests.support.retrieval import rankers_of, words_only

NAMES = ("list_orders", "refund_order", "send_message", "get_forecast", "plot_route", "lend_book")
TOOLS = tuple(Tool("s", name, f"{name.replace('_', ' ').capitalize()} for a customer.") for name in NAMES)
CASES = (
    EvalCase("1", "send a message to a customer", (frozenset({"s:send_message"}),)),
    EvalCase("2", "refund the order", (frozenset({"s:refund_order"}),)),
    EvalCase("3", "orders or a forecast", (frozenset({"s:list_orders"}), frozenset({"s:get_forecast"}))),
    EvalCase("4", "haircut tomorrow"),
    EvalCase("5", "water the plants of a customer"),
)


def curve(
    name: str,
    cases: Sequence[EvalCase] = CASES,
    *,
    start: float | None = None,
    stop: float = STOP,
    step: float = STEP,
) -> Calibration:
    evalset = EvalSet("tiny", TOOLS, tuple(cases))
    thresholds = () if start is None else sweep(start, stop, step)
    found = calibrate(rankers_of(TOOLS, lined=True), evalset, ranker_name=name, thresholds=thresholds)
    assert found is not None
    return found


def test_the_thresholds_are_those_that_were_asked_for() -> None:
    thresholds = [point.threshold for point in curve("hybrid").points]
    assert thresholds[:2] == [0.01, 0.02]
    assert thresholds[8:11] == [0.09, 0.1, 0.12]
    assert thresholds[-1] == 0.9
    assert len(curve("dense").points) == 41
    assert [point.threshold for point in curve("dense", start=0.5, stop=0.5).points] == [0.5]


@pytest.mark.parametrize("limits", [(0.5, 0.4, 0.1), (0.1, 0.9, 0.0), (0.1, 0.9, float("nan"))])
def test_a_sweep_without_a_threshold_is_refused(limits: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="no thresholds"):
        sweep(*limits)


def test_a_point_of_hybrid_is_what_a_bench_with_that_threshold_measures() -> None:
    evalset = EvalSet("tiny", TOOLS, CASES)
    for point in curve("hybrid", start=0.0, stop=1.0, step=0.1).points:
        rankers = rankers_of(TOOLS)
        run = run_bench(
            rankers.get("hybrid"),
            evalset,
            rankers.index,
            rules=SearchRules(threshold=point.threshold, closest_threshold=point.threshold),
            clock=ManualClock(),
            progress=lambda _done, _total: None,
            cancelled=lambda: False,
        )
        summary = summarise(run, evalset)
        assert point.answered_impossible == summary.share("impossible", Answer.FOUND)
        assert point.refused_possible == summary.share("possible", Answer.NOTHING)


def test_any_tool_of_a_group_will_do_and_a_further_one_is_no_mistake() -> None:
    case = EvalCase("1", "order", (frozenset({"s:list_orders", "s:refund_order"}),))
    point = curve("dense", [case], start=-1.0, stop=-1.0).best
    assert (point.precision, point.recall) == (2 / 6, 1.0)


@pytest.mark.parametrize("name", ["hybrid", "dense"])
def test_a_higher_threshold_never_answers_more(name: str) -> None:
    points = curve(name, start=-1.0, stop=1.0).points
    refused = [point.refused_possible.count for point in points]
    answered = [point.answered_impossible.count for point in points if point.answered_impossible]
    assert refused == sorted(refused)
    assert answered == sorted(answered, reverse=True)
    recalls = [point.recall for point in points]
    assert recalls == sorted(recalls, reverse=True)


def _point(threshold: float, f1: float, refused: int) -> Point:
    return Point(threshold, f1, f1, None, Share(refused, 100))


def test_of_equal_f1_the_lowest_threshold_is_the_best() -> None:
    points = (_point(0.1, 0.5, 0), _point(0.2, 0.8, 5), _point(0.3, 0.8, 10), _point(0.4, 0.7, 11))
    found = Calibration("hybrid", "x", 100, 0, points)
    assert found.best.threshold == 0.2
    assert found.cautious == points[1]
    assert replace(found, ranker="dense").cautious == points[2]
    assert not found.is_at_edge
    assert Calibration("hybrid", "x", 100, 0, points[1:2]).is_at_edge


def test_the_held_out_score_is_of_requests_that_the_threshold_was_not_fitted_on() -> None:
    # The first fifth of ten requests needs a low threshold, which the others would not choose.
    low, high, impossible = (
        _Outcome(True, (0.2,), (True,), (0.2,)),
        _Outcome(True, (0.9,), (True,), (0.9,)),
        _Outcome(False, (0.3,), (False,), ()),
    )
    outcomes = [low, high, high, high, high, low, impossible, impossible, high, high]
    held_out = _held_out((0.1, 0.5), outcomes)
    assert held_out is not None
    assert (held_out.precision, held_out.recall, held_out.refused_possible) == (0.75, 0.75, Share(2, 8))
    assert _held_out((0.1, 0.5), outcomes[:9]) is None


def test_hybrid_has_a_line_for_found_and_closest() -> None:
    points = (_point(0.02, 0.5, 6), _point(0.3, 0.8, 7), _point(0.4, 0.7, 11))
    found = Calibration("hybrid", "x", 100, 0, points)
    both = '"settings": {"discovery": {"min_probability": 0.3, "min_closest": 0.02}}'
    assert found.line(found.best.threshold) == both
    assert found.values(0.01)["discovery.min_closest"] == 0.01


@examples(share=0.5)
@given(st.text())
def test_no_query_fails(query: str) -> None:
    case = EvalCase("1", query, (frozenset({"s:lend_book"}),))
    for name in ("hybrid", "dense"):
        assert all(0 <= point.f1 <= 1 for point in curve(name, [case]).points)


def test_without_a_possible_request_it_says_how_to_get_some() -> None:
    with pytest.raises(ToolsightError, match="no tool fits any request") as raised:
        curve("hybrid", CASES[3:])
    assert "bench label" in raised.value.hint


@pytest.mark.parametrize("name", ["hybrid", "dense"])
def test_without_vectors_there_is_nothing_to_calibrate(name: str) -> None:
    retrieval = words_only(DiscoverySettings(), ManualClock())
    retrieval.update(TOOLS, {})
    with pytest.raises(ToolsightError, match="no vectors") as raised:
        calibrate(retrieval.rankers, EvalSet("tiny", TOOLS, CASES), ranker_name=name)
    assert raised.value.hint


def test_a_ranker_without_a_threshold_is_refused() -> None:
    with pytest.raises(ToolsightError, match="'bm25' has no threshold") as raised:
        curve("bm25")
    assert "hybrid, dense" in raised.value.hint

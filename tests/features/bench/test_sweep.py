"""`toolsight bench --sweep`: one ranking a request, then the thresholds that could be."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.access.reach import EvalCase, EvalSet
from inspector.cli import composition
from inspector.core.error import ToolsightError
from inspector.core.number import Share
from inspector.core.ranking import Answer
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.features.bench.run import run_bench, summarise
from inspector.features.bench.sweep import Point, Sweep, sweep, sweep_lines
from inspector.search.answer.search import SearchRules
from inspector.search.index.semantics import Embedder
from tests.support.commands import Done, Toolsight
from tests.support.fakes import ManualClock
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.retrieval import rankers_of, words_only
from tests.support.weather_configuration import write_weather_configuration

NAMES = ("list_orders", "refund_order", "send_message", "get_forecast", "plot_route", "lend_book")
TOOLS = tuple(Tool("s", name, f"{name.replace('_', ' ').capitalize()} for a customer.") for name in NAMES)
CASES = (
    EvalCase("1", "send a message to a customer", (frozenset({"s:send_message"}),)),
    EvalCase("2", "refund the order", (frozenset({"s:refund_order"}),)),
    EvalCase("3", "orders or a forecast", (frozenset({"s:list_orders"}), frozenset({"s:get_forecast"}))),
    EvalCase("4", "haircut tomorrow"),
    EvalCase("5", "water the plants of a customer"),
)


def curve(name: str, cases: Sequence[EvalCase] = CASES, *, thresholds: Sequence[float] = ()) -> Sweep:
    evalset = EvalSet("tiny", TOOLS, tuple(cases))
    found = sweep(rankers_of(TOOLS, lined=True), evalset, name, thresholds=thresholds)
    assert found is not None
    return found


def test_confidences_are_tried_from_one_percent_on_and_cosines_from_ten() -> None:
    thresholds = [point.threshold for point in curve("hybrid").points]
    assert thresholds[:2] == [0.01, 0.02]
    assert thresholds[8:11] == [0.09, 0.1, 0.12]
    assert thresholds[-1] == 0.9
    assert [point.threshold for point in curve("dense").points] == thresholds[9:]


def told(share: Share | None) -> tuple[int, int] | None:
    """A share without the size of its sample."""
    return None if share is None else (share.count, share.total)


def test_a_point_of_hybrid_is_what_a_bench_with_that_threshold_measures() -> None:
    evalset = EvalSet("tiny", TOOLS, CASES)
    for point in curve("hybrid", thresholds=[tenth / 10 for tenth in range(11)]).points:
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
        assert told(point.answered_impossible) == told(summary.share("impossible", Answer.FOUND))
        assert told(point.refused_possible) == told(summary.share("possible", Answer.NOTHING))


@pytest.mark.parametrize("name", ["hybrid", "dense"])
def test_a_higher_threshold_never_answers_more(name: str) -> None:
    points = curve(name, thresholds=[tenth / 10 for tenth in range(-10, 11)]).points
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
    found = Sweep("hybrid", "x", 100, 0, points)
    assert found.best.threshold == 0.2
    assert found.cautious == points[1]
    assert replace(found, ranker="dense").cautious == points[2]
    edge = "at the edge of the sweep"
    assert not any(edge in str(line) for line in sweep_lines(found, 0.0))
    assert any(edge in str(line) for line in sweep_lines(replace(found, points=points[1:2]), 0.0))


def test_hybrid_has_a_threshold_for_found_and_one_for_closest_never_above_it() -> None:
    points = (_point(0.02, 0.5, 6), _point(0.3, 0.8, 7), _point(0.4, 0.7, 11))
    found = Sweep("hybrid", "x", 100, 0, points)
    assert found.values == {"discovery.min_probability": 0.3, "discovery.min_closest": 0.02}
    lower = replace(found, points=(_point(0.02, 0.8, 1), _point(0.4, 0.7, 2)))
    assert lower.values == {"discovery.min_probability": 0.02, "discovery.min_closest": 0.02}


def test_without_a_possible_request_it_says_how_to_get_some() -> None:
    with pytest.raises(ToolsightError, match="no tool fits any request") as raised:
        curve("hybrid", CASES[3:])
    assert "bench label" in raised.value.hint


@pytest.mark.parametrize("name", ["hybrid", "dense"])
def test_without_vectors_there_is_no_threshold(name: str) -> None:
    retrieval = words_only(DiscoverySettings(), ManualClock())
    retrieval.update(TOOLS, {})
    with pytest.raises(ToolsightError, match="no vectors") as raised:
        sweep(retrieval.rankers, EvalSet("tiny", TOOLS, CASES), name)
    assert raised.value.hint


Run = Callable[..., Done]


@pytest.fixture
def run(toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Sweep with vectors made of words."""

    def embedder(name: str) -> Embedder | None:
        return None if name == "none" else MemoryEmbedder()

    monkeypatch.setattr(composition, "make_embedder", embedder)
    return lambda *arguments: toolsight("bench", "--sweep", *arguments)


@pytest.mark.parametrize(
    ("ranker", "setting"),
    [
        ("hybrid", "discovery.min_probability"),
        ("dense", "discovery.iso_threshold"),
        ("iso", "gate.threshold"),
    ],
)
def test_the_curve_ends_with_the_setting_to_write(run: Run, data: Path, ranker: str, setting: str) -> None:
    result = run(ranker, "--data", str(data))
    lines = result.stdout.splitlines()
    assert lines[0] == f"{ranker} on tiny: 3 possible and 1 impossible requests"
    assert sum(line.strip().startswith("0.") for line in lines) == (50 if ranker == "hybrid" else 41)
    best = next(line for line in lines if "best F1" in line)
    value = float(best.partition("best F1: ")[2].split()[0])
    section, _, name = setting.partition(".")
    told = json.loads(f"{{{lines[-1]}}}")["settings"]
    assert told[section][name] == value
    assert told.keys() == {section}
    assert ("min_closest" in told[section]) == (ranker == "hybrid")
    assert [line for line in lines if line.startswith("now")]


def test_generated_requests_give_no_setting_to_copy(run: Run, tmp_path: Path) -> None:
    configuration = write_weather_configuration(tmp_path)
    lines = run("iso", "--config", str(configuration), "--approve").stdout.splitlines()
    assert lines[0].startswith("iso on generated: ")
    assert lines[-1].startswith("No setting to copy")
    assert not any('"settings"' in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sweep", "bm25"), "'bm25' is not one of"),
        (("--sweep", "hybrid", "--ranker", "bm25"), "--sweep takes one --data"),
    ],
)
def test_what_cannot_be_swept_is_a_mistake_that_says_what_can(
    toolsight: Toolsight, arguments: tuple[str, ...], said: str
) -> None:
    done = toolsight("bench", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr

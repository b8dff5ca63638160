"""How well recorded runs could have been predicted, by what they did not do themselves."""

import pytest

from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedRun, RecordedStep
from inspector.measure.inertia_score import PERSONAS, RULES, Ahead, InertiaScore, facts, score
from inspector.scenario.recorded_agent import OtherRuns, session_of
from inspector.search.embedding import newest

ALL = next(iter(PERSONAS))


def run(name: str, task: str, *tools: str, model: str = "") -> RecordedRun:
    steps = tuple(RecordedStep(calls=(RecordedCall(tool, server="s"),)) for tool in tools)
    return RecordedRun(name, task, (RecordedMessage("go", steps),), model=model)


def bound(found: InertiaScore, by: str, level: float) -> Ahead:
    (one,) = [each for each in found.ahead if (each.by, each.level) == (by, level)]
    return one


def share(found: InertiaScore, rule: str, cut: int = 1) -> float:
    value = found.hits[rule][cut]
    assert value is not None
    return value.mean


def test_first_uses_and_transitions_to_the_same_tool_are_counted_apart() -> None:
    told = facts([run("1", "t", "a", "a", "b", "a"), run("2", "t", "c")])
    assert (told.runs, told.tasks, told.calls, told.transitions, told.first_uses) == (2, 1, 5, 3, 1)
    assert told.same is not None
    assert told.same.mean == pytest.approx(1 / 3)


def test_a_run_is_never_predicted_by_itself() -> None:
    only = score([run("1", "t", "a", "b")], ALL, by_task=False)
    assert [share(only, rule, 3) for rule in RULES] == [0, 0, 0, 0]


def test_a_tool_that_was_called_is_no_guess_for_a_first_use() -> None:
    runs = [run(str(number), str(number), "a", "a", "a", "b") for number in range(3)]
    found = score(runs, ALL, by_task=True)
    assert share(found, "order 1") == 1
    assert share(found, "order 1 unfiltered") == 0
    assert share(found, "order 1 unfiltered", 3) == 1


def test_personas_are_predicted_by_their_own_runs_alone() -> None:
    runs = [
        run(f"{model}{task}", task, "a", last, model=model)
        for task in "12"
        for model, last in (("x", "b"), ("y", "c"))
    ]
    assert share(score(runs, "model", by_task=True), "order 1") == 1
    assert share(score(runs, ALL, by_task=True), "order 1") == 0.5


def test_what_is_bound_ahead_and_not_called_is_waste() -> None:
    runs = [
        run("1", "1", "a", "b"),
        run("2", "2", "a", "b"),
        run("3", "3", "a", "x", "b"),
        run("4", "4", "a"),
    ]
    found = bound(score(runs, ALL, by_task=True), "share", 0.5)
    # b in every run, and x where one of the two others that went on from a says so.
    assert found.bound == 6
    assert found.unused_next is not None
    assert found.unused is not None
    assert [found.unused_next.mean, found.unused.mean] == pytest.approx([4 / 6, 0.5])


def test_played_runs_learn_from_every_task_but_their_own() -> None:
    runs = [run("1", "t", "a"), run("2", "t", "b"), run("3", "u", "c", "a")]
    (task,) = OtherRuns(runs).tasks(but=session_of(runs[0]))
    assert [tool for tool, _ in task.calls] == ["s:c", "s:a"]
    calls = list(OtherRuns(runs).successful_calls(but=session_of(runs[0])))
    assert [call.tool for call in calls] == ["s:c", "s:a"]
    assert newest(calls) == {"s:c": (), "s:a": ()}

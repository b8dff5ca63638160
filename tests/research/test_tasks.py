"""Tasks need tools that exist, in the stated shapes, and are not written in the words of the tools."""

import hashlib

import pytest

from inspector.core.text import tool_summary
from inspector.research.task import (
    LONG,
    MULTI,
    SINGLE,
    STEPS,
    TOOLS,
    TURNS,
    Task,
    mean_overlap,
    overlap,
    tasks,
    texts,
)
from inspector.research.testbed import Testbed, build_testbed
from tests.research.test_testbed import quarter

MADE = build_testbed(quarter)
TASKS = tasks(MADE, 100)
SUMMARIES = {tool.id: tool_summary(tool, 60, quarter) for tool in MADE.tools}


def of(kind: str) -> list[Task]:
    return [task for task in TASKS if task.kind == kind]


def test_there_are_as_many_tasks_as_asked_for_of_every_kind() -> None:
    assert [len(of(kind)) for kind in (SINGLE, MULTI, LONG)] == [60, 30, 10]


def test_a_single_step_task_needs_one_tool() -> None:
    assert all(len(task.turns) == len(task.needed) == 1 for task in of(SINGLE))


def test_a_multi_step_task_needs_a_few_tools_of_several_servers_for_one_message() -> None:
    for task in of(MULTI):
        assert len(task.turns) == 1
        assert STEPS[0] <= len(task.needed) <= STEPS[1]
        assert len({tool_id.partition(":")[0] for tool_id in task.needed}) >= 2


def test_a_long_task_has_many_turns_some_of_them_only_talk() -> None:
    for task in of(LONG):
        assert TURNS[0] <= len(task.turns) <= TURNS[1]
        assert TOOLS[0] <= len(task.needed) <= TOOLS[1]
        assert task.turns[0].steps
        assert all(len(turn.steps) <= 1 for turn in task.turns)
    assert any(not turn.steps for task in of(LONG) for turn in task.turns)


def test_every_needed_tool_exists_and_the_session_may_use_it() -> None:
    for task in TASKS:
        assert task.needed <= MADE.by_id.keys()
        assert {t.partition(":")[0] for t in task.needed & MADE.writing} <= task.scopes


def test_queries_share_few_words_with_the_summaries_they_are_to_find() -> None:
    assert mean_overlap(TASKS, SUMMARIES) < 0.15
    assert not any(
        overlap(step.query, SUMMARIES[step.tool_id]) > 0.6
        for task in TASKS
        for turn in task.turns
        for step in turn.steps
    )


def test_a_copied_query_overlaps_whole() -> None:
    assert all(overlap(line, line) == 1.0 for line in SUMMARIES.values())
    assert overlap("", "") == 0.0


def test_every_step_is_part_of_what_was_said() -> None:
    for task in TASKS:
        for turn in task.turns:
            for step in turn.steps:
                assert step.query[1:-1] in turn.text


def test_queries_are_filled_in() -> None:
    assert not any("{" in text for text in texts(TASKS))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_makes_the_same_tasks(seed: int) -> None:
    assert tasks(MADE, 20, seed) == tasks(MADE, 20, seed)


def test_another_seed_makes_other_tasks() -> None:
    assert tasks(MADE, 20, 1) != tasks(MADE, 20, 2)


def test_popular_tools_are_the_same_in_every_seed() -> None:
    def top(made: Testbed, seed: int) -> set[str]:
        needed = [t for task in tasks(made, 300, seed) for t in task.needed]
        return set(sorted(set(needed), key=needed.count)[-30:])

    assert len(top(MADE, 1) & top(MADE, 2)) >= 12


def test_the_tasks_that_the_documented_numbers_are_of_have_not_changed() -> None:
    said = [f"{task.kind} {sorted(task.scopes)} {task.turns}" for task in tasks(MADE)]
    assert hashlib.sha256("\n".join(said).encode()).hexdigest().startswith("43ae5d5eb1fb")

"""What follows what: counts, shares and intervals, whatever the order and the parts in which calls arrive."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.inertia import Aging, InertiaGraph
from inspector.core.number import wilson
from inspector.core.ports import TaskCalls
from inspector.store.call_history import persona_of
from tests.support.canned import graphs_of

DAY = 86_400.0
tools = st.sampled_from(("shop:list", "shop:get", "mail:send", "mail:read"))
moments = st.integers(0, 400).map(lambda day: day * DAY)
tasks = st.lists(st.tuples(tools, moments), max_size=8).map(lambda calls: TaskCalls("me", tuple(calls)))
graphs = st.lists(tasks, max_size=6)


def graph(*learned: TaskCalls) -> InertiaGraph:
    made = InertiaGraph()
    for task in learned:
        made.add(task)
    return made


def called(*names: str, at: float = 0.0) -> TaskCalls:
    return TaskCalls("me", tuple((name, at) for name in names))


@given(graphs)
def test_every_call_but_the_first_of_a_task_is_one_transition(learned: list[TaskCalls]) -> None:
    made = graph(*learned)
    assert made.tasks == sum(bool(task.calls) for task in learned)
    assert sum(tally.count for tally in made.calls.values()) == sum(len(task.calls) for task in learned)
    expected = sum(max(len(task.calls) - 1, 0) for task in learned)
    assert sum(tally.count for _, _, tally in made.links) == expected


@given(graphs, st.floats(0, 1e6), st.integers(0, 500))
def test_the_shares_after_a_tool_add_up_to_one(learned: list[TaskCalls], half: float, day: int) -> None:
    made = graph(*learned)
    for before in {before for before, _, _ in made.links}:
        found = made.after(before, Aging(day * DAY, half))
        # What is so old that nothing is left of it has no share.
        if found:
            assert sum(one.probability for one in found) == pytest.approx(1)
            assert all(0 <= one.low <= one.probability <= 1 for one in found)
            assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)


@given(graphs)
def test_call_by_call_is_the_same_graph_as_task_by_task(learned: list[TaskCalls]) -> None:
    made = InertiaGraph()
    for task in learned:
        before = ""
        for tool, at in task.calls:
            made.called(before, tool, at)
            before = tool
    assert made == graph(*learned)


def test_a_share_says_how_sure_it_is() -> None:
    made = graph(*[called("a:x", "b:y")] * 3, called("a:x", "c:z"))
    first, second = made.after("a:x", Aging(0.0))
    assert (first.tool, first.count, first.probability) == ("b:y", 3, 0.75)
    assert (second.tool, second.count, second.probability) == ("c:z", 1, 0.25)
    assert first.low == wilson(0.75, 4)[0]


def test_after_a_half_life_a_call_counts_half() -> None:
    made = graph(called("a:x", "b:y"), called("a:x", "c:z", at=30 * DAY))
    after = {one.tool: one.weight for one in made.after("a:x", Aging(30 * DAY, 30.0))}
    assert after == {"c:z": 1.0, "b:y": 0.5}
    assert {one.weight for one in made.after("a:x", Aging(30 * DAY, 0.0))} == {1.0}


def test_each_persona_has_a_graph_of_its_own() -> None:
    made = graphs_of([called("a:x", "b:y"), TaskCalls("you", (("a:x", 0.0), ("c:z", 0.0)))])
    assert {name: [one.tool for one in each.after("a:x", Aging(0.0))] for name, each in made.items()} == {
        "me": ["b:y"],
        "you": ["c:z"],
    }


def test_the_agent_is_the_persona_then_the_name_then_the_toolset() -> None:
    assert persona_of("codex", "reports", "shop") == "codex"
    assert persona_of("", "reports", "shop") == "reports"
    assert persona_of("", "", "shop") == "shop"
    assert persona_of("", "", "") == "toolsight"
    assert persona_of("", "", "shop", "ada") == "ada"
    assert persona_of("", "reports", "shop", "ada") == "reports"

"""Files of transitions: what they say, what is wrong with them, and an export that is a seed again."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ConfigError
from inspector.core.inertia import Aging
from inspector.core.ports import TaskCalls
from inspector.loop.flow import exported, flows, load_seeds
from tests.support.canned import graphs_of

NEVER = Aging(0.0)


def written(folder: Path, text: str, name: str = "seed.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_transition_has_its_count_its_note_and_the_tasks_that_it_stands_for(tmp_path: Path) -> None:
    text = """
    persona: reports
    tasks: 40
    transitions:
      - {after: "shop:list", tool: "mail:send", count: 3, note: by mail}
      - {after: "shop:list", tool: "shop:get"}
    """
    (persona, graph), *_ = load_seeds(written(tmp_path, text)).items()
    assert (persona, graph.tasks) == ("reports", 40)
    first, second = graph.after("shop:list", NEVER)
    assert (first.tool, first.count, first.note, first.probability) == ("mail:send", 3, "by mail", 0.75)
    assert second.count == 1


def test_without_a_name_the_transitions_are_those_of_toolsights_own_sessions(tmp_path: Path) -> None:
    seeds = load_seeds(written(tmp_path, "transitions: [{after: 'a:x', tool: 'b:y'}]"))
    assert list(seeds) == ["toolsight"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("transitions: []", "transitions"),
        ("transitions: [{after: 'a:x'}]", "tool"),
        ("transitions: [{after: list, tool: 'b:y'}]", "not a tool id"),
        ("transitions: [{after: 'a:x', tool: 'b:y', count: 0}]", "count"),
        ("transitions: [{after: 'a:x', tool: 'b:y', often: 3}]", "often"),
        ("personas: [{persona: '', transitions: [{after: 'a:x', tool: 'b:y'}]}]", "persona"),
        ("- a", "seed.yaml"),
        ("", "seed.yaml"),
    ],
)
def test_a_fault_names_the_file_and_the_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_seeds(written(tmp_path, text))
    assert said in f"{raised.value.message} {raised.value.hint}"
    assert "seed.yaml" in raised.value.message


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.json"):
        load_seeds(tmp_path / "gone.json")


calls = st.lists(st.sampled_from(("a:x", "b:y", "c:z")), min_size=2, max_size=6)


@given(st.lists(calls, min_size=1, max_size=5))
def test_an_export_is_a_seed_with_the_same_shares(
    tmp_path_factory: pytest.TempPathFactory, tasks: list[list[str]]
) -> None:
    graphs = graphs_of(TaskCalls("me", tuple((tool, 86_400.0) for tool in task)) for task in tasks)
    shown = flows(graphs, NEVER)
    text = json.dumps([exported(one) for one in shown])
    again = load_seeds(written(tmp_path_factory.mktemp("export"), text, "export.json"))
    assert again["me"].tasks == graphs["me"].tasks
    for tool in graphs["me"].calls:
        before, after = (one["me"].after(tool, NEVER) for one in (graphs, again))
        assert [(s.tool, s.count, s.probability) for s in before] == [
            (s.tool, s.count, s.probability) for s in after
        ]

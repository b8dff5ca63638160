"""Scenario files: everything that may be written, and every mistake told by file, entry and key."""

from pathlib import Path

import pytest

from inspector.adapters.files.scenario_file import load_scenario
from inspector.domain.error import ConfigError
from inspector.domain.scenario import AddedTool, CatalogChange, Preparation, ScriptedCall, Step

SCENARIOS = sorted((Path(__file__).parents[2] / "fixtures" / "scenarios").glob("*.yaml"))
EVERYTHING = """
title: Everything
about: All keys in one file.
profile: kaman
window: 9000
settings: {binding.capacity: 2, access.preconditions: {"a:b": ["milestone_reached('x')"]}}
expect:
  - {event: loop, tool: "a:b", count: {at_least: 3}}
never:
  - {event: error}
turns:
  - user: first
    steps:
      - {think: Hm., say: I call., wait: 1.5, calls: [{tool: "a:b", arguments: {n: 1}}, {tool: search_tools}]}
  - user: second
    wait: 600
    milestone: confirmed
    change:
      server: a
      remove: ["a:b"]
      add: [{id: "a:c", description: New., answer: 42 is the answer}]
      describe: {"a:d": Another text.}
    steps: [{say: Done.}]
"""
MINIMAL = "turns: [{user: a, steps: [{say: b}]}]"


def _written(folder: Path, text: str) -> Path:
    path = folder / "case.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_of_a_file_is_read(tmp_path: Path) -> None:
    scenario = load_scenario(_written(tmp_path, EVERYTHING))
    assert (scenario.title, scenario.about) == ("Everything", "All keys in one file.")
    assert scenario.profile == "kaman"
    assert scenario.window == 9000
    assert scenario.settings["binding.capacity"] == 2
    assert scenario.settings["access.preconditions"] == {"a:b": ("milestone_reached('x')",)}
    calls = (ScriptedCall("a__b", {"n": 1}), ScriptedCall("search_tools", {}))
    assert scenario.turns == ((Step("I call.", calls, "Hm.", 1.5),), (Step("Done."),))
    assert [one.text for one in scenario.expect] == ['loop, tool "a:b", count at least 3']
    assert [one.text for one in scenario.never] == ["error"]


def test_what_happens_before_a_turn_is_read(tmp_path: Path) -> None:
    scenario = load_scenario(_written(tmp_path, EVERYTHING))
    new = AddedTool("a:c", "New.", "42 is the answer")
    change = CatalogChange("a", ("a:b",), (new,), {"a:d": "Another text."})
    assert scenario.prepare == (Preparation(), Preparation(600.0, "confirmed", change))
    assert scenario.changes_catalog


def test_a_file_needs_no_more_than_a_user_and_a_step(tmp_path: Path) -> None:
    scenario = load_scenario(_written(tmp_path, MINIMAL))
    assert (scenario.title, scenario.users, scenario.profile, scenario.settings) == ("case", ("a",), "", {})
    assert (scenario.expect, scenario.never, scenario.changes_catalog) == ((), (), False)
    assert scenario.window == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("turns: [", "not readable as YAML"),
        ("- a list", "the file: has to be a mapping"),
        ("title: x", "the file: turns has to have at least one entry"),
        ("title: [x]\nturns: [{user: a, steps: [{say: b}]}]", "the file: title has to be text"),
        ("turns: [{steps: [{say: b}]}]", "turn 1: user is missing"),
        ("turns: [{user: a}]", "turn 1: steps has to have at least one entry"),
        ("turns: [{user: a, steps: no}]", "turn 1: steps has to be a list"),
        ("turns: [{user: a, steps: [{}]}]", "turn 1, step 1: say or calls has to be given"),
        ("turns: [{user: a, steps: [{think: b}]}]", "turn 1, step 1: say or calls has to be given"),
        ("turns: [{user: a, steps: [{says: b}]}]", "turn 1, step 1: says is not known"),
        ("turns: [{user: a, steps: [{say: b, wait: -1}]}]", "turn 1, step 1: wait has to be a number of sec"),
        ("turns: [{user: a, wait: .inf, steps: [{say: b}]}]", "turn 1: wait has to be a number of seconds"),
        ("turns: [{user: a, wait: .nan, steps: [{say: b}]}]", "turn 1: wait has to be a number of seconds"),
        ("turns: [{user: a, wait: yes, steps: [{say: b}]}]", "turn 1: wait has to be a number of seconds"),
        ("window: 0\nturns: [{user: a, steps: [{say: b}]}]", "the file: window has to be a whole number"),
        ("window: 1.5\nturns: [{user: a, steps: [{say: b}]}]", "the file: window has to be a whole number"),
        ("window: yes\nturns: [{user: a, steps: [{say: b}]}]", "the file: window has to be a whole number"),
        ("window: 1e10\nturns: [{user: a, steps: [{say: b}]}]", "the file: window has to be a whole number"),
        ("turns: [{user: a, steps: [{calls: [{}]}]}]", "turn 1, step 1, call 1: tool is missing"),
        ("turns: [{user: a, steps: [{calls: [{tool: t, arguments: 3}]}]}]", "call 1, arguments: has to be"),
        (
            "turns: [{user: a, steps: [{calls: [{tool: t, arguments: {day: 2026-03-02}}]}]}]",
            "arguments has a value that JSON cannot hold",
        ),
    ],
)
def test_a_turn_that_cannot_be_played_is_refused_by_file_entry_and_key(
    tmp_path: Path, text: str, told: str
) -> None:
    _refuse(_written(tmp_path, text), told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("profile: kamen", "the file: profile: there is no profile 'kamen'"),
        ("profile: [x]", "the file: profile has to be text"),
        ("settings: [x]", "settings: has to be a mapping"),
        ("settings: {binding.capcity: 2}", "settings: there is no setting 'binding.capcity'"),
        ("settings: {binding.capacity: two}", "settings: binding.capacity must be a whole number"),
        ("settings: {binding.capacity: -1}", "settings: binding.capacity must be at least 0"),
        ("expect: {event: loop}", "the file: expect has to be a list"),
        ("expect: [loop]", "expect 1: has to be a mapping"),
        ("expect: [{event: loop}, {event: lop}]", "expect 2: there is no event 'lop'"),
        ("never: [{event: loop, counts: 3}]", "never 1: the event 'loop' has no field 'counts'"),
        ("expect: [{event: user, text: 2026-03-02}]", "expect 1: an entry has a value that JSON cannot hold"),
    ],
)
def test_settings_and_expectations_are_checked_when_the_file_is_read(
    tmp_path: Path, text: str, told: str
) -> None:
    _refuse(_written(tmp_path, f"{text}\n{MINIMAL}"), told)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("{remove: [x]}", "turn 1, change: server is missing"),
        ("{server: a, rename: {}}", "turn 1, change: rename is not known"),
        ("{server: a, remove: [b]}", "turn 1, change: b is no tool of a; write a:NAME"),
        ("{server: a, remove: ['a:']}", "turn 1, change: a: is no tool of a"),
        ("{server: a, add: [{id: 'b:c'}]}", "turn 1, change: b:c is no tool of a"),
        ("{server: a, add: [{description: x}]}", "turn 1, change, add 1: id is missing"),
        ("{server: a, describe: {'a:b': 3}}", "turn 1, change, describe: a:b has to be text"),
        ("x", "turn 1, change: has to be a mapping"),
    ],
)
def test_a_change_of_a_catalog_is_checked_when_the_file_is_read(
    tmp_path: Path, change: str, told: str
) -> None:
    _refuse(_written(tmp_path, f"turns: [{{user: a, change: {change}, steps: [{{say: b}}]}}]"), told)


def test_a_wrong_name_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load_scenario(_written(tmp_path, f"never: [{{event: loop, counts: 3}}]\n{MINIMAL}"))
    assert "count" in refused.value.hint


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    _refuse(tmp_path / "none.yaml", "cannot be read")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_bytes(b"\xff\xfe\xfd\x80")
    _refuse(path, "not readable")


def _refuse(path: Path, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_scenario(path)
    assert told in refused.value.message
    assert str(path) in refused.value.message


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_shipped_scenario_says_what_it_is_about_and_what_comes_of_it(path: Path) -> None:
    scenario = load_scenario(path)
    assert scenario.title
    assert scenario.about
    assert scenario.expect
    assert scenario.never
    assert len(scenario.users) == len(scenario.turns) == len(scenario.prepare)
    assert all(steps[-1].say and not steps[-1].calls for steps in scenario.turns)

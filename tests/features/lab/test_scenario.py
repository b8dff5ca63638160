"""Scenario files: everything that may be written, and every mistake told by file, entry and key."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from inspector.core.budget import TokenParts
from inspector.core.error import ConfigError
from inspector.core.events import (
    CallStarted,
    Event,
    Event as AnyEvent,
    LoopDetected,
    ModelRequested,
    Record,
    ToolEvicted,
    ToolLoaded,
    UserSaid,
)
from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    NoteMessage,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from inspector.features.lab.expectation import Finding, check, expectation
from inspector.features.lab.scenario import (
    OVER,
    AddedTool,
    CatalogChange,
    Fault,
    ScriptedCall,
    ScriptModel,
    Step,
    Turn,
    load_scenario,
)

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
    stop: a
    reconnect: a
    fault: {server: a, kind: rate_limit, times: 2, tool: b, retry_after: 20}
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
    calls = (ScriptedCall(tool="a__b", arguments={"n": 1}), ScriptedCall(tool="search_tools"))
    assert scenario.steps == (Step(say="I call.", calls=calls, think="Hm.", wait=1.5), Step(say="Done."))
    assert [one.text for one in scenario.expect] == ['loop, tool "a:b", count at least 3']
    assert [one.text for one in scenario.never] == ["error"]


def test_what_happens_before_a_turn_is_read(tmp_path: Path) -> None:
    scenario = load_scenario(_written(tmp_path, EVERYTHING))
    new = AddedTool(id="a:c", description="New.", answer="42 is the answer")
    turn, steps = scenario.turns[1], (Step(say="Done."),)
    assert (turn.wait, turn.milestone, turn.stop, turn.reconnect) == (600.0, "confirmed", "a", "a")
    described = {"a:d": "Another text."}
    assert turn.change == CatalogChange(server="a", remove=("a:b",), add=(new,), describe=described)
    assert turn.fault == Fault(server="a", kind="rate_limit", times=2, tool="b", retry_after=20.0)
    assert scenario.turns[0] == Turn(user="first", steps=scenario.turns[0].steps)
    assert steps == turn.steps


STEP = "turns[0].steps[0]"


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("title: x\nturns: [", "2:9: not valid YAML", "quote text"),
        ("title: x", "1: turns is missing", "`user` and `steps`"),
        ("titel: x\nturns: []", "1: titel is not a known key (and 1 more)", "Did you mean `title`?"),
        ("turns: [{user: a, user: b, steps: [{say: b}]}]", "1:19: not valid YAML: user appears twice", ""),
        ("turns: [{user: a, steps: [{think: b}]}]", f"1: {STEP} has neither say nor calls", "Add"),
        ("turns:\n- user: a\n  steps:\n  - says: b", f"4: {STEP}.says is not a known key", "`say`?"),
        ("turns: [{user: a, steps: [{say: b, wait: -1}]}]", f"1: {STEP}.wait must be greater", "0 to 1e9"),
        (
            "turns: [{user: a, steps: [{calls: [{tool: t, arguments: {day: 2026-03-02}}]}]}]",
            f"1: {STEP}.calls[0].arguments has a value that JSON cannot represent",
            "Put dates in quotes",
        ),
        (
            "turns: [{user: a, steps: [{calls: [{tool: t, arguments: &self {again: *self}}]}]}]",
            "1:57: not valid YAML: contains itself",
            "",
        ),
    ],
)
def test_a_turn_that_cannot_be_played_is_refused_by_line_and_key(
    tmp_path: Path, text: str, told: str, hint: str
) -> None:
    _refuse(_written(tmp_path, text), told, hint)


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("profile: kamen", "profile 'kamen' does not exist", "Did you mean `kaman`?"),
        ("settings: {binding.capcity: 2}", "settings.binding.capcity is not a setting", "binding.capacity"),
        ("expect:\n- event: loop\n- event: lop", "3: expect[1] cannot be checked: there is no event", "loop"),
        (
            "expect: [{event: user, text: 2026-03-02}]",
            "1: expect[0] has a value that JSON cannot represent",
            "date",
        ),
    ],
)
def test_settings_and_expectations_are_checked_when_the_file_is_read(
    tmp_path: Path, text: str, told: str, hint: str
) -> None:
    _refuse(_written(tmp_path, f"{text}\n{MINIMAL}"), told, hint)


@pytest.mark.parametrize(
    ("change", "told", "hint"),
    [
        ("{remove: [x]}", "change.server is missing", "whose tools change"),
        ("{server: a, remove: [b]}", "change has b, which is not a tool of a", "Write a:NAME."),
        ("{server: a, describe: {'a:b': 3}}", 'change.describe."a:b" must be a string', "double quotes"),
    ],
)
def test_a_change_of_a_catalog_is_checked_when_the_file_is_read(
    tmp_path: Path, change: str, told: str, hint: str
) -> None:
    text = f"turns: [{{user: a, change: {change}, steps: [{{say: b}}]}}]"
    _refuse(_written(tmp_path, text), f"1: turns[0].{told}", hint)


def _refuse(path: Path, told: str, hint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_scenario(path)
    assert str(path) in refused.value.message
    assert told in refused.value.message.removeprefix(f"{path}:")
    assert hint in refused.value.hint
    assert refused.value.hint


# Expectations: what meets them, in which order, and what is told where nothing does.

LOADED = ToolLoaded("a:b", 10, "search")
LOOP = LoopDetected("a:b", 3, 120.0, "f00d", "try something else")
EVICTED = ToolEvicted("a:b", "loop guard", "loop")


def recorded(*events: AnyEvent) -> list[Record]:
    return [Record("s", seq, float(seq), event) for seq, event in enumerate(events, 1)]


def found(records: list[Record], *entries: dict[str, Any]) -> tuple[Finding, ...]:
    return check(records, [expectation(entry) for entry in entries])


def is_met(event: Event, **conditions: Any) -> bool:
    (finding,) = found(recorded(event), {"event": event.kind, **conditions})
    return finding.met


def test_a_guards_counts_are_expected_in_words() -> None:
    wanted = expectation({"event": "count", "in_time": 3, "in_calls": {"at_least": 2}})
    told = "count, times in the time window 3, times in the last calls at least 2"
    assert wanted.text == told


def test_events_in_their_order_meet_expectations_with_others_between() -> None:
    records = recorded(LOADED, UserSaid("x"), LOOP, UserSaid("y"), EVICTED)
    findings = found(
        records, {"event": "load"}, {"event": "loop", "tool": "a:b", "count": 3}, {"event": "evict"}
    )
    assert [(finding.met, finding.seq) for finding in findings] == [(True, 1), (True, 3), (True, 5)]
    assert findings[1].reason == "met at 3"


def test_an_event_that_comes_too_early_is_named() -> None:
    _, early = found(recorded(LOADED, EVICTED), {"event": "evict"}, {"event": "load", "tool": "a:b"})
    assert not early.met
    assert early.reason == "not met in this order: it comes earlier, at 1"


def test_what_is_missing_is_told_by_the_nearest_event_and_what_differs_there() -> None:
    records = recorded(
        LoopDetected("c:d", 9, 1.0, "", ""), LoopDetected("a:b", 2, 1.0, "", ""), UserSaid("loop")
    )
    (finding,) = found(records, {"event": "loop", "tool": "a:b", "count": 3})
    assert (finding.met, finding.seq) == (False, 2)
    assert finding.reason == "not met: the closest event is 2, where count is 2"


def test_what_must_not_occur_is_told_where_it_does() -> None:
    never = [expectation({"event": "loop", "count": {"at_least": 3}}), expectation({"event": "evict"})]
    occurs, absent = check(recorded(LOADED, LOOP), (), never)
    assert (occurs.met, occurs.seq, occurs.forbidden) == (False, 2, True)
    assert occurs.reason == "occurs at 2"
    assert (absent.met, absent.seq) == (True, None)


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        (3, True),
        (True, False),
        ({"at_least": 3}, True),
        ({"at_least": 4}, False),
        ({"at_least": 1, "at_most": 5}, True),
    ],
)
def test_a_number_is_compared_as_a_number(condition: Any, met: bool) -> None:
    assert is_met(LOOP, count=condition) is met


def test_arguments_and_nested_values_are_compared_whole() -> None:
    call = CallStarted("1", "a:b", {"to": ["x"], "dry": True, "contains": "x"})
    assert is_met(call, arguments={"to": ["x"], "dry": True, "contains": "x"})
    assert not is_met(call, arguments={"to": ["x"], "dry": 1, "contains": "x"})
    parts = to_builtins(TokenParts(tools=7))
    assert is_met(ModelRequested(1, (), TokenParts(tools=7), 1), tokens=parts)


@pytest.mark.parametrize(
    ("entry", "told", "near"),
    [
        ({}, "event is missing", ""),
        ({"event": "loops"}, "there is no event 'loops'", "loop"),
        ({"event": "evict", "causes": "lru"}, "the event 'evict' has no field 'causes'", "cause"),
        ({"event": "loop", "count": {"at_least": "3"}}, "count: at_least must be a number", ""),
        ({"event": "loop", "guidance": {"contains": 3}}, "guidance: contains must be text", ""),
    ],
)
def test_an_entry_that_cannot_be_met_is_refused_with_the_nearest_name(
    entry: dict[str, Any], told: str, near: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        expectation(entry)
    assert refused.value.message == told
    assert near in refused.value.hint


TWO_TURNS = """
title: Two turns
turns:
  - user: first
    steps:
      - say: I look.
        calls:
          - {tool: search_tools, arguments: {query: orders}}
          - {tool: "home-automation:lock_door", arguments: {door: garage}}
      - think: I have what I need.
        say: "Done."
  - user: second
    steps:
      - say: Again.
"""


async def _reply(model: ScriptModel, *messages: Message, think: bool = False) -> tuple[ModelReply, str]:
    chunks = [chunk async for chunk in model.stream(ModelRequest("", messages, (), 100, think))]
    assert isinstance(chunks[-1], ModelReply)
    return chunks[-1], "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


@pytest.fixture
def model(tmp_path: Path) -> ScriptModel:
    path = tmp_path / "case.yaml"
    path.write_text(f"window: 6000{TWO_TURNS}", encoding="utf-8")
    return ScriptModel(path)


async def test_the_first_step_says_and_calls_what_the_file_says(model: ScriptModel) -> None:
    assert (model.label, model.window) == ("demo/script:case.yaml (scripted, no LLM)", 6000)
    reply, streamed = await _reply(model, UserMessage("anything"))
    assert reply.text == streamed == "I look."
    assert [(call.name, dict(call.arguments)) for call in reply.tool_calls] == [
        ("search_tools", {"query": "orders"}),
        ("home-automation__lock_door", {"door": "garage"}),
    ]
    assert len({call.id for call in reply.tool_calls}) == 2


async def test_the_next_step_follows_from_the_messages_alone(model: ScriptModel) -> None:
    conversation = (UserMessage("a"), AssistantMessage("I look."), ToolMessage("x", "search_tools", "found"))
    assert (await _reply(model, *conversation))[0].text == "Done."
    assert (await _reply(model, *conversation, AssistantMessage("Done."), UserMessage("b")))[
        0
    ].text == "Again."
    assert (await _reply(model, *conversation))[0].text == "Done."


async def test_after_the_last_step_it_says_that_the_script_is_over(model: ScriptModel) -> None:
    users = [UserMessage("x")] * 3
    reply, streamed = await _reply(model, *users)
    assert (reply.text, reply.tool_calls, streamed) == (OVER, (), OVER)
    assert (await _reply(model, users[0], *[AssistantMessage("")] * 9))[0].text == OVER
    assert (await _reply(model))[0].text == OVER


async def test_a_thought_calls_nothing_and_takes_no_step(model: ScriptModel) -> None:
    looked = (UserMessage("a"), AssistantMessage("I look."), ToolMessage("x", "search_tools", "found"))
    asked = (*looked, NoteMessage("Think."))
    thought, streamed = await _reply(model, *asked, think=True)
    assert (thought.text, streamed, thought.tool_calls) == ("I have what I need.",) * 2 + ((),)
    after = (*asked, AssistantMessage(thought.text, thought=True))
    assert (await _reply(model, *after))[0].text == "Done."

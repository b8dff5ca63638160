"""Scripted models: stateless replay, an honest end, and files that cannot be used."""

from pathlib import Path

import pytest

from inspector.adapters.script_model import OVER, ScriptModel, load_scenario
from inspector.domain.error import ConfigError
from inspector.domain.message import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    TextDelta,
    ToolMessage,
    UserMessage,
)

SCENARIOS = Path(__file__).parents[2] / "fixtures" / "scenarios"
TWO_TURNS = """
title: Two turns
turns:
  - user: first
    steps:
      - say: I look.
        calls:
          - {tool: search_tools, arguments: {query: orders}}
          - {tool: "home-automation:lock_door", arguments: {door: garage}}
      - say: "Done."
  - user: second
    steps:
      - say: Again.
"""


async def _reply(model: ScriptModel, *messages: Message) -> tuple[ModelReply, str]:
    chunks = [chunk async for chunk in model.stream(ModelRequest("", messages, (), 100))]
    assert isinstance(chunks[-1], ModelReply)
    return chunks[-1], "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


@pytest.fixture
def model(tmp_path: Path) -> ScriptModel:
    return ScriptModel(_written(tmp_path, TWO_TURNS))


def _written(folder: Path, text: str) -> Path:
    path = folder / "case.yaml"
    path.write_text(text, encoding="utf-8")
    return path


async def test_the_first_step_says_and_calls_what_the_file_says(model: ScriptModel) -> None:
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


async def test_a_call_has_its_own_id_in_every_turn_and_step(model: ScriptModel) -> None:
    first = (await _reply(model, UserMessage("a")))[0]
    again = (await _reply(model, UserMessage("a")))[0]
    assert first == again


async def test_after_the_last_step_it_says_that_the_script_is_over(model: ScriptModel) -> None:
    users = [UserMessage("x")] * 3
    reply, streamed = await _reply(model, *users)
    assert (reply.text, reply.tool_calls, streamed) == (OVER, (), OVER)
    assert (await _reply(model, users[0], *[AssistantMessage("")] * 9))[0].text == OVER


async def test_a_request_without_a_user_is_answered_too(model: ScriptModel) -> None:
    assert (await _reply(model))[0].text == OVER


def test_its_label_says_that_it_is_no_llm(model: ScriptModel) -> None:
    assert model.label == "demo/script:case.yaml (scripted, no LLM)"
    assert model.name.startswith("demo/script:/")


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
        ("turns: [{user: a, steps: [{says: b}]}]", "turn 1, step 1: says is not known"),
        ("turns: [{user: a, steps: [{calls: [{}]}]}]", "turn 1, step 1, call 1: tool is missing"),
        ("turns: [{user: a, steps: [{calls: [{tool: t, arguments: 3}]}]}]", "call 1, arguments: has to be"),
        (
            "turns: [{user: a, steps: [{calls: [{tool: t, arguments: {day: 2026-03-02}}]}]}]",
            "arguments has a value that JSON cannot hold",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_file_entry_and_key(
    tmp_path: Path, text: str, told: str
) -> None:
    path = _written(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        load_scenario(path)
    assert told in refused.value.message
    assert str(path) in refused.value.message


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_scenario(tmp_path / "none.yaml")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_bytes(b"\xff\xfe\xfd\x80")
    with pytest.raises(ConfigError, match="not readable"):
        load_scenario(path)


@pytest.mark.parametrize("name", ["demo", "loop", "redundant", "unloaded", "unknown"])
def test_every_shipped_scenario_loads_and_ends_with_an_answer(name: str) -> None:
    scenario = load_scenario(SCENARIOS / f"{name}.yaml")
    assert scenario.title
    assert len(scenario.users) == len(scenario.turns)
    assert all(steps[-1].say and not steps[-1].calls for steps in scenario.turns)

"""Scripted models: stateless replay, thoughts that take no step, an honest end."""

from pathlib import Path

import pytest

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
from inspector.features.lab.script_model import OVER, ScriptModel

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

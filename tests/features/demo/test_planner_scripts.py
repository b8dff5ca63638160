"""The planner where tools are called from scripts: it reads declarations, hands on what it does not read."""

from typing import Any

import pytest

from inspector.core.message import AssistantMessage, Message, ModelRequest, ToolCall, ToolMessage, UserMessage
from inspector.core.tool import Tool, function_definition
from inspector.features.demo.declared import declared
from inspector.features.demo.planner import PASSED, decide
from inspector.tokens.declaration import declaration
from inspector.tokens.manifest import RUN_SCRIPT, search_tools_definition
from inspector.tokens.script import Part, read_script

ROWS = {"type": "object", "properties": {"result": {"type": "array", "items": {"type": "object"}}}}
FIND = Tool(
    "the-office",
    "search_messages",
    "Search messages.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words; {never} } brackets"},
            "folder": {"enum": ["inbox", "archive"]},
            "more": {"type": "array", "items": {"type": "object", "properties": {"a": {"const": 1}}}},
        },
        "required": ["query"],
    },
    output_schema=ROWS,
)
REPLY = Tool(
    "the-office",
    "reply_to_message",
    "Reply to a message.",
    {
        "type": "object",
        "properties": {"message_id": {"type": "integer"}, "body": {"type": "string"}},
        "required": ["message_id", "body"],
    },
)
ASK = "Search the messages about finance and reply to it: “Thanks”"


def replies(*answers: str) -> tuple[list[ToolCall], str]:
    """What the planner calls while it is answered so, and what it says at the end."""
    run = function_definition(RUN_SCRIPT, "Run a script.", {"type": "object"})
    tools = (search_tools_definition("(a manifest)"), run)
    messages: list[Message] = [UserMessage(ASK)]
    made: list[ToolCall] = []
    for answer in (*answers, ""):
        reply = decide(ModelRequest("", tuple(messages), tools, 100))
        messages.append(AssistantMessage(reply.text, reply.tool_calls))
        if not reply.tool_calls:
            return made, reply.text
        (call,) = reply.tool_calls
        made.append(call)
        messages.append(ToolMessage(call.id, call.name, answer))
    raise AssertionError("no answer")


FOUND = "\n".join(
    ("- the-office:search_messages", "- the-office:reply_to_message", declaration(FIND), declaration(REPLY))
)


def test_two_steps_are_one_script_and_the_first_result_is_not_read() -> None:
    made, told = replies(FOUND, '{"id": 9}')
    assert [call.name for call in made] == ["search_tools", RUN_SCRIPT]
    script = read_script(made[1].arguments["code"])
    assert [call.tool for call in script.calls] == [
        "the_office__search_messages",
        "the_office__reply_to_message",
    ]
    assert script.calls[1].arguments == {"message_id": Part("r0", ("result", 0, "id")), "body": "Thanks"}
    assert script.returns == Part("r1")
    assert PASSED in told
    assert "id 9" in told


def test_a_script_that_stopped_is_told_as_what_it_is() -> None:
    _, told = replies(FOUND, "Error: the script stopped: r0.result[0].id is undefined.")
    assert "is undefined" in told


@pytest.mark.parametrize("tool", [FIND, REPLY])
def test_a_declaration_is_read_back_as_what_was_declared(tool: Tool) -> None:
    (read,) = declared(f"before\n{declaration(tool)}\nafter")
    assert read.description == tool.description
    assert read.takes["required"] == tool.input_schema["required"]
    properties: dict[str, Any] = tool.input_schema["properties"]
    for name, schema in properties.items():
        kind = schema.get("type", "enum" if "enum" in schema else "")
        expected = {"integer": "number"}.get(kind, kind)
        assert expected in (read.takes["properties"][name].get("type"), *read.takes["properties"][name])
    assert ("result" in read.returns.get("properties", {})) == (tool is FIND)


@pytest.mark.parametrize(
    "text",
    [
        "declare function a__b(input: ",
        "declare function a__b(input: { a: [",
        "declare function a__b(input: {{{",
    ],
)
def test_a_declaration_that_is_cut_off_is_no_end(text: str) -> None:
    assert [one.name for one in declared(text)] == ["a__b"]


def test_what_another_model_wrote_as_a_script_is_passed_over() -> None:
    run = function_definition(RUN_SCRIPT, "Run a script.", {"type": "object"})
    foreign = ToolCall("x", RUN_SCRIPT, {"code": "for (;;) {}"})
    said = (UserMessage("Hello."), AssistantMessage("", (foreign,)), UserMessage("Lock the door"))
    assert decide(ModelRequest("", said, (run,), 100)).text == "I have no tool for this."

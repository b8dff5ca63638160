"""Whatever users, servers and histories say, the planner answers within its bound and never raises."""

import json
from typing import Any

from hypothesis import example, given, strategies as st

from inspector.core.message import AssistantMessage, Message, ModelRequest, ToolCall, ToolMessage, UserMessage
from inspector.demo.argument import Source, fill
from inspector.demo.choice import bound_tools, ranked
from inspector.demo.planner import MAX_MODEL_CALLS, decide
from inspector.demo.reading import read, split, word_set
from inspector.tokens.manifest import SEARCH_TOOLS, search_tools_definition

SEARCH = search_tools_definition("(a manifest)")
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=12)
_KEYS = st.sampled_from(
    sorted(
        word_set(
            "type properties required items enum $ref $defs anyOf const default minimum maximum description"
            " format city order_id to body query late"
        )
    )
)
_TYPES = st.sampled_from(
    ["object", "array", "string", "integer", "number", "boolean", "null", "#", "#/$defs/x"]
)
_JSON = st.recursive(
    _SCALAR | _TYPES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=15,
)
_SCHEMA = st.dictionaries(
    st.sampled_from(["type", "properties", "required", "$defs", "anyOf", "$ref"]),
    _JSON | st.dictionaries(_KEYS, st.dictionaries(_KEYS, _JSON, max_size=4), max_size=4),
    max_size=4,
)
_WORDS = st.sampled_from(
    sorted(
        word_set(
            "find the late orders and mail it to a@b.co 'quoted' 5 % 2026-03-02 ; Oslo in . first times about"
            " then ' \" \x00 1e999 order_id \u202e"
        )
    )
)
_TEXT = st.lists(_WORDS | st.text(max_size=6), max_size=14).map(" ".join)
_TOOL = st.builds(
    lambda name, about, schema: {"function": {"name": name, "description": about, "parameters": schema}},
    st.sampled_from(["shop__find_orders", "mail", "a__b__c", "", "find", SEARCH_TOOLS]),
    _TEXT | _SCALAR,
    _SCHEMA | _JSON,
)
_RESULT = _TEXT | _JSON.map(lambda value: json.dumps(value)) | st.just("[" * 100_000)


@example(text="find", schema={"properties": {"type": {"format": []}}}, rows=[])
@given(text=_TEXT, schema=_SCHEMA, rows=st.lists(st.dictionaries(_KEYS, _JSON, max_size=3), max_size=2))
def test_no_schema_and_no_text_makes_the_parts_raise(
    text: str, schema: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    tool = {"function": {"name": "shop__find_orders", "description": text, "parameters": schema}}
    for step in split(text):
        reading = read(step)
        ranked(bound_tools([tool]), reading)
        fill(schema, Source(reading, tuple(rows), "earlier", frozenset({"order"})))


@given(
    text=_TEXT, tools=st.lists(_TOOL | _JSON, max_size=4), results=st.lists(_RESULT, min_size=1, max_size=4)
)
def test_whatever_comes_it_answers_within_its_bound(text: str, tools: list[Any], results: list[str]) -> None:
    messages: list[Message] = [UserMessage(text)]
    for replies in range(MAX_MODEL_CALLS):
        reply = decide(ModelRequest("", tuple(messages), (SEARCH, *tools), 100))
        assert "could not work that out" not in reply.text
        json.dumps([dict(call.arguments) for call in reply.tool_calls])
        messages.append(AssistantMessage(reply.text, reply.tool_calls))
        if not reply.tool_calls:
            return
        for call in reply.tool_calls:
            messages.append(ToolMessage(call.id, call.name, results[replies % len(results)]))
    raise AssertionError("no answer within the bound")


@given(
    messages=st.lists(
        st.builds(UserMessage, _TEXT)
        | st.builds(ToolMessage, _TEXT, _TEXT, _RESULT)
        | st.builds(
            lambda text, id_: AssistantMessage(text, (ToolCall(id_, "x", {}),)),
            _TEXT,
            st.sampled_from(["", "plan-1-0-0", "plan-1-99999999-0", "call_7"]),
        ),
        max_size=6,
    )
)
def test_any_order_of_messages_is_survived(messages: list[Message]) -> None:
    assert "could not work that out" not in decide(ModelRequest("", tuple(messages), (SEARCH,), 10)).text

"""What Anthropic and OpenAI are really sent in a whole conversation, and that it is what was counted."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from inspector.core.message import ModelRequest, Usage, UserMessage
from inspector.core.ports import TokenCounter
from inspector.core.settings import CacheTtl, ToolDelivery
from inspector.core.tool import Tool, definition
from inspector.schema.json_value import compact
from inspector.tokens.counter import AnthropicCounter, TiktokenCounter
from inspector.tokens.measure import BudgetMeter
from tests.loop.test_chat import Bench
from tests.loop.test_litellm_anthropic import event, started, stopped, text_block
from tests.support.fakes import CharacterCounter
from tests.support.local_servers import Answer, Stub, stub_server
from tests.support.provider import (
    CLAUDE,
    GPT,
    STEPS,
    Recorded,
    chat_text,
    claude,
    conversation,
    gpt,
    marks_of,
    read_messages_api,
)

# The first of them imports litellm, which takes seconds; test_litellm_openai.py is the quick one of its kind.
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def is_counted(recorded: Recorded, stub: Stub, read: Callable[[Any], str], *counters: TokenCounter) -> None:
    """Every body, read back, has as many tokens as its request was counted."""
    assert len(stub.received) == len(recorded.requests) > len(STEPS)
    for counter in (CharacterCounter(), *counters):
        meter = BudgetMeter(counter, lambda: 100_000, recorded.features)
        for request, body in zip(recorded.requests, stub.received, strict=True):
            counted = meter.measure(request, 0).parts.input
            assert counted == counter.count(read(body)), counter.tokenizer.name


@pytest.mark.parametrize("delivery", ["append", "text", "native"])
@pytest.mark.parametrize("ttl", ["off", "1h"])
async def test_claude_is_sent_what_was_counted_also_after_calls(
    delivery: ToolDelivery, ttl: CacheTtl
) -> None:
    _, recorded, stub = await conversation(claude, "messages", delivery=delivery, ttl=ttl)
    is_counted(recorded, stub, read_messages_api, AnthropicCounter(CLAUDE))
    assert all(bool(marks_of(body)) is (ttl != "off") for body in stub.received)


async def test_gpt_is_sent_what_was_counted_also_after_calls() -> None:
    _, recorded, stub = await conversation(gpt, "chat")
    is_counted(recorded, stub, lambda body: chat_text(body["messages"], body["tools"]), TiktokenCounter(GPT))
    assert "cache_control" not in json.dumps(stub.received)


async def test_claude_is_sent_at_most_four_marks_and_the_last_block_has_one() -> None:
    bench, _, stub = await conversation(claude, "messages", ttl="1h")
    control = {"type": "ephemeral", "ttl": "1h"}
    for body in stub.received:
        marks = marks_of(body)
        assert {str(mark) for _, mark in marks} == {str(control)}
        assert len(marks) <= 4
        last = len(body["messages"]) - 1
        assert marks[-1][0] == f"messages[{last}].{len(body['messages'][last]['content']) - 1}"
    told = [event.breakpoints.count for event in bench.events("request")]
    assert told == [len(marks_of(body)) for body in stub.received]


ODD: tuple[dict[str, Any], ...] = (
    {},
    {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/A"}, "b": {"$ref": "#/$defs/B"}},
        "definitions": {"A": {"type": "array", "items": {"$ref": "#/definitions/A"}}},
        "$defs": {"B": {"type": "string"}},
    },
    {
        "type": "object",
        "properties": {"a": {"$ref": "#/components/schemas/A"}},
        "components": {"schemas": {"A": {"type": ["string", "null"]}}},
    },
)


async def test_a_schema_that_was_counted_for_claude_is_sent_to_the_letter() -> None:
    tools = tuple(definition(Tool("a", f"t{i}", "d", schema), "anthropic") for i, schema in enumerate(ODD))
    answer = Answer(events=(started(), text_block(0, "x"), stopped("end_turn")))
    with stub_server(answer) as stub:
        model = claude(stub)
        [_ async for _ in model.stream(ModelRequest("", (UserMessage("hi"),), tools, 10))]
    sent = [compact(tool["input_schema"]) for tool in stub.received[0]["tools"]]
    assert sent == [compact(tool["function"]["parameters"]) for tool in tools]


async def test_what_claude_reports_of_its_cache_and_its_reasoning_is_read() -> None:
    usage = {
        "input_tokens": 40,
        "output_tokens": 1,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 25,
        "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 20},
    }
    begun = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "c", "usage": usage}
    ended = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    events = (
        event("message_start", message=begun),
        text_block(0, "x"),
        event("message_delta", delta=delta, usage=ended) + event("message_stop"),
    )
    with stub_server(Answer(events=events)) as stub:
        bench = Bench(model=claude(stub))
        await bench.say()
    assert bench.events("response")[0].usage == Usage(95, 9, 30, 25, 20, 4)
    (cost,) = bench.session.state.costs
    assert (cost.reported_input, cost.reported_output, cost.reported_read) == (95, 9, 30)
    assert (cost.reported_written, cost.reported_written_hour, cost.reported_reasoning) == (25, 20, 4)

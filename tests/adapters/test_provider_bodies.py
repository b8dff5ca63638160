"""What Anthropic and OpenAI are really sent in a whole conversation, and that it is what was counted."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest

from inspector.adapters.litellm.model import LitellmModel
from inspector.adapters.tokens.anthropic_counter import AnthropicCounter
from inspector.adapters.tokens.tiktoken_counter import TiktokenCounter
from inspector.domain.message import ModelChunk, ModelRequest
from inspector.domain.settings import BindingSettings, BudgetSettings, CacheTtl, Settings, ToolDelivery
from inspector.engine.ports import TokenCounter
from inspector.engine.tokens.count.measure import BudgetMeter, FixedWindow
from tests.adapters.test_litellm_anthropic import event, started, stopped, text_block, tool_block
from tests.adapters.test_litellm_openai import chunk, fragment, stream
from tests.engine.test_chat import TOOLS, Bench
from tests.support.counting import CharacterCounter
from tests.support.provider_body import chat_text, marks_of, read_messages_api, read_responses_api
from tests.support.stub_server import Answer, Stub, stub_server

CLAUDE, GPT = "anthropic/claude-sonnet-4-5", "openai/gpt-5.4"
ORDERS, FORECAST = "shop__list_orders", "weather__get_forecast"
Call = tuple[str, Mapping[str, Any]]
STEPS: tuple[tuple[Call, ...], ...] = (
    (("search_tools", {"tool_names": ["list_orders"]}),),
    ((ORDERS, {"status": "späte"}), ("search_tools", {"tool_names": ["get_forecast", "no_such_tool"]})),
    ((FORECAST, {}), (ORDERS, {"status": "late"}), (ORDERS, {"status": "late"})),
)


class Recorded(LitellmModel):
    """Keeps the requests that it sends."""

    def __init__(self, name: str, stub: Stub, path: str = "") -> None:
        super().__init__(name, api_base=f"{stub.address}{path}", timeout=20)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        self.requests.append(request)
        async for part in super().stream(request):
            yield part


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def claude_answers() -> list[Answer]:
    answers = []
    for number, step in enumerate(STEPS):
        blocks = [text_block(0, "One moment.")]
        for place, (name, arguments) in enumerate(step, start=1):
            blocks.append(tool_block(place, f"t{number}{place}", name, json.dumps(arguments)))
        answers.append(Answer(events=(started(), *blocks, stopped("tool_use"))))
    return [*answers, Answer(events=(started(), text_block(0, "Done."), stopped("end_turn")))]


def gpt_answers() -> list[Answer]:
    answers = []
    for number, step in enumerate(STEPS):
        calls = [
            chunk(fragment(place, f"c{number}{place}", name, json.dumps(arguments)))
            for place, (name, arguments) in enumerate(step)
        ]
        answers.append(stream(*calls, chunk({}, "tool_calls")))
    return [*answers, stream(chunk({"content": "Done."}), chunk({}, "stop"))]


def response(number: int, *items: Mapping[str, Any]) -> Answer:
    done = [event("response.output_item.done", output_index=i, item=item) for i, item in enumerate(items)]
    usage = {
        "input_tokens": 50,
        "output_tokens": 7,
        "total_tokens": 57,
        "input_tokens_details": {"cached_tokens": 30},
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    body = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5.4",
        "status": "completed",
        "output": list(items),
        "usage": usage,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    return Answer(events=(*done, event("response.completed", response=body, sequence_number=9)))


def searched_answers() -> list[Answer]:
    answers = []
    for number, step in enumerate(STEPS):
        items: list[Mapping[str, Any]] = []
        for place, (name, arguments) in enumerate(step):
            known = {"id": f"i{number}{place}", "call_id": f"c{number}{place}", "status": "completed"}
            if name == "search_tools":
                items.append(
                    {"type": "tool_search_call", "execution": "client", "arguments": arguments, **known}
                )
            else:
                given = json.dumps(arguments)
                items.append({"type": "function_call", "name": name, "arguments": given, **known})
        answers.append(response(number, *items))
    said = {"type": "output_text", "text": "Done.", "annotations": []}
    last = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [said]}
    delta = event("response.output_text.delta", item_id="m", output_index=0, content_index=0, delta="Done.")
    return [*answers, Answer(events=(delta, *response(9, last).events))]


async def conversation(
    model: Callable[[Stub], Recorded],
    answers: list[Answer],
    *,
    delivery: ToolDelivery = "append",
    ttl: CacheTtl = "5m",
) -> tuple[Bench, Recorded, Stub]:
    """Let the model search, call and answer; then say something again."""
    binding = BindingSettings(delivery=delivery)
    settings = Settings(binding=binding, budget=BudgetSettings(prompt_cache=ttl))
    with stub_server(*answers) as stub:
        recorded = model(stub)
        bench = Bench(settings=settings, model=recorded)
        assert (await bench.say("Which orders are late?")).outcome == "answered"
        assert (await bench.say("Thanks.")).outcome == "answered"
    assert [call[1] for call in bench.servers.calls][:2] == ["list_orders", "get_forecast"]
    return bench, recorded, stub


def claude(stub: Stub) -> Recorded:
    return Recorded(CLAUDE, stub)


def gpt(stub: Stub) -> Recorded:
    return Recorded(GPT, stub, "/v1")


def is_counted(recorded: Recorded, stub: Stub, read: Callable[[Any], str], *counters: TokenCounter) -> None:
    """Every body, read back, has as many tokens as its request was counted."""
    assert len(stub.received) == len(recorded.requests) > len(STEPS)
    for counter in (CharacterCounter(), *counters):
        meter = BudgetMeter(counter, FixedWindow(100_000), recorded.features.dialect)
        for request, body in zip(recorded.requests, stub.received, strict=True):
            counted = meter.measure(request, 0).parts.input
            assert counted == counter.count(read(body)), counter.tokenizer.name


@pytest.mark.parametrize("delivery", ["append", "text", "native"])
@pytest.mark.parametrize("ttl", ["off", "1h"])
async def test_claude_is_sent_what_was_counted_also_after_calls(
    delivery: ToolDelivery, ttl: CacheTtl
) -> None:
    _, recorded, stub = await conversation(claude, claude_answers(), delivery=delivery, ttl=ttl)
    is_counted(recorded, stub, read_messages_api, AnthropicCounter(CLAUDE))
    assert all(bool(marks_of(body)) is (ttl != "off") for body in stub.received)


async def test_gpt_is_sent_what_was_counted_also_after_calls() -> None:
    _, recorded, stub = await conversation(gpt, gpt_answers())
    is_counted(recorded, stub, lambda body: chat_text(body["messages"], body["tools"]), TiktokenCounter(GPT))
    assert "cache_control" not in json.dumps(stub.received)


async def test_a_search_by_gpt_itself_is_sent_as_it_was_counted() -> None:
    _, recorded, stub = await conversation(gpt, searched_answers(), delivery="native")
    is_counted(recorded, stub, read_responses_api, TiktokenCounter(GPT))


async def test_claude_is_sent_at_most_four_marks_and_the_last_block_has_one() -> None:
    bench, _, stub = await conversation(claude, claude_answers(), ttl="1h")
    control = {"type": "ephemeral", "ttl": "1h"}
    for body in stub.received:
        marks = marks_of(body)
        assert {str(mark) for _, mark in marks} == {str(control)}
        assert len(marks) <= 4
        last = len(body["messages"]) - 1
        assert marks[-1][0] == f"messages[{last}].{len(body['messages'][last]['content']) - 1}"
    told = [event.breakpoints.count for event in bench.events("request")]
    assert told == [len(marks_of(body)) for body in stub.received]


async def test_where_the_last_request_ended_the_next_one_has_a_mark_too() -> None:
    _, _, stub = await conversation(claude, claude_answers())
    for before, after in zip(stub.received, stub.received[1:], strict=False):
        end = marks_of(before)[-1][0]
        assert end in [place for place, _ in marks_of(after)]


async def test_the_tools_before_the_first_loaded_one_end_with_a_mark() -> None:
    _, _, stub = await conversation(claude, claude_answers())
    places = [[place for place, _ in marks_of(body)] for body in stub.received]
    assert places[0] == ["tools[1]", "system", "messages[0].0"]
    assert places[1][:2] == ["tools[1]", "tools[2]"]


async def test_five_minutes_are_the_providers_own_default() -> None:
    _, _, stub = await conversation(claude, claude_answers())
    assert {str(mark) for body in stub.received for _, mark in marks_of(body)} == {"{'type': 'ephemeral'}"}


async def test_claude_is_declared_every_deferred_tool_and_sent_references_alone() -> None:
    bench, _, stub = await conversation(claude, claude_answers(), delivery="native")
    for body in stub.received:
        waiting = [tool["name"] for tool in body["tools"] if tool.get("defer_loading")]
        assert waiting == [tool.wire_name for tool in TOOLS[:3]]
        assert [tool["name"] for tool in body["tools"] if not tool.get("defer_loading")] == [
            "search_tools", "calc__evaluate",
        ]  # fmt: skip
        assert not any(tool.get("defer_loading") and "cache_control" in tool for tool in body["tools"])
    first, second = (stub.received[index]["messages"][-1]["content"] for index in (1, 2))
    assert first[0]["content"] == [{"type": "tool_reference", "tool_name": ORDERS}]
    assert [block["type"] for block in second] == ["tool_result", "tool_result", "text"]
    assert second[1]["content"] == [{"type": "tool_reference", "tool_name": FORECAST}]
    assert "no_such_tool" in second[2]["text"]
    assert [event.delivery for event in bench.events("request")] == ["tool_reference"] * len(stub.received)


async def test_deferral_keeps_the_tools_and_so_the_cache() -> None:
    bench, _, stub = await conversation(claude, claude_answers(), delivery="native")
    assert [event.change for event in bench.events("request")][1:] == ["unchanged"] * (len(stub.received) - 1)
    texts = [json.dumps(body["tools"]) for body in stub.received]
    assert len(set(texts)) == 1


async def test_the_header_for_references_is_sent_with_them_only() -> None:
    for delivery, wanted in (("native", "advanced-tool-use-2025-11-20"), ("append", None)):
        _, _, stub = await conversation(claude, claude_answers(), delivery=delivery)  # type: ignore[arg-type]
        assert {headers.get("anthropic-beta") for headers in stub.headers} == {wanted}


async def test_gpt_searches_with_its_own_tool_and_gets_definitions_back() -> None:
    bench, _, stub = await conversation(gpt, searched_answers(), delivery="native")
    first, second, third, *_ = stub.received
    assert [tool["type"] for tool in first["tools"]] == ["tool_search", "function"]
    assert first["tools"][0]["execution"] == "client"
    assert [tool.get("strict") for tool in first["tools"]] == [None, False]
    (output,) = (item for item in second["input"] if item.get("type") == "tool_search_output")
    assert [(tool["name"], tool["defer_loading"]) for tool in output["tools"]] == [(ORDERS, True)]
    assert output["call_id"] == "c00"
    told = [item["content"] for item in third["input"] if item.get("role") == "developer"]
    assert len(told) == 1
    assert "no_such_tool" in told[0]
    assert first["store"] is False
    assert [event.delivery for event in bench.events("request")] == ["tool_search"] * len(stub.received)


async def test_what_openai_reports_of_a_search_is_read(capfd: pytest.CaptureFixture[str]) -> None:
    bench, _, _ = await conversation(gpt, searched_answers(), delivery="native")
    usage = bench.events("response")[0].usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens) == (
        50,
        30,
        7,
        3,
    )
    assert capfd.readouterr().out == ""

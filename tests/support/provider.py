"""A conversation with searches and calls, over HTTP, against stubs of Anthropic and OpenAI."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from inspector.core.message import ModelChunk, ModelRequest
from inspector.core.settings import BindingSettings, BudgetSettings, CacheTtl, Settings, ToolDelivery
from inspector.loop.model.litellm import LitellmModel
from tests.loop.test_chat import Bench
from tests.loop.test_litellm_anthropic import event, started, stopped, text_block, tool_block
from tests.loop.test_litellm_openai import chunk, fragment, stream
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

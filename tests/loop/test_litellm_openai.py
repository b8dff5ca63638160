"""litellm for real, over HTTP, against a stub that speaks OpenAI's chat-completions."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from inspector.core.error import ModelError
from inspector.core.message import (
    AssistantMessage,
    ModelReply,
    ModelRequest,
    TextDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from inspector.core.tool import function_definition
from inspector.loop.model.litellm import LitellmModel
from tests.support.local_servers import Answer, Stub, stub_server

KEY = "sk-test-0123456789abcdefghij"
TOOLS = (
    function_definition("shop__list", "List.", {"type": "object", "properties": {"b": {"type": "string"}}}),
    function_definition("search_tools", "Search. Zoë", {"type": "object", "properties": {}}),
)
REQUEST = ModelRequest(
    system="Be brief.",
    messages=(
        UserMessage("hello"),
        AssistantMessage("", (ToolCall("c1", "shop__list", {"b": "x"}),)),
        ToolMessage("c1", "shop__list", "three orders"),
        UserMessage("and now?"),
    ),
    tools=TOOLS,
    max_output=100,
)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, usage: Any = None) -> str:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body = {
        "id": "r1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stub",
        "choices": choices,
        "usage": usage,
    }
    return f"data: {json.dumps(body)}\n\n"


def stream(*chunks: str) -> Answer:
    return Answer(events=(*chunks, "data: [DONE]\n\n"))


def model(stub: Stub, timeout: float = 20.0) -> LitellmModel:
    return LitellmModel("openai/stub-model", api_base=f"{stub.address}/v1", timeout=timeout)


async def run(chunks: AsyncIterator[Any]) -> tuple[list[str], ModelReply]:
    parts: list[Any] = [part async for part in chunks]
    assert isinstance(parts[-1], ModelReply)
    return [part.text for part in parts if isinstance(part, TextDelta)], parts[-1]


async def failure(answer: Answer, timeout: float = 20.0) -> ModelError:
    with stub_server(answer) as stub, pytest.raises(ModelError) as caught:
        await run(model(stub, timeout).stream(REQUEST))
    assert KEY not in f"{caught.value.message} {caught.value.hint}"
    return caught.value


async def test_text_streams_in_pieces_that_make_up_the_reply(capfd: pytest.CaptureFixture[str]) -> None:
    usage = {
        "prompt_tokens": 50,
        "completion_tokens": 2,
        "total_tokens": 52,
        "prompt_tokens_details": {"cached_tokens": 40},
    }
    answer = stream(
        chunk({"role": "assistant", "content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({}, "stop"),
        chunk(usage=usage),
    )
    with stub_server(answer) as stub:
        deltas, reply = await run(model(stub).stream(REQUEST))
    assert deltas == ["Hel", "lo"]
    assert (reply.text, reply.finish_reason) == ("Hello", "stop")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (50, 2, 40)
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


async def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    error = await failure(stream())
    assert "no key" in error.message
    assert "OPENAI_API_KEY" in error.hint


async def test_a_cut_stream_is_an_error_and_keeps_what_was_said() -> None:
    said: list[str] = []

    async def listen() -> None:
        async for part in model(stub).stream(REQUEST):
            said.append(part.text)

    half = Answer(events=(chunk({"content": "half an ans"}),))
    with stub_server(half) as stub, pytest.raises(ModelError, match="stopped in the middle"):
        await listen()
    assert said == ["half an ans"]

"""litellm for real, over HTTP, against a stub that speaks Anthropic's messages."""

import json
from typing import Any

import pytest

from inspector.core.message import ModelReply, TextDelta, ToolCall
from inspector.loop.model.litellm import LitellmModel
from tests.loop.test_litellm_openai import REQUEST
from tests.support.local_servers import Answer, Stub, stub_server

# The first of them imports litellm, which takes seconds; test_litellm_openai.py is the quick one of its kind.
pytestmark = pytest.mark.slow

KEY = "sk-ant-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def started() -> str:
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-stub",
        "usage": {"input_tokens": 40, "output_tokens": 1, "cache_read_input_tokens": 30},
    }
    return event("message_start", message=message)


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> str:
    opened = event("content_block_start", index=index, content_block=content)
    pieces = "".join(event("content_block_delta", index=index, delta=delta) for delta in deltas)
    return opened + pieces + event("content_block_stop", index=index)


def text_block(index: int, *texts: str) -> str:
    deltas = ({"type": "text_delta", "text": text} for text in texts)
    return block(index, {"type": "text", "text": ""}, *deltas)


def tool_block(index: int, call_id: str, name: str, *pieces: str) -> str:
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, *deltas)


def stopped(reason: str) -> str:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return event("message_delta", delta=delta, usage={"output_tokens": 9}) + event("message_stop")


def model(stub: Stub) -> LitellmModel:
    return LitellmModel("anthropic/claude-sonnet-4-5", api_base=stub.address, timeout=20)


async def run(answer: Answer) -> tuple[list[str], ModelReply, dict[str, Any]]:
    with stub_server(answer) as stub:
        parts: list[Any] = [part async for part in model(stub).stream(REQUEST)]
    assert isinstance(parts[-1], ModelReply)
    deltas = [part.text for part in parts if isinstance(part, TextDelta)]
    return deltas, parts[-1], stub.received[0]


async def test_tool_use_in_fragments_is_put_together_beside_the_text() -> None:
    blocks = (
        text_block(0, "Looking."),
        tool_block(1, "t1", "shop__list", '{"b": ', '"late"}'),
        tool_block(2, "t2", "search_tools", "{}"),
    )
    _, reply, _ = await run(Answer(events=(started(), *blocks, stopped("tool_use"))))
    assert reply.text == "Looking."
    assert reply.tool_calls == (
        ToolCall("t1", "shop__list", {"b": "late"}),
        ToolCall("t2", "search_tools", {}),
    )

"""litellm for real, over HTTP, against a stub that speaks Ollama's chat: lines of JSON, calls without ids."""

import json
from typing import Any

import pytest

from inspector.core.error import ModelError
from inspector.core.message import ModelReply
from inspector.loop.model.litellm import LitellmModel
from inspector.schema.json_value import compact
from tests.loop.test_litellm_openai import REQUEST, TOOLS, run
from tests.support.local_servers import Answer, Stub, stub_server

# The first of them imports litellm, which takes seconds; test_litellm_openai.py is the quick one of its kind.
pytestmark = pytest.mark.slow


def line(content: str = "", *calls: dict[str, Any], **more: Any) -> str:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [{"function": call} for call in calls]
    body = {"model": "q", "created_at": "2026-03-02T00:00:00Z", "message": message, "done": False}
    return json.dumps(body | more) + "\n"


CALLS = ({"name": "shop__list", "arguments": {"b": "1"}}, {"name": "search_tools", "arguments": {}})
END = line(done=True, done_reason="stop", prompt_eval_count=7, eval_count=3)


def model(stub: Stub) -> LitellmModel:
    return LitellmModel("ollama/qwen3", api_base=stub.address, timeout=20)


async def ask(*lines: str) -> tuple[list[str], ModelReply, dict[str, Any]]:
    with stub_server(Answer(events=lines)) as stub:
        deltas, reply = await run(model(stub).stream(REQUEST))
    return deltas, reply, stub.received[-1]


async def test_the_tools_are_sent_as_tools_and_not_written_into_the_prompt() -> None:
    _, _, body = await ask(line("x"), END)
    assert compact(body["tools"]) == compact(TOOLS)
    assert "format" not in body
    assert body["model"] == "qwen3"


async def test_calls_without_ids_get_ids_that_never_come_twice() -> None:
    deltas, reply, _ = await ask(line("Hel"), line("", *CALLS), END)
    assert deltas == ["Hel"]
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("shop__list", {"b": "1"}),
        ("search_tools", {}),
    ]
    again = (await ask(line("", *CALLS), END))[1]
    assert len({call.id for call in (*reply.tool_calls, *again.tool_calls)}) == 4


async def test_a_model_without_tools_is_told_as_that() -> None:
    words = "registry/library/gemma does not support tools"
    with stub_server(Answer(400, body={"error": words})) as stub, pytest.raises(ModelError) as caught:
        await run(model(stub).stream(REQUEST))
    assert "ollama/qwen3 does not support tools" in caught.value.message


async def test_an_ollama_that_does_not_run_says_what_to_check() -> None:
    with stub_server(Answer()) as stub:
        address = stub.address
    with pytest.raises(ModelError, match="cannot connect to ollama at 127") as caught:
        await run(LitellmModel("ollama/qwen3", api_base=address, timeout=5).stream(REQUEST))
    assert "ollama serve" in caught.value.hint
    assert "0x" not in caught.value.message

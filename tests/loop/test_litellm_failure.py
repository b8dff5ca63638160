"""litellm for real: streams that stall, break off or are given up, and models that cannot be asked."""

import asyncio
import copy
from typing import Any

import pytest

from inspector.core.error import ModelError
from inspector.core.tool import function_definition
from inspector.loop.model.litellm import LitellmModel
from tests.loop.test_litellm_anthropic import event, started
from tests.loop.test_litellm_openai import REQUEST, chunk, run, stream
from tests.support.local_servers import Answer, stub_server
from tests.support.provider import silent_server

# The first of them imports litellm, which takes seconds; test_litellm_openai.py is the quick one of its kind.
pytestmark = pytest.mark.slow

KEYS = ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "GROQ", "AZURE", "MISTRAL", "PERPLEXITYAI")
HALF = chunk({"content": "half"})
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    for name in KEYS[:2]:
        monkeypatch.setenv(f"{name}_API_KEY", "sk-test-0123456789abcdefghij")


def openai(address: str, timeout: float = 20.0) -> LitellmModel:
    return LitellmModel("openai/stub", api_base=f"{address}/v1", timeout=timeout)


def claude(address: str, timeout: float = 20.0) -> LitellmModel:
    return LitellmModel("anthropic/claude-sonnet-4-5", api_base=address, timeout=timeout)


async def failure(model: LitellmModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await run(model.stream(REQUEST))
    return caught.value


async def test_a_stream_that_falls_silent_is_a_timeout() -> None:
    async with silent_server((HALF,)) as stub:
        error = await failure(openai(stub.address, timeout=0.2))
        await asyncio.wait_for(stub.hung_up.wait(), 5)
    assert "did not answer in time" in error.message


async def test_giving_up_hangs_up() -> None:
    async with silent_server((HALF,)) as stub:
        answer = openai(stub.address).stream(REQUEST)
        await anext(answer)
        waiting = asyncio.ensure_future(anext(answer))
        await asyncio.wait({waiting}, timeout=0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(stub.hung_up.wait(), 5)


async def test_an_error_within_the_stream_is_told_in_the_providers_words() -> None:
    exploded = 'data: {"error": {"message": "upstream exploded", "type": "server_error", "code": 500}}\n\n'
    with stub_server(stream(HALF, exploded)) as stub:
        assert (await failure(openai(stub.address))).message.endswith(": upstream exploded")
    overloaded = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    with stub_server(Answer(events=(started(), overloaded))) as stub:
        error = await failure(claude(stub.address))
    assert "cannot answer now" in error.message
    assert "later" in error.hint


@pytest.mark.parametrize(
    ("name", "told", "hint"),
    [
        ("claude-sonnet-4-5", "no key", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.0-flash", "no key", "GEMINI_API_KEY"),
        ("perplexity/sonar", "does not support tools", "supports tool calls"),
        ("nosuch/model", "does not know the provider", "provider/model"),
        ("groq/llama3", "cannot connect to groq at 127.0.0.1:9", "--api-base"),
    ],
)
async def test_a_model_that_cannot_be_asked_says_why(
    name: str, told: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    error = await failure(LitellmModel(name, api_base=NOWHERE, timeout=5))
    assert told in error.message
    assert hint in error.hint
    assert "Traceback" not in error.message


def test_the_schemas_that_are_sent_are_copies() -> None:
    from inspector.loop.model.responses import wire_tools

    schema = {"type": "object", "$schema": "x", "properties": {"a\ud800": {"$id": "y", "enum": ("b",)}}}
    tools = (function_definition("t", "T", schema),)
    before = copy.deepcopy(tools)
    (sent,) = wire_tools(tools)
    properties: dict[str, Any] = sent["function"]["parameters"]["properties"]
    assert properties == {"a?": {"$id": "y", "enum": ["b"]}}
    properties.clear()
    assert tools == before

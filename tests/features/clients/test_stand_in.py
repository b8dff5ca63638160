"""The stand-in for a model's API: the vendors' own clients understand it, and nobody else gets in."""

import asyncio
import json
import re
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from msgspec.structs import replace

from inspector.clients.client import find_client
from inspector.core.message import ModelReply
from inspector.core.tool import function_definition
from inspector.features.clients.measured import stand_in as module
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.marks import ServerLog
from inspector.features.clients.measured.stand_in import LARGEST_BODY, StandIn, listening
from inspector.loop.model.litellm import LitellmModel
from tests.loop.test_litellm_openai import REQUEST
from tests.support.following_client import FollowingClient

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    import openai

QUERY = {"type": "object", "properties": {"query": {"type": "string"}}}
FUNCTION: Any = function_definition("tool_search", "Search.", QUERY)
KEY = "sk-ant-my-own-secret-key-1234567890"


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[StandIn]:
    """A stand-in to which the marked server is known."""
    FollowingClient(find_client("none"), "chat", folder / "server.jsonl")
    async with listening(
        StandIn(Conversation(ServerLog(folder / "server.jsonl")), folder / "requests")
    ) as one:
        yield one


def openai_client(one: StandIn) -> "openai.AsyncOpenAI":
    # It takes a second to import.
    import openai

    return openai.AsyncOpenAI(base_url=f"{one.address}/v1", api_key=KEY, max_retries=0)


@pytest.mark.slow
async def test_openais_own_client_gets_calls_from_chat_completions(tmp_path: Path) -> None:
    given: Any = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": [FUNCTION]}
    async with started(tmp_path) as one, openai_client(one) as client:
        whole = (await client.chat.completions.create(**given)).choices
        assert whole[0].finish_reason == "tool_calls"
        stream = await client.chat.completions.create(**given, stream=True)
        choices = [choice async for chunk in stream for choice in chunk.choices]
        calls = choices[0].delta.tool_calls or []
        assert len(calls) == 1
        assert json.loads(calls[0].function.arguments) == {"query": "nonexistent"}
        assert choices[-1].finish_reason == "tool_calls"


@pytest.mark.slow
async def test_openais_own_client_gets_searches_from_responses(tmp_path: Path) -> None:
    deferred = {"type": "function", "name": "ping", "parameters": QUERY, "strict": False} | {
        "defer_loading": True
    }
    tools: Any = [{"type": "tool_search", "execution": "client"}, deferred]
    async with started(tmp_path) as one, openai_client(one) as client:
        async with client.responses.stream(model="m", input="A title?") as stream:
            assert (await stream.get_final_response()).output_text == "Measured."
        assert not one.done.is_set()
        async with client.responses.stream(model="m", input="Go.", tools=tools) as stream:
            done: Any = await stream.get_final_response()
        assert [item.type for item in done.output] == ["tool_search_call"]
        heard = one.conversation.exchanges[-1].heard
        assert [(tool.name, tool.way, tool.deferred) for tool in heard.tools] == [
            ("tool_search", "search", False),
            ("ping", "tool", True),
        ]


@pytest.mark.slow
async def test_a_call_over_responses_is_streamed_under_an_id_that_clients_keep(tmp_path: Path) -> None:
    tools: Any = [{"type": "function", "name": "ToolSearch", "parameters": QUERY, "strict": False}]
    async with started(tmp_path) as one, openai_client(one) as client:
        stream = await client.responses.create(model="m", input="Go.", tools=tools, stream=True)
        events: list[Any] = [event async for event in stream]
    begun = next(one.item for one in events if one.type == "response.output_item.added")
    parts = [one.delta for one in events if one.type == "response.function_call_arguments.delta"]
    assert (begun.arguments, json.loads("".join(parts))) == ("", {"query": "nonexistent"})
    # Droid replaces it where it is call_ and a number, so that nothing is known of what came of the call.
    assert not re.fullmatch(r"call_\d+", begun.call_id)


@pytest.mark.slow
async def test_a_client_of_anthropics_api_gets_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with started(tmp_path) as one:
        model = LitellmModel("anthropic/claude-sonnet-4-5", api_base=one.address, timeout=20)
        request = replace(REQUEST, tools=(FUNCTION,))
        *_, reply = [part async for part in model.stream(request)]
    assert isinstance(reply, ModelReply)
    assert [dict(call.arguments) for call in reply.tool_calls] == [{"query": "nonexistent"}]


@pytest.mark.slow
async def test_a_client_of_geminis_api_gets_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    async with started(tmp_path) as one:
        model = LitellmModel("gemini/gemini-2.5-pro", api_base=one.address, timeout=20)
        request = replace(REQUEST, tools=(FUNCTION,))
        *_, reply = [part async for part in model.stream(request)]
        heard = one.conversation.exchanges[-1].heard
    assert isinstance(reply, ModelReply)
    assert [dict(call.arguments) for call in reply.tool_calls] == [{"query": "nonexistent"}]
    assert (heard.api, heard.model, heard.streamed) == ("gemini", "gemini-2.5-pro", True)


async def test_messages_of_anthropics_api_are_answered_whole(tmp_path: Path) -> None:
    tool = {"name": "ToolSearch", "description": "Search.", "input_schema": QUERY}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go."}]}
    async with started(tmp_path) as one, httpx2.AsyncClient(verify=False) as client:
        asked = await client.post(f"{one.address}/v1/messages?beta=true", json=body | {"tools": [tool]})
        counted = await client.post(f"{one.address}/v1/messages/count_tokens", json=body)
    assert [block["type"] for block in asked.json()["content"]] == ["tool_use"]
    assert asked.json()["stop_reason"] == "tool_use"
    assert counted.json()["input_tokens"] > 0


async def test_what_was_sent_is_kept_without_secrets_for_its_owner_alone(tmp_path: Path) -> None:
    async with started(tmp_path) as one, openai_client(one) as client:
        await client.responses.create(model="m", input=f"My token is {KEY}.")
    [file] = (tmp_path / "requests").iterdir()
    assert KEY not in file.read_text()
    assert "My token is [redacted" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST_RECORD", 1500)
    async with started(tmp_path) as one, openai_client(one) as client:
        for _ in range(4):
            await client.responses.create(model="m", input="x" * 1000)
    assert len(list((tmp_path / "requests").iterdir())) == 1


# Who may not come in.

HOSTILE: dict[str, tuple[int, dict[str, Any]]] = {
    "another path": (403, {"url": "/v1/messages"}),
    "the key of another run": (403, {"url": "/0123456789abcdef/v1/messages"}),
    "no address of an API": (404, {"url": "KEY/v1/embeddings"}),
    "another name for this machine": (403, {"headers": {"host": "attacker.example"}}),
    "another name with the port": (403, {"headers": {"host": "attacker.example:PORT"}}),
    "a page in a browser": (403, {"headers": {"origin": "https://attacker.example"}}),
    "no JSON": (400, {"content": b"{"}),
    "deep JSON": (400, {"content": b"[" * 100_000}),
    "messages of another kind": (400, {"content": b'{"messages": [7, {"role": 7}]}'}),
    "no result of a call": (
        400,
        {"content": b'{"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}'},
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_requests_are_refused_and_leave_no_trace(tmp_path: Path, name: str) -> None:
    status, given = HOSTILE[name]
    async with started(tmp_path) as one, httpx2.AsyncClient(verify=False) as client:
        url = given.get("url", "KEY/v1/messages").replace("KEY", f"/{one.key}")
        headers = {
            key: value.replace("PORT", str(one.port)) for key, value in given.get("headers", {}).items()
        }
        content = given.get("content", b'{"messages": []}')
        done = await client.post(f"http://127.0.0.1:{one.port}{url}", headers=headers, content=content)
        assert done.status_code == status
        assert one.conversation.exchanges == []
    assert not (tmp_path / "requests").exists()


async def test_a_request_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with started(tmp_path) as one, httpx2.AsyncClient(verify=False) as client:
        done = await client.post(f"{one.address}/v1/messages", content=b" " * (LARGEST_BODY + 1))
    assert done.status_code == 413


async def test_it_listens_on_the_loopback_interface_alone_and_ends_with_its_context(tmp_path: Path) -> None:
    async with started(tmp_path) as one:
        port = one.port
        listens = [
            line.split()[1] for line in listening_sockets() if line.split()[1].endswith(f":{port:04X}")
        ]
        assert listens in ([], [f"0100007F:{port:04X}"])
    with pytest.raises(OSError, match="Connect"):
        await asyncio.open_connection("127.0.0.1", port)


def listening_sockets() -> list[str]:
    """Linux's table of sockets; empty elsewhere."""
    table = Path("/proc/net/tcp")
    return table.read_text().splitlines()[1:] if table.exists() else []

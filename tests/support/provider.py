"""What a provider is sent and answers, without one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from inspector.core.message import ModelChunk, ModelRequest
from inspector.core.settings import BindingSettings, BudgetSettings, CacheTtl, Settings, ToolDelivery
from inspector.core.tool import function_definition
from inspector.features.clients.measured.answer import answer, events
from inspector.features.clients.measured.wire import Api, Call as ToModel, Heard, Way
from inspector.loop.model.litellm import LitellmModel
from inspector.schema.json_value import compact
from inspector.tokens.manifest import text_with
from tests.loop.test_chat import Bench
from tests.support.local_servers import Answer, Stub, stub_server

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


USED = {
    "input_tokens": 50,
    "output_tokens": 7,
    "total_tokens": 57,
    "input_tokens_details": {"cached_tokens": 30},
    "output_tokens_details": {"reasoning_tokens": 3},
}


def answers(api: Api) -> list[Answer]:
    """What a model says to the first requests: the steps, and that it is done."""
    streams = []
    for number, step in enumerate((*STEPS, ())):
        calls = tuple(_called(api, f"c{number}{place}", *call) for place, call in enumerate(step))
        whole = answer(Heard(api, "m", streamed=True), number, calls, "Done.")
        if api == "responses":
            whole = {**whole, "usage": USED}
        streams.append(Answer(events=tuple(events(api, whole))))
    return streams


def _called(api: Api, call_id: str, name: str, arguments: Mapping[str, Any]) -> ToModel:
    way: Way = "search" if api == "responses" and name == "search_tools" else "tool"
    return ToModel(call_id, name, arguments, way=way)


async def conversation(
    model: Callable[[Stub], Recorded], api: Api, *, delivery: ToolDelivery = "append", ttl: CacheTtl = "5m"
) -> tuple[Bench, Recorded, Stub]:
    """Let the model search, call and answer; then say something again."""
    binding = BindingSettings(delivery=delivery)
    settings = Settings(binding=binding, budget=BudgetSettings(prompt_cache=ttl))
    with stub_server(*answers(api)) as stub:
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


# Marks and other fields that never become input are left out; a reference becomes the definition that it
# names, as the provider expands it.

Body = Mapping[str, Any]
Entry = dict[str, Any]


def chat_text(messages: Sequence[Entry], tools: Sequence[Entry]) -> str:
    """The compact body."""
    return compact({"messages": list(messages)} | ({"tools": list(tools)} if tools else {}))


def read_messages_api(body: Body) -> str:
    """A body of Anthropic's Messages API."""
    entries = [(tool, _anthropic_entry(tool)) for tool in body.get("tools", ())]
    known = {entry["function"]["name"]: entry for _, entry in entries}
    said = [{"role": "system", "content": block["text"]} for block in body.get("system", ())]
    for message in body["messages"]:
        blocks = message["content"]
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        said += [_assistant(blocks)] if message["role"] == "assistant" else _user(blocks, known)
    return chat_text(said, [entry for tool, entry in entries if not tool.get("defer_loading")])


def marks_of(body: Body) -> list[tuple[str, Any]]:
    """Where the body of the Messages API has `cache_control`, in the order in which Claude reads it."""
    places = [(f"tools[{i}]", tool) for i, tool in enumerate(body.get("tools", ()))]
    places += [("system", block) for block in body.get("system", ())]
    for index, message in enumerate(body["messages"]):
        blocks = message["content"] if isinstance(message["content"], list) else []
        places += [(f"messages[{index}].{number}", block) for number, block in enumerate(blocks)]
    return [(place, block["cache_control"]) for place, block in places if "cache_control" in block]


def _anthropic_entry(tool: Body) -> Entry:
    return function_definition(tool["name"], tool["description"], tool["input_schema"])


def _assistant(blocks: Iterable[Body]) -> Entry:
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [_call(b["id"], b["name"], compact(b["input"])) for b in blocks if b["type"] == "tool_use"]
    content = {"content": text} if text or not calls else {}
    return {"role": "assistant", **content, **({"tool_calls": calls} if calls else {})}


def _call(call_id: str, name: str, arguments: str) -> Entry:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _user(blocks: Iterable[Body], known: Mapping[str, Entry]) -> list[Entry]:
    said: list[Entry] = []
    loaded: list[tuple[Entry, list[Entry]]] = []
    for block in blocks:
        if block["type"] == "text" and loaded:
            result, definitions = loaded.pop()
            result["content"] = text_with(block["text"], definitions)
        elif block["type"] == "text":
            said.append({"role": "user", "content": block["text"]})
        else:
            content = block["content"]
            said.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": content})
            if isinstance(content, list):
                assert {part["type"] for part in content} == {"tool_reference"}
                definitions = [known[part["tool_name"]] for part in content]
                said[-1]["content"] = text_with("", definitions)
                loaded.append((said[-1], definitions))
    return said


@dataclass
class SilentStub:
    """The stub's address, and whether the client has hung up."""

    address: str = ""
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def silent_server(events: Sequence[str], *, cuts: bool = False) -> AsyncIterator[SilentStub]:
    """Stream the events without ending the answer; with `cuts`, close the connection after them."""
    stub = SilentStub()
    serving: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length:")[2].split(b"\r\n")[0]
        await reader.readexactly(int(length))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        writer.write(b"transfer-encoding: chunked\r\n\r\n")
        for text in events:
            body = text.encode()
            writer.write(b"%x\r\n%s\r\n" % (len(body), body))
        await writer.drain()
        if not cuts:
            await reader.read()
            stub.hung_up.set()
        writer.close()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.ensure_future(answer(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    stub.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield stub
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

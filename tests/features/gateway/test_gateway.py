"""A client of the gateway: what it is listed, what it finds and calls, and what servers ask of it."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from mcp import Client, MCPError, types
from msgspec.structs import replace
from pydantic import FileUrl

from inspector.cli.options import Options
from inspector.core.error import ConfigError
from inspector.core.events import CallFinished, ClientListed, SearchPerformed, SessionStarted, SettingsChanged
from inspector.core.message import ToolResult
from inspector.core.server import Era, ServerSpec
from inspector.features.gateway import gateway
from inspector.features.gateway.asking import CALLING, ClientRelay, Waiting
from inspector.features.gateway.gateway import result_of
from inspector.features.gateway.news import News
from inspector.features.gateway.serve import Front, open_gateway, serve
from inspector.mcp.client.link import eras_to_try
from inspector.schema.json_value import JsonObject
from inspector.store.store import SqliteStore
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.synthetic import Answer
from tests.support.commands import servers_in_process as servers_in_process
from tests.support.mcp_case import serving

ASKING = Path(__file__).parents[2] / "support" / "mcp_asking_server.py"
PLAIN = {"discovery.embedding_model": "none"}
BOUND = {**PLAIN, "discovery.enabled": False}
Mode = Literal["legacy", "auto"]


@asynccontextmanager
async def client_of(
    options: Options, mode: Mode = "legacy", **callbacks: Any
) -> AsyncGenerator[Client, None]:
    """A client in this process, connected to a gateway with these options."""
    front, over = Front(), asyncio.Event()

    async def serving() -> None:
        await over.wait()

    served = asyncio.create_task(serve(options, front, serving()))
    try:
        async with Client(front.server, mode=mode, **callbacks) as client:
            yield client
    finally:
        over.set()
        await served


@pytest.fixture
def demo(tmp_path: Path, servers_in_process: None) -> Options:  # noqa: ARG001 - it starts none
    return Options(demo=True, approve=True, database=tmp_path / "d.db", values=PLAIN)


@pytest.fixture(params=["legacy", "auto"])
def asking(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Options, Mode]:
    """A server that asks its client, and the protocol that client and server speak."""
    modern = {"env": {"ASKING": "modern"}} if request.param == "auto" else {}
    server = {"command": sys.executable, "args": [str(ASKING)], **modern}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"asking": server}}), encoding="utf-8")
    return Options(config=config, approve=True, database=tmp_path / "d.db", values=BOUND), request.param


def text_of(result: types.CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def test_a_client_is_listed_a_search_a_way_to_call_and_what_is_pinned(demo: Options) -> None:
    pinned = replace(demo, values={**PLAIN, "binding.always_include": ("clock:*",)})
    async with client_of(pinned) as client:
        listed = (await client.list_tools()).tools
    names = [tool.name for tool in listed]
    assert names[:2] == ["search_tools", "call_tool"]
    # The demo defers no tool of calc.
    assert {name.partition("__")[0] for name in names[2:]} == {"calc", "clock"}
    assert listed[0].annotations is not None
    assert listed[0].annotations.read_only_hint


async def test_what_a_search_finds_can_be_called(demo: Options) -> None:
    async with client_of(demo) as client:
        found = text_of(await client.call_tool("search_tools", {"query": "late orders"}))
        assert "shop:list_orders" in found
        called = {"name": "shop:list_orders", "arguments": {"limit": 1}}
        result = await client.call_tool("call_tool", called)
    assert not result.is_error
    assert result.structured_content is not None
    assert len(result.structured_content["orders"]) == 1


async def test_a_tool_that_was_not_found_is_refused_and_the_client_is_told_to_search(demo: Options) -> None:
    async with client_of(demo) as client:
        result = await client.call_tool("call_tool", {"name": "shop:list_orders", "arguments": {}})
    assert result.is_error
    assert "search_tools" in text_of(result)


async def test_scripts_are_no_way_to_deliver_to_a_client_that_calls_tools(demo: Options) -> None:
    coded = replace(demo, values={**PLAIN, "binding.delivery": "code"})
    with pytest.raises(ConfigError, match="sends no scripts"):
        async with client_of(coded) as client:
            await client.list_tools()


async def test_a_list_that_changes_is_told_where_found_tools_are_listed(demo: Options) -> None:
    told = asyncio.Event()

    async def note(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            told.set()

    append = replace(demo, values={**PLAIN, "binding.delivery": "append"})
    async with client_of(append, message_handler=note) as client:
        before = {tool.name for tool in (await client.list_tools()).tools}
        await client.call_tool("search_tools", {"query": "late orders"})
        await asyncio.wait_for(told.wait(), 10)
        after = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("shop__list_orders", {"limit": 1})
    assert "call_tool" not in before
    assert "shop__list_orders" in after - before
    assert not result.is_error


async def test_a_restricted_user_is_listed_finds_and_calls_nothing_else(
    demo: Options, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("organisations: {acme: {users: {ada: {tools: ['clock:*']}}}}", encoding="utf-8")
    async with client_of(replace(demo, policy=str(policy), user="ada")) as client:
        listed = (await client.list_tools()).tools
        result = await client.call_tool("call_tool", {"name": "shop:list_orders", "arguments": {}})
        resources = (await client.list_resources()).resources
    assert all("shop" not in tool.model_dump_json() for tool in listed)
    assert result.is_error
    assert resources == []


async def test_resources_and_prompts_of_all_servers_are_passed_through(demo: Options) -> None:
    async with client_of(demo) as client:
        [resource, *_] = (await client.list_resources()).resources
        [content, *_] = (await client.read_resource(resource.uri)).contents
        [prompt, *_] = (await client.list_prompts()).prompts
        with pytest.raises(MCPError, match="no server has"):
            await client.get_prompt("unknown", {})
    assert isinstance(content, types.TextResourceContents)
    assert content.text
    assert prompt.name.startswith("files__")


async def test_everything_is_in_the_record_with_the_client_that_called(demo: Options) -> None:
    identity = types.Implementation(name="my-agent", version="3")
    async with client_of(demo, client_info=identity) as client:
        sent = [
            tool.model_dump_json(by_alias=True, exclude_none=True)
            for tool in (await client.list_tools()).tools
        ]
        await client.list_tools()
        await client.call_tool("search_tools", {"query": "late orders"})
        await client.call_tool("call_tool", {"name": "shop:list_orders", "arguments": {}})
    assert demo.database is not None
    with SqliteStore(demo.database) as store:
        [session] = store.sessions()
        events = [record.event for record in store.read(session.id)]
    [started] = [event for event in events if isinstance(event, SessionStarted)]
    assert started.origin is not None
    assert started.origin.label == "my-agent 3"
    assert [event.report.request.query for event in events if isinstance(event, SearchPerformed)]
    assert [event.tool for event in events if isinstance(event, CallFinished)] == ["shop:list_orders"]
    [listed] = [event for event in events if isinstance(event, ClientListed)]
    assert listed.tools == len(sent)
    assert listed.tokens == pytest.approx(sum(map(TiktokenCounter("openai/gpt-5").count, sent)), rel=0.02)
    assert listed.all_tokens > 5 * listed.tokens


async def test_what_a_server_asks_its_client_answers(asking: tuple[Options, Mode]) -> None:
    chosen, mode = asking

    async def answer(_context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"city": params.message})

    async def sample(_context: object, _params: object) -> types.CreateMessageResult:
        text = types.TextContent(type="text", text="yes")
        return types.CreateMessageResult(role="assistant", content=text, model="theirs")

    async with client_of(chosen, mode, elicitation_callback=answer, sampling_callback=sample) as client:
        form = text_of(await client.call_tool("form", {}))
        sampled = text_of(await client.call_tool("sample", {}))
    assert '"city": "Where?"' in form
    assert '"theirs"' in sampled


async def test_a_server_gets_the_folders_of_the_client(asking: tuple[Options, Mode]) -> None:
    chosen, mode = asking

    async def roots(_context: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl("file:///my%20work"))])

    async with client_of(chosen, mode, list_roots_callback=roots) as client:
        assert '"file:///my%20work"' in text_of(await client.call_tool("folders", {}))
    async with client_of(chosen, mode) as client:
        assert "file:" not in text_of(await client.call_tool("folders", {}))


@pytest.mark.parametrize(
    ("protocol", "is_asked"), [("2025-11-25", True), ("2026-07-28", False)], ids=["older", "newer"]
)
async def test_a_server_that_asks_as_it_starts_gets_the_folders_of_an_older_client(
    protocol: str, is_asked: bool
) -> None:
    folders = {"roots": [{"uri": "file:///work"}]}

    class Session:
        client_capabilities = types.ClientCapabilities(roots=types.RootsCapability())

        async def send_request(self, *_: object, **__: object) -> SimpleNamespace:
            return SimpleNamespace(root=folders)

    relay, asked = ClientRelay(), {"a": {"method": "roots/list"}}
    assert not relay.takes("shop", asked)
    first: Any = SimpleNamespace(session=Session(), request_id=1, protocol_version=protocol)
    relay.first = first
    assert relay.takes("shop", asked) is is_asked
    if is_asked:
        assert await relay.answers("shop", asked) == {"a": folders}


async def test_a_client_that_cannot_be_asked_is_not_asked(asking: tuple[Options, Mode]) -> None:
    chosen, mode = asking
    async with client_of(chosen, mode) as client:
        declared = text_of(await client.call_tool("declared", {}))
        form = await client.call_tool("form", {})
    assert "elicitation" not in declared
    assert "declare" in text_of(form)


async def test_the_one_server_of_a_configuration_keeps_its_names(asking: tuple[Options, Mode]) -> None:
    chosen, mode = asking
    async with client_of(chosen, mode) as client:
        assert "form" in {tool.name for tool in (await client.list_tools()).tools}


async def test_a_request_that_is_none_is_an_error_and_the_next_is_answered(demo: Options) -> None:
    async with client_of(demo) as client:
        call = types.CallToolRequest(
            params=types.CallToolRequestParams(name="call_tool", arguments={"name": 7})
        )
        odd = await client.session.send_request(call, types.CallToolResult)
        assert odd.is_error
        assert (await client.list_tools()).tools


def test_a_result_is_passed_on_unchanged_and_notes_stand_around_it() -> None:
    raw: JsonObject = {
        "content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}],
        "_meta": {"a": 1},
    }
    result = ToolResult("[image]", raw=raw)
    assert result_of(Answer("[image]", result=result)) is raw
    noted = result_of(Answer("[instead]\n\n[image]", "[loop]", result=result))
    assert noted["_meta"] == {"a": 1}
    assert [block.get("text") for block in noted["content"]] == ["[instead]", None, "[loop]"]


async def test_a_client_is_told_why_a_session_cannot_begin(demo: Options) -> None:
    async def listed() -> None:
        async with client_of(replace(demo, toolset="unknown")) as client:
            with pytest.raises(MCPError, match="toolset"):
                await client.list_tools()

    with pytest.raises(ConfigError, match="toolset"):
        await listed()


async def test_clients_of_an_address_share_a_session(demo: Options) -> None:
    front, over = Front(), asyncio.Event()

    async def served() -> None:
        await over.wait()

    app = front.server.streamable_http_app()
    running = asyncio.create_task(serve(demo, front, served()))
    async with serving(app) as origin:
        for _ in range(2):
            async with Client(f"{origin}/mcp") as client:
                assert (await client.list_tools()).tools[0].name == "search_tools"
    over.set()
    await running
    assert demo.database is not None
    with SqliteStore(demo.database) as store:
        assert len(store.sessions()) == 1


async def test_what_a_server_tells_goes_to_whoever_waits_for_it_and_nobody_else() -> None:
    elicitor, told = ClientRelay(), list[str]()
    news = News(elicitor)
    waits, late, other = waiting_of("a", told), waiting_of("a", told), waiting_of("b", told)
    with elicitor.waits(waits), elicitor.waits(late), elicitor.waits(other):
        CALLING.set(waits)
        news.heard("a", "notifications/progress", {"progress": 2.0, "total": None, "message": "half"})
        CALLING.set(None)
        news.heard("a", "notifications/message", {"level": "info", "data": "said"})
        news.heard("a", "notifications/resources/updated", {"uri": "file:///x"})
        news.add(waits.context.session)
        news.heard("a", "notifications/resources/list_changed", {})
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    assert told == ["a progress 2.0 half", *["a log said"] * 2, "a notifications/resources/list_changed"]


def waiting_of(server: str, told: list[str]) -> Waiting:
    """A request of a client of the older protocol that waits for a server, and notes what it is told."""

    class Session:
        protocol_version, client_params = "2025-11-25", None

        async def report_progress(self, progress: float, total: float | None, message: str) -> None:
            assert total is None
            told.append(f"{server} progress {progress} {message}")

        async def send_log_message(self, _level: str, data: str, _logger: str | None, _id: int) -> None:
            told.append(f"{server} log {data}")

        async def send_notification(self, notification: types.ServerNotification) -> None:
            told.append(f"{server} {notification.method}")

    session: Any = Session()
    context: Any = SimpleNamespace(session=session, request_id=1)
    waiting = Waiting(context)
    waiting.server = server
    return waiting


async def test_an_answer_to_no_question_is_refused(demo: Options) -> None:
    async with client_of(demo, "auto") as client:
        params = types.CallToolRequestParams(name="call_tool", arguments={}, request_state="made up")
        with pytest.raises(MCPError, match="not given out"):
            await client.session.send_request(types.CallToolRequest(params=params), types.CallToolResult)


@pytest.mark.parametrize(
    ("starts", "http", "stdio"),
    [
        (Era.LEGACY, (Era.LEGACY, Era.AUTO), (Era.LEGACY, Era.MODERN)),
        (Era.MODERN, (Era.AUTO,), (Era.MODERN, Era.LEGACY)),
        (None, (Era.AUTO,), (Era.LEGACY, Era.MODERN)),
    ],
)
def test_a_server_is_spoken_to_as_its_client_speaks(
    starts: Era | None, http: tuple[Era, ...], stdio: tuple[Era, ...]
) -> None:
    assert eras_to_try(ServerSpec("a", url="https://a.example"), None, starts) == http
    assert eras_to_try(ServerSpec("a", command="a"), None, starts) == stdio


async def test_a_client_that_toolsight_starts_changes_nothing_without_a_yes_and_leaves_no_record(
    demo: Options, tmp_path: Path
) -> None:
    config = tmp_path / "mcp.json"
    entry = {"command": sys.executable, "args": [str(ASKING)]}
    config.write_text(json.dumps({"mcpServers": {"asking": entry}}), encoding="utf-8")
    own = Options(config=config, approve=True, database=tmp_path / "d.db", values=BOUND)
    said = {}
    for options, name in ((own, "declared"), (replace(own, yes=True), "declared"), (demo, "search_tools")):
        async with open_gateway(options) as (address, session), Client(address, mode="legacy") as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert [one["name"] for one in session.result().listed or ()] == listed
            result = await client.call_tool(name, {"query": "late orders"} if options is demo else {})
            known = session.result().entry_of("shop:list_orders")
        said[options.demo, options.yes] = (result.is_error, known is not None)
    assert said == {
        (False, False): (True, False),
        (False, True): (False, False),
        (True, False): (False, True),
    }
    with SqliteStore(tmp_path / "d.db") as store:
        assert list(store.sessions()) == []


async def test_what_keeps_such_a_gateway_from_its_session_is_raised(tmp_path: Path) -> None:
    options = Options(config=tmp_path / "none.json", database=tmp_path / "d.db")
    with pytest.raises(ConfigError, match=r"none\.json"):
        async with open_gateway(options) as (_, session):
            assert not session.done()


async def test_what_is_listed_stays_once_every_server_has_connected(
    monkeypatch: pytest.MonkeyPatch, asking: tuple[Options, Mode]
) -> None:
    chosen, mode = asking
    async with client_of(replace(chosen, values=PLAIN), mode) as client:
        first = [tool.name for tool in (await client.list_tools()).tools]
        monkeypatch.setattr(gateway, "_LISTS_WAIT", 0.0)
        assert [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools] == first
    assert "form" in first


async def test_what_connects_late_can_be_found_by_a_client_that_lists_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gateway, "_WAITS", 0.0)
    monkeypatch.setattr(gateway, "_LISTS_WAIT", 0.0)
    config, silent = tmp_path / "mcp.json", [sys.executable, "-c", "import sys; sys.stdin.read()"]
    entry = {"command": silent[0], "args": silent[1:]}
    config.write_text(json.dumps({"mcpServers": {"late": entry}}), encoding="utf-8")
    options = Options(config=config, approve=True, database=tmp_path / "d.db", values=PLAIN)
    async with client_of(options) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        found = text_of(await client.call_tool("search_tools", {"query": "late orders"}))
    assert listed == ["search_tools", "call_tool"]
    assert "late has not connected yet" in found
    with SqliteStore(tmp_path / "d.db") as store:
        records = store.read(store.sessions()[0].id)
        changed = [record.event for record in records if isinstance(record.event, SettingsChanged)]
    assert [event.changed for event in changed] == [("discovery.auto",)]


async def test_a_list_without_a_search_waits_for_every_server(
    monkeypatch: pytest.MonkeyPatch, asking: tuple[Options, Mode]
) -> None:
    monkeypatch.setattr(gateway, "_LISTS_WAIT", 0.0)
    options, mode = asking
    async with client_of(options, mode) as client:
        assert "form" in [tool.name for tool in (await client.list_tools()).tools]

"""What every Connector promises: the one in memory and the real one over real processes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.core.error import CallTimeout, ConnectError, ConnectTimeout, ProtocolError, ServerExited
from inspector.core.message import ToolResult
from inspector.core.server import ServerInfo, ServerSpec, SkippedTool
from inspector.core.tool import Tool
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import Connector, Opening, ServerLink
from inspector.mcp.recorded_link import RecordedLink
from inspector.schema.json_value import JsonObject
from tests.support.mcp_case import PATIENCE, faulty, odd
from tests.support.mcp_odd_server import READ, SHELF
from tests.support.memory_servers import MemoryConnector, MemoryServer


@dataclass(frozen=True)
class Case:
    """A connector, and a spec for each behaviour the contract speaks of."""

    connector: Connector
    specs: Mapping[str, ServerSpec]

    @asynccontextmanager
    async def open(
        self, behaviour: str, on_tools_changed: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[ServerLink, None]:
        spec = self.specs[behaviour]
        async with self.connector.connect(spec, Opening(on_tools_changed=on_tools_changed)) as link:
            yield link


def real_case(folder: Path) -> Case:
    specs = {
        "healthy": faulty(),
        "crashes": faulty("crash_on_start"),
        "hangs": faulty("hang_on_start", connect_timeout=0.3),
        "dies_in_call": faulty("die_on_call"),
        "bad_tool": faulty("bad_tool"),
        "endless": faulty("repeat_cursor"),
        "slow": odd(),
        "refuses": odd(),
        "grows": odd(),
        "shelf": odd(),
    }
    return Case(McpConnector(folder), specs)


def memory_case(_folder: Path) -> Case:
    async def sleep(_tool: str, _arguments: JsonObject) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    async def die(_tool: str, _arguments: JsonObject) -> ToolResult:
        servers["dies_in_call"].die()
        return ToolResult("")

    async def grow(_tool: str, _arguments: JsonObject) -> ToolResult:
        servers["grows"].change((Tool("grows", "grow"), Tool("grows", "sprout")))
        return ToolResult("grown")

    async def refuse(_tool: str, _arguments: JsonObject) -> ToolResult:
        return ToolResult("no such city", is_error=True)

    async def echo(_tool: str, arguments: JsonObject) -> ToolResult:
        return ToolResult(str(arguments["text"]))

    three = tuple(Tool("faulty", name) for name in ("echo", "untyped", "shout"))
    reason = "inputSchema.type is missing"
    servers = {
        "healthy": MemoryServer(three, answer=echo),
        "crashes": MemoryServer(fault=ServerExited("exit code 3", stderr_tail="API_TOKEN is not set")),
        "hangs": MemoryServer(hangs=True),
        "dies_in_call": MemoryServer(three, answer=die, stderr="told to die in a call"),
        "bad_tool": MemoryServer((three[0], three[2]), skipped=[SkippedTool("untyped", reason)]),
        "endless": MemoryServer(three, skipped=[SkippedTool("", "it repeats", "page", number=3)]),
        "slow": MemoryServer(answer=sleep),
        "refuses": MemoryServer(answer=refuse),
        "grows": MemoryServer((Tool("grows", "grow"),), answer=grow),
    }
    shelf = MemoryServer()
    shelf.answers = {**READ, "tools/call": {}}
    servers["shelf"] = shelf
    specs = {name: ServerSpec(name, command=name) for name in servers}
    specs["hangs"] = replace(specs["hangs"], connect_timeout=0.05)
    return Case(MemoryConnector(servers), specs)


@pytest.fixture(params=[memory_case, real_case], ids=["memory", "mcp"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    made: Case = request.param(tmp_path)
    return made


async def test_a_healthy_server_lists_its_tools_and_answers_calls(case: Case) -> None:
    async with case.open("healthy") as link:
        listing = await link.list_tools()
        assert [tool.name for tool in listing.tools] == ["echo", "untyped", "shout"]
        assert listing.skipped == ()
        assert (await link.call("echo", {"text": "hi"}, timeout=PATIENCE)).text == "hi"


async def test_a_crash_on_start_shows_the_last_words_of_the_process(case: Case) -> None:
    with pytest.raises(ConnectError) as caught:
        async with case.open("crashes"):
            pass
    assert "exit code 3" in caught.value.message
    assert "API_TOKEN is not set" in caught.value.stderr_tail


async def test_a_server_that_never_answers_is_given_up(case: Case) -> None:
    with pytest.raises(ConnectTimeout):
        async with case.open("hangs"):
            pass


async def test_a_server_that_dies_in_a_call_fails_the_call_and_the_connection(case: Case) -> None:
    async with case.open("dies_in_call") as link:
        with pytest.raises(ServerExited) as caught:
            await link.call("echo", {"text": "hi"}, timeout=PATIENCE)
        assert "told to die in a call" in caught.value.stderr_tail
        async with asyncio.timeout(PATIENCE):
            assert (await link.wait_closed()).message == caught.value.message
        with pytest.raises(ServerExited):
            await link.list_tools()
        with pytest.raises(ServerExited):
            await link.call("echo", {"text": "hi"}, timeout=PATIENCE)


async def test_one_invalid_tool_is_skipped_with_its_reason(case: Case) -> None:
    async with case.open("bad_tool") as link:
        listing = await link.list_tools()
    assert [tool.name for tool in listing.tools] == ["echo", "shout"]
    (lost,) = listing.skipped
    assert (lost.name, lost.kind, lost.reason) == ("untyped", "tool", "inputSchema.type is missing")


async def test_paging_that_never_ends_costs_the_pages_from_there_on(case: Case) -> None:
    async with case.open("endless") as link:
        listing = await link.list_tools()
    assert "echo" in [tool.name for tool in listing.tools]
    assert "page 3" in {one.label for one in listing.skipped if one.kind in ("page", "endless")}


async def test_a_call_that_takes_too_long_times_out(case: Case) -> None:
    async with case.open("slow") as link:
        with pytest.raises(CallTimeout):
            await link.call("sleep", {}, timeout=0.05)


async def test_a_tool_error_is_a_value(case: Case) -> None:
    async with case.open("refuses") as link:
        result = await link.call("refuse", {}, timeout=PATIENCE)
    assert (result.text, result.is_error) == ("no such city", True)


async def test_a_changed_list_is_announced(case: Case) -> None:
    changed = asyncio.Event()
    async with case.open("grows", changed.set) as link:
        before = [tool.name for tool in (await link.list_tools()).tools]
        await link.call("grow", {}, timeout=PATIENCE)
        async with asyncio.timeout(PATIENCE):
            await changed.wait()
        assert [tool.name for tool in (await link.list_tools()).tools] == [*before, "sprout"]


async def test_a_call_in_flight_fails_when_the_connection_is_closed(case: Case) -> None:
    async with case.open("slow") as link:
        call = asyncio.create_task(link.call("sleep", {}, timeout=PATIENCE))
        await asyncio.wait({call}, timeout=0.05)
    with pytest.raises(ServerExited):
        await call


async def test_a_cancelled_entry_is_given_up(case: Case) -> None:
    connecting = asyncio.create_task(case.open("hangs").__aenter__())
    await asyncio.wait({connecting}, timeout=0.02)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting


async def test_a_request_returns_its_result_as_it_came_or_fails(case: Case) -> None:
    async with case.open("shelf") as link:
        for method in ("resources/list", "resources/read", "prompts/get", "completion/complete"):
            assert await link.request(method, {"uri": SHELF}, timeout=PATIENCE) == READ[method]
        with pytest.raises(ProtocolError, match="-32601"):
            await link.request("resources/templates/list", {}, timeout=PATIENCE)


async def test_what_is_recorded_has_nothing_to_read() -> None:
    link = RecordedLink(ServerInfo("a"), ())
    with pytest.raises(ProtocolError):
        await link.request("resources/list", {}, timeout=PATIENCE)

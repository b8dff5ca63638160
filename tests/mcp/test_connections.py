"""The connections of a session, over servers in memory."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from inspector.core.error import (
    AuthRequired,
    ConnectError,
    ProtocolError,
    ServerExited,
    StoreError,
    ToolsightError,
)
from inspector.core.events import (
    Event,
    ServerFailed,
    ServerReady,
    ServerStopped,
    ToolsChanged,
)
from inspector.core.ports import Snapshot
from inspector.core.secret_value import MARKER
from inspector.core.server import Era, Grant, OAuthClient, ServerInfo, ServerSpec
from inspector.core.tool import Tool
from inspector.mcp.connections import Connections
from inspector.mcp.listing import Shared
from inspector.store.server_memory import MemoryServerMemory
from tests.support.fakes import ManualClock, named_characters
from tests.support.memory_servers import MemoryConnector, MemoryServer

PATIENCE = 5.0


class Bench:
    """Connections over memory servers, and what they emitted."""

    def __init__(self, *specs: ServerSpec, **servers: MemoryServer) -> None:
        self.events: list[Event] = []
        self.rebuilds = 0
        self.memory = MemoryServerMemory()
        self._news = asyncio.Event()
        self.connections = Connections(
            specs or tuple(ServerSpec(name, command=name) for name in servers),
            Shared(MemoryConnector(servers), self.memory, ManualClock(), self._emit, named_characters),
            self._rebuild,
        )

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    def _rebuild(self) -> None:
        self.rebuilds += 1
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def until_event(self, kind: type[Event], server: str = "a") -> None:
        await self.until(lambda: any(isinstance(e, kind) and _server(e) == server for e in self.events))

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


def _server(event: Event) -> str:
    return str(getattr(event, "server", ""))


def tools(server: str, *names: str) -> tuple[Tool, ...]:
    return tuple(Tool(server, name) for name in names)


@asynccontextmanager
async def connected(bench: Bench) -> AsyncGenerator[Connections, None]:
    bench.connections.start()
    async with asyncio.timeout(PATIENCE):
        await bench.connections.settled()
    try:
        yield bench.connections
    finally:
        await bench.connections.aclose()


async def test_the_tools_of_a_server_are_kept_with_the_time_and_without_its_secrets() -> None:
    spec = ServerSpec("a", "a", env={"API_TOKEN": "s3cret-value-1234"})
    told = Tool("a", "one", "Uses s3cret-value-1234.", {"type": "object", "title": "s3cret-value-1234"})
    bench = Bench(spec, a=MemoryServer([told], info=ServerInfo(summary="Serves.")))
    async with connected(bench):
        kept = bench.memory.snapshot(spec.fingerprint())
    cleaned = Tool("a", "one", f"Uses {MARKER}.", {"type": "object", "title": MARKER})
    assert kept == Snapshot((cleaned,), ManualClock().now(), "Serves.")


@pytest.mark.parametrize("can_sign_in", [True, False])
@pytest.mark.parametrize("grant", Grant)
async def test_only_a_client_of_a_person_waits_for_a_sign_in(grant: Grant, can_sign_in: bool) -> None:
    spec = ServerSpec("a", url="https://notes.example/mcp", oauth=OAuthClient("me", grant=grant))
    bench = Bench(spec, a=MemoryServer(fault=AuthRequired("no", can_sign_in=can_sign_in)))
    async with connected(bench):
        waits = can_sign_in and grant is Grant.AUTHORIZATION_CODE
        assert bench.of(ServerFailed) == [ServerFailed("a", "no", needs_login=waits)]


async def test_a_call_to_a_server_that_is_not_connected_fails_with_a_hint() -> None:
    async with connected(Bench(a=MemoryServer(fault=ConnectError("no")))) as connections:
        with pytest.raises(ServerExited) as caught:
            await connections.call("a", "echo", {})
        assert "Reconnect" in caught.value.hint
        with pytest.raises(ToolsightError):
            await connections.call("unknown", "echo", {})


async def test_a_server_that_dies_idle_is_failed_and_its_tools_leave() -> None:
    server = MemoryServer(tools("a", "one"), stderr="out of memory")
    bench = Bench(a=server)
    async with connected(bench) as connections:
        rebuilds = bench.rebuilds
        server.die("The process was killed by SIGKILL")
        await bench.until(lambda: bench.rebuilds > rebuilds)
        assert connections.tools == ()
    assert bench.of(ServerFailed) == [
        ServerFailed("a", "The process was killed by SIGKILL", "", "out of memory")
    ]


async def test_a_changed_list_is_compared_with_the_one_before() -> None:
    server = MemoryServer(tools("a", "stays", "goes", "differs"))
    bench = Bench(a=server)
    async with connected(bench) as connections:
        server.change((Tool("a", "stays"), Tool("a", "comes"), Tool("a", "differs", "new words")))
        await bench.until_event(ToolsChanged)
        (change,) = bench.of(ToolsChanged)
        assert isinstance(change, ToolsChanged)
        assert (change.added, change.removed, change.changed) == (("comes",), ("goes",), ("differs",))
        assert change.tools == len(bench.connections.tools)
        assert [tool.name for tool in connections.tools] == ["stays", "comes", "differs"]


async def test_a_change_during_the_list_is_not_lost() -> None:
    server = MemoryServer(tools("a", "one"))
    bench = Bench(a=server)
    async with connected(bench) as connections:
        rebuilds = bench.rebuilds
        server.change(tools("a", "one", "two"))
        await bench.until(lambda: bench.rebuilds > rebuilds)
        server.change(tools("a", "one", "two", "three"))
        await bench.until(lambda: len(connections.tools) == 3)


async def test_a_notification_without_a_change_is_no_event() -> None:
    server = MemoryServer(tools("a", "one"))
    bench = Bench(a=server)
    async with connected(bench):
        server.listed.clear()
        server.notify()
        async with asyncio.timeout(PATIENCE):
            await server.listed.wait()
        assert not bench.of(ToolsChanged)


async def test_a_list_that_cannot_be_had_again_keeps_the_tools_and_says_why() -> None:
    server = MemoryServer(tools("a", "one"))
    bench = Bench(a=server)
    async with connected(bench) as connections:
        server.list_error = ProtocolError("tools/list: quota exceeded (-32000)")
        server.notify()
        await bench.until_event(ToolsChanged)
        (change,) = bench.of(ToolsChanged)
        assert isinstance(change, ToolsChanged)
        assert "quota exceeded" in change.skipped[0].reason
        assert (connections.tools, bench.of(ServerFailed)) == (tools("a", "one"), [])
        server.list_error = None
        server.change(tools("a", "one", "two"))
        await bench.until(lambda: len(connections.tools) == 2)
        last = bench.of(ToolsChanged)[-1]
        assert isinstance(last, ToolsChanged)
        assert last.skipped == ()


@pytest.mark.parametrize("refuses_older", [True, False])
async def test_an_era_that_had_to_be_found_is_remembered_and_used_again(refuses_older: bool) -> None:
    server = MemoryServer(info=ServerInfo(era=Era.MODERN, refuses_older=refuses_older))
    bench = Bench(a=server)
    async with connected(bench) as connections:
        await connections.reconnect("a")
    remembered = {ServerSpec("a", command="a").fingerprint(): Era.MODERN}
    assert server.eras == [None, Era.MODERN if refuses_older else None]
    assert bench.memory.eras == (remembered if refuses_older else {})


async def test_closing_ends_every_connection_and_every_attempt() -> None:
    servers = {"a": MemoryServer(tools("a", "one")), "b": MemoryServer(hangs=True)}
    bench = Bench(**servers)
    bench.connections.start()
    await bench.until_event(ServerReady)
    await bench.connections.aclose()
    assert servers["a"].links == []
    assert {_server(event) for event in bench.of(ServerStopped)} == {"a", "b"}
    assert bench.connections.tools == ()


async def test_a_database_that_fails_is_told_to_whoever_waits() -> None:
    class Full(Bench):
        def _emit(self, event: Event) -> None:
            if isinstance(event, ServerReady) and event.server == "a":
                raise StoreError("disk full")

    connections = Full(a=MemoryServer(), b=MemoryServer(tools("b", "one"))).connections
    connections.start()
    with pytest.raises(StoreError):
        await connections.settled()
    await connections.aclose()

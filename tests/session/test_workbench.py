"""The facade: one session, everything that can change while it runs."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from inspector.core.error import StoreError
from inspector.core.events import Record
from inspector.core.message import ModelChunk, ModelReply, ModelRequest, TaskState, ToolResult
from inspector.core.session import Binding
from inspector.core.tool import Tool
from inspector.mcp import pace
from inspector.session.workbench import Workbench
from inspector.store.store import MemoryStore
from tests.support.fakes import calls, says, searches
from tests.support.workbench import READS, connected, happens, opened, shop_and_weather

MOON = Tool("weather", "get_moon", "Moon phase.", annotations=READS)


@pytest.fixture
def rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a catalog was built the next one is a long way off, unless somebody needs it."""
    monkeypatch.setattr(pace, "_SHARE", 1e-12)
    monkeypatch.setattr(pace, "LONGEST", 1e9)


def bound(bench: Workbench) -> list[str]:
    return [entry["function"]["name"] for entry in bench.next_request().tools]


async def test_a_tool_is_loaded_and_evicted_by_hand() -> None:
    async with connected() as rig:
        rig.bench.load("weather:get_forecast")
        assert bound(rig.bench)[-1] == "weather__get_forecast"
        rig.bench.evict("weather:get_forecast")
        assert rig.bench.state.tools["weather:get_forecast"].binding is Binding.EVICTED
        assert bound(rig.bench) == ["search_tools", "calc__evaluate"]


async def test_a_message_waits_for_a_connection_that_is_expected() -> None:
    async with opened(says("done")) as rig:
        rig.bench.expect_connection()
        turn = asyncio.create_task(rig.bench.chat("When is full moon?"))
        await asyncio.sleep(0)
        assert not rig.store.read("s")
        rig.bench.connect()
        await turn
        kinds = [record.event.kind for record in rig.store.read("s")]
        assert kinds.index("session") < kinds.index("user") < kinds.index("ready") < kinds.index("request")


@pytest.mark.usefixtures("rarely")
async def test_a_model_finds_what_changed_while_it_wrote_its_search() -> None:
    def write(_: ModelRequest) -> ModelReply:
        rig.servers["weather"].change([MOON])
        return searches(query="moon phase")

    async with connected(write, says("done")) as rig:
        # The list is read again before the answer is complete.
        stream = rig.model.stream

        async def slowly(request: ModelRequest) -> AsyncIterator[ModelChunk]:
            async for chunk in stream(request):
                if isinstance(chunk, ModelReply) and chunk.tool_calls:
                    await happens(rig.bench, "tools")
                yield chunk

        rig.model.stream = slowly  # type: ignore[method-assign]
        await rig.bench.chat("When is full moon?")
        assert rig.loaded == [MOON.id]


@pytest.mark.usefixtures("rarely")
async def test_a_catalog_that_could_not_be_recorded_is_built_when_its_servers_are_told_of_again() -> None:
    class Full(MemoryStore):
        is_full = True

        def append(self, record: Record) -> None:
            if record.kind == "catalog" and self.is_full:
                raise StoreError("disk full")
            super().append(record)

    store = Full()
    async with opened(store=store) as rig:
        # What happens while nobody waits is told to the event loop only.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        rig.bench.connect()
        with pytest.raises(StoreError):
            await rig.bench.wait_connected()
        store.is_full = False
        await rig.bench.reconnect("weather")
        assert {tool.server for tool in rig.bench.state.tools.values()} == rig.servers.keys()


async def test_a_turn_that_waits_for_a_server_can_be_cancelled() -> None:
    servers = shop_and_weather()
    servers["weather"].hangs = True
    async with opened(says("never"), servers=servers) as rig:
        rig.bench.connect()
        turn = asyncio.create_task(rig.bench.chat("hello"))
        await happens(rig.bench, "wait")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert [event.outcome for event in rig.events("end")] == ["cancelled"]
        assert rig.model.requests == []


async def test_a_second_message_waits_for_the_end_of_the_first() -> None:
    answered = asyncio.Event()

    async def answer(*_: object) -> ToolResult:
        await answered.wait()
        return ToolResult("1")

    async with connected(calls(("calc__evaluate", {})), says("first"), says("second")) as rig:
        rig.servers["calc"].answer = answer
        first = asyncio.create_task(rig.bench.chat("a"))
        await happens(rig.bench, "call")
        second = asyncio.create_task(rig.bench.chat("b"))
        # Every task that can go on has gone on.
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(rig.events("user")) == 1
        answered.set()
        await asyncio.gather(first, second)
        kinds = [record.kind for record in rig.bench.records(("user", "end"))]
        assert kinds == ["user", "end", "user", "end"]


async def test_a_model_reads_the_result_of_a_task_as_that_of_any_call_and_its_states_are_events() -> None:
    steps = [calls(("calc__evaluate", {})), says("done")]
    async with connected(*steps) as rig:
        rig.servers["calc"].tasks = [TaskState("t1", "working"), TaskState("t1", "completed", polls=2)]
        await rig.bench.chat("Evaluate it.")
        assert rig.results == ["{}"]
        kinds = [one.kind for one in rig.bench.records(("call", "task", "result"))]
        assert kinds == ["call", "task", "task", "result"]
        assert [event.call_id for event in rig.events("task")] == [rig.events("call")[0].call_id] * 2
        assert not rig.bench.state.reports

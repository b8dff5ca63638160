"""A server goes away and comes back: what is held, what comes back, and what each departure is called."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.core.fold import fold
from inspector.core.ports import ApprovalRequest, Decision
from inspector.core.ranking import SearchRequest
from inspector.core.session import Binding
from inspector.core.tool import Tool
from tests.support.fakes import calls, says, searches
from tests.support.workbench import CITY, READS, Rig, connected, happens as until, names, opened

ID, WIRE = "weather:get_forecast", "weather__get_forecast"
FORECAST = Tool("weather", "get_forecast", "Forecast for a city.", CITY, READS)
ANEW = replace(FORECAST, description="Forecast for a city, for ten days.")
MOON = Tool("weather", "get_moon", "Phase of the moon.", annotations=READS)
CALL = calls((WIRE, {"city": "Oslo"}))


@asynccontextmanager
async def used(*then: Any, **options: Any) -> AsyncGenerator[Rig, None]:
    """A session in which the forecast was found and called once; `then` is what the model does later."""
    steps = (searches(tool_names=["get_forecast"]), CALL, says("Sunny."), *then)
    async with connected(*steps, **options) as rig:
        await rig.bench.chat("Forecast for Oslo?")
        yield rig
        assert fold(rig.bench.records()) == rig.bench.state


async def test_a_tool_whose_server_is_away_is_held_and_not_offered() -> None:
    async with used(says("Later.")) as rig:
        await rig.bench.stop("weather")
        held = rig.bench.state.held[ID]
        assert (held.binding, held.held_as) == (Binding.HELD, Binding.LOADED)
        assert ID not in rig.bench.state.tools
        await rig.bench.chat("And tomorrow?")
        assert WIRE not in names(rig.model.requests[-1])
        assert rig.bench.search(SearchRequest("forecast")).results == ()
        assert rig.events("evict") == []


@pytest.mark.parametrize("name", [WIRE, "get_forecast"])
async def test_a_call_of_a_held_tool_is_told_that_its_server_is_away(name: str) -> None:
    async with used(calls((name, {"city": "Oslo"})), says("Later.")) as rig:
        rig.servers["weather"].die("Killed by SIGKILL")
        await until(rig.bench, "catalog")
        await rig.bench.chat("Once more?")
        assert rig.results[-1] == (
            "Error: weather:get_forecast cannot be called now: the server weather is away (failed: Killed by "
            "SIGKILL). It can be called again, without a search, once its server is back. "
            "Use another tool, or answer without it."
        )
        assert [event.reason for event in rig.events("reject")] == ["server away"]


@pytest.mark.parametrize("asked", [{"server_name": "weather"}, {"tool_names": ["get_forecast"]}])
async def test_a_search_for_what_is_away_says_so(asked: Any) -> None:
    async with used(searches(**asked), says("Later.")) as rig:
        await rig.bench.stop("weather")
        await rig.bench.chat("Once more?")
        assert "the server weather is away (stopped)" in rig.results[-1]
        assert "Unknown" not in rig.results[-1]


async def test_a_server_that_comes_back_without_a_tool_evicts_it_as_gone() -> None:
    async with used() as rig:
        await rig.bench.stop("weather")
        rig.servers["weather"].tools = (MOON,)
        await rig.bench.reconnect("weather")
        (evicted,) = rig.events("evict")
        assert (evicted.tool, evicted.cause, evicted.reason) == (ID, "gone", "weather no longer lists it")
        assert rig.bench.state.held == {}


async def test_a_tool_that_comes_back_changed_is_evicted_where_the_model_only_read_of_it() -> None:
    async with used(values={"binding.delivery": "text"}) as rig:
        await rig.bench.stop("weather")
        rig.servers["weather"].tools = (ANEW,)
        await rig.bench.reconnect("weather")
        assert [(event.tool, event.cause) for event in rig.events("evict")] == [(ID, "changed")]
        assert rig.bench.state.tools[ID].binding is Binding.EVICTED


async def test_tools_that_come_back_share_the_room_by_their_last_use() -> None:
    async with used(says("Later."), values={"binding.capacity": 1}) as rig:
        await rig.bench.stop("weather")
        await rig.bench.chat("And now?")
        rig.bench.load("shop:list_orders")
        assert rig.loaded == ["shop:list_orders"]
        await rig.bench.reconnect("weather")
        assert rig.loaded == ["shop:list_orders"]
        assert [(event.tool, event.cause) for event in rig.events("evict")] == [(ID, "lru")]


async def test_a_definition_is_recorded_once_however_often_it_is_listed() -> None:
    async with connected() as rig:
        await rig.bench.reconnect("weather")
        await rig.bench.reconnect("weather")
        assert [len(event.definitions) for event in rig.events("ready") if event.server == "weather"] == [
            1,
            0,
            0,
        ]
        for tools in ((ANEW,), (FORECAST,)):
            rig.servers["weather"].change(tools)
            await until(rig.bench, "catalog")
        there, back = rig.events("tools")
        assert [one.tool for one in (*there.definitions, *back.definitions)] == [ANEW, None]
        assert rig.bench.state.recorded(ID) == FORECAST
        assert rig.bench.state.versions(ID) == (ANEW, FORECAST)


class Meanwhile:
    """Says yes once to every question; before the first answer, something happens."""

    def __init__(self, happens: Callable[[], Awaitable[None]]) -> None:
        self.asked: list[ApprovalRequest] = []
        self._happens = happens

    async def ask(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        if len(self.asked) == 1:
            await self._happens()
        return Decision.ONCE


@asynccontextmanager
async def asked_while(
    happens: Callable[[Rig], Awaitable[None]],
) -> AsyncGenerator[tuple[Rig, Meanwhile], None]:
    """A conversation whose call of a changing tool is asked about, while something happens."""
    steps = (searches(tool_names=["refund_order"]), calls(("shop__refund_order", {})), says("Done."))
    rigs: list[Rig] = []
    approver = Meanwhile(lambda: happens(rigs[0]))
    async with opened(*steps, approver=approver) as rig:
        rigs.append(rig)
        rig.bench.connect()
        await rig.bench.wait_connected()
        await rig.bench.chat("Refund it.")
        yield rig, approver


async def test_a_tool_that_changes_while_the_user_is_asked_asks_again_before_it_runs() -> None:
    async def happens(rig: Rig) -> None:
        orders, refund = rig.servers["shop"].tools
        rig.servers["shop"].change((orders, replace(refund, description="Refund everything.")))
        await until(rig.bench, "catalog")

    async with asked_while(happens) as (rig, approver):
        assert [[change.part for change in one.changes] for one in approver.asked] == [[], ["description"]]
        assert len(rig.servers["shop"].calls) == 1


async def test_a_tool_whose_server_leaves_while_the_user_is_asked_is_not_called() -> None:
    async with asked_while(lambda rig: rig.bench.stop("shop")) as (rig, approver):
        assert len(approver.asked) == 1
        assert "the server shop is away (stopped)" in rig.results[-1]
        assert rig.servers["shop"].calls == []


async def test_a_tool_that_a_request_went_without_comes_back_at_the_end() -> None:
    async with used(says("Later."), says("Again.")) as rig:
        rig.bench.load("shop:list_orders")
        await rig.bench.stop("weather")
        await rig.bench.chat("And now?")
        await rig.bench.reconnect("weather")
        assert names(rig.bench.next_request())[-2:] == ["shop__list_orders", WIRE]

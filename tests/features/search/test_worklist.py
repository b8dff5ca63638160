"""The worklist: requests that should find a tool, ranked again at each save of their server."""

from dataclasses import replace

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input

from inspector.app.place import SearchPage, WorklistPage
from inspector.core.error import ConnectError
from inspector.core.ranking import SearchRequest
from inspector.features.search import worklist as content
from inspector.features.search.page import SearchScreen
from inspector.features.search.worklist import WorkItem, Worklist
from tests.support.app import app_rig, arrives, goes, seen, toasts, until
from tests.support.fakes import calls, says, searches
from widgets import RecordList

LATE, FORECAST = SearchRequest("refund a late order"), SearchRequest("forecast for a city")
LISTS = "shop:list_orders"


def _requests(pilot: Pilot[None]) -> RecordList:
    return pilot.app.screen.query_one("#requests", RecordList)


def _cells(pilot: Pilot[None]) -> list[list[str]]:
    """Sign, tool, rank and change of each row."""
    rows = [[str(cell) for cell in record.cells] for record in _requests(pilot).records]
    return [[cells[0], *cells[2:]] for cells in rows]


async def _kept(pilot: Pilot[None], *wanted: tuple[SearchRequest, str]) -> None:
    await goes(pilot, "search")
    await arrives(pilot, SearchPage(wanted[0][0]))
    await arrives(pilot, WorklistPage(wanted))
    await until(
        pilot, lambda: len(_cells(pilot)) == len(wanted) and all(cells[2] != "–" for cells in _cells(pilot))
    )


async def test_a_keeps_the_request_in_sight_with_the_tool_it_should_find() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "search")
        await arrives(pilot, SearchPage(LATE))
        assert not _requests(pilot).region
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await pilot.press(*"list_orders", "enter")
        await until(pilot, lambda: _cells(pilot) == [["•", LISTS, "2", ""]])
        assert "Worklist: 0 of 1 first" in seen(pilot)
        await pilot.press("i", *" that is late", "enter")
        await until(pilot, lambda: _requests(pilot).display)
        await pilot.press("a", "a")
        await until(pilot, lambda: len(_cells(pilot)) == 2)


async def test_each_save_ranks_all_of_them_again_and_says_what_each_gained_or_lost() -> None:
    async with app_rig() as (pilot, rig):
        await _kept(pilot, (LATE, LISTS), (LATE, "shop:refund_order"), (FORECAST, "weather:get_forecast"))
        lists, refunds = rig.servers["shop"].tools
        better = replace(lists, description="Refund a late order. Refund orders that are late.")
        rig.servers["shop"].change([better, refunds])
        await until(pilot, lambda: [cells[3] for cells in _cells(pilot)] == ["▲ 1", "▼ 1", "="])
        assert [cells[0] for cells in _cells(pilot)] == ["✓", "•", "✓"]
        assert "saved: ▲ 1  ▼ 1  = 1" in seen(pilot)
        rig.servers["shop"].change([better, refunds, replace(refunds, name="void_order")])
        await until(pilot, lambda: [cells[3] for cells in _cells(pilot)] == ["=", "=", "="])


async def test_while_their_server_is_away_the_requests_wait_greyed_and_a_save_without_a_change_counts() -> (
    None
):
    async with app_rig() as (pilot, rig):
        await _kept(pilot, (LATE, LISTS), (FORECAST, "weather:get_forecast"))
        rig.servers["shop"].fault = ConnectError("The process ended with exit code 1")
        await rig.bench.reconnect("shop")
        await until(pilot, lambda: _cells(pilot)[0][2] == "‖")
        assert [record.tone for record in _requests(pilot).records] == ["muted", ""]
        rig.servers["shop"].fault = None
        await rig.bench.reconnect("shop")
        await until(pilot, lambda: _cells(pilot)[0] == ["•", LISTS, "2", "="])


async def test_enter_shows_a_kept_request_and_the_delete_key_takes_it_off() -> None:
    async with app_rig() as (pilot, _):
        await _kept(pilot, (LATE, LISTS), (FORECAST, "weather:get_forecast"))
        _requests(pilot).focus()
        await pilot.press("down", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, SearchScreen)
        await until(pilot, lambda: screen.request == FORECAST)
        assert (screen.own_tool, screen.tool_id) == ("weather:get_forecast", "weather:get_forecast")
        await until(pilot, lambda: "D remove" in seen(pilot))
        await pilot.press("D")
        assert [cells[1] for cells in _cells(pilot)] == [LISTS]
        await pilot.press("D")
        await until(pilot, lambda: not screen.query_one(Worklist).display)


async def test_capital_a_collects_the_searches_that_missed() -> None:
    steps = (
        searches(query="sums"),
        searches(query="forecast"),
        calls(("weather__get_forecast", {})),
        says("Sunny."),
    )
    async with app_rig(*steps, yes=True) as (pilot, rig):
        await goes(pilot, "search")
        await pilot.press("escape", "A")
        await until(pilot, lambda: "Every labelled request finds its tool" in toasts(pilot))
        await rig.bench.chat("What is the weather?")
        await pilot.press("A")
        await until(pilot, lambda: [cells[1] for cells in _cells(pilot)] == ["weather:get_forecast"])
        assert "“sums”" in seen(pilot)


@pytest.mark.parametrize(
    ("rank", "before", "text"), [(1, 4, "▲ 3"), (4, 1, "▼ 3"), (2, 2, "="), (2, 0, ""), (0, 2, "")]
)
def test_a_change_is_told_by_a_sign_and_a_number(rank: int, before: int, text: str) -> None:
    item = WorkItem(LATE, LISTS, rank, True, before)
    assert content.change(item).plain == text
    assert content.change(replace(item, is_away=True)) == Content()

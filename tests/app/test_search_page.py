"""The search screen, driven by keys."""

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from fixtures.hostile import HOSTILE, HUGE, hostile_tools
from inspector.adapters.memory.fakes import MemoryServer
from inspector.adapters.memory.vectors import MemoryEmbedder
from inspector.app.dialogs.tool_picker import ToolPicker
from inspector.app.pages.chat.session.screen import SessionScreen
from inspector.app.pages.find.compare.screen import CompareScreen
from inspector.app.pages.find.ranker_dialog import RankerDialog
from inspector.app.pages.find.search.content import FLOOR
from inspector.app.pages.find.search.screen import SearchScreen
from inspector.app.pages.find.steps.screen import StepsScreen
from inspector.app.pages.find.what_if.screen import WhatIfScreen
from inspector.app.pages.find.why_not.screen import WhyNotScreen
from inspector.app.pages.tools.catalog.screen import ToolsScreen
from inspector.app.pages.tools.confusable.screen import ConfusableScreen
from inspector.domain.ranking import SearchRequest
from inspector.domain.session import Binding
from inspector.domain.tool import Tool
from tests.support.app import app_rig, goes, said, seen, until
from tests.support.office import office
from tests.support.workbench import Rig
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines
from widgets import PlainInput, RecordList, RecordRows


async def _searched(pilot: Pilot[None], *words: str) -> RecordList:
    await goes(pilot, "search")
    await until(pilot, lambda: isinstance(pilot.app.focused, PlainInput))
    await pilot.press(*"_".join(words).replace("_", " "), "enter")
    await until(pilot, lambda: isinstance(pilot.app.focused, RecordRows))
    return pilot.app.screen.query_one(RecordList)


def _searches(rig: Rig) -> int:
    return len(rig.store.read("s", kinds=("search",)))


async def test_enter_searches_as_a_person_and_loads_nothing() -> None:
    async with app_rig() as (pilot, rig):
        found = await _searched(pilot, "refund", "late", "order")
        assert [record.key for record in found.shown] == [
            "shop:refund_order",
            "shop:list_orders",
            FLOOR,
            "weather:get_forecast",
            "calc:evaluate",
        ]
        assert _searches(rig) == 1
        assert rig.bench.state.load_order == ()
        screen = seen(pilot)
        assert "terms refund late order" in screen
        assert "2 of 4 tools" in screen
        assert "✓ adds up" in screen
        assert "not in this tool  late" in screen


async def test_typing_alone_searches_nothing() -> None:
    async with app_rig() as (pilot, rig):
        await goes(pilot, "search")
        await pilot.press(*"refund")
        assert "The tools appear here, ranked." in seen(pilot)
        assert _searches(rig) == 0


async def test_the_bill_follows_the_cursor() -> None:
    async with app_rig() as (pilot, _):
        await _searched(pilot, "refund", "order")
        assert "shop:refund_order" in seen(pilot).partition("Bill")[2]
        await pilot.press("end")
        await until(pilot, lambda: "This tool matches nothing in the query." in seen(pilot))
        await pilot.press("up", "up")
        await until(pilot, lambda: "Choose a tool to see how its score" in seen(pilot))
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, SearchScreen)


async def test_enter_opens_the_tool_and_esc_comes_back() -> None:
    async with app_rig() as (pilot, _):
        await _searched(pilot, "refund")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, ToolsScreen)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, SearchScreen)
        assert "shop:refund_order" in seen(pilot)


async def test_l_loads_the_tool_and_says_so() -> None:
    async with app_rig() as (pilot, rig):
        await _searched(pilot, "refund")
        await pilot.press("l")
        assert rig.bench.state.tools["shop:refund_order"].binding is Binding.LOADED
        await until(pilot, lambda: "● loaded" in seen(pilot))
        await pilot.press("l")
        assert rig.bench.state.load_order == ("shop:refund_order",)


async def test_the_list_filters_and_the_query_is_one_key_away() -> None:
    async with app_rig() as (pilot, _):
        found = await _searched(pilot, "refund", "order")
        await pilot.press("slash", *"weather", "enter")
        assert [record.key for record in found.shown] == ["weather:get_forecast"]
        await pilot.press("escape", "i")
        assert getattr(pilot.app.focused, "id", "") == "query"


async def test_names_and_servers_are_looked_up() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "search")
        await pilot.press("tab", "tab", *"get_forecast", "enter")
        await until(pilot, lambda: isinstance(pilot.app.focused, RecordRows))
        assert "Requested by name or server" in seen(pilot)


async def test_what_is_wrong_stands_on_the_screen() -> None:
    async with app_rig() as (pilot, _):
        for keys, says in (
            (("tab", *"shp", "enter"), "Unknown server 'shp'. Valid servers: shop, weather, calc."),
            (("tab", "tab", *"list_order", "enter"), "Unknown tool 'list_order'"),
            (("enter",), "Nothing to search for"),
        ):
            await goes(pilot, "search")
            await pilot.press(*keys)
            assert says in said(pilot, "#facts") or says in seen(pilot)


async def test_a_report_of_the_conversation_is_shown_without_searching_again() -> None:
    async with app_rig() as (pilot, rig):
        report = rig.bench.search(SearchRequest("forecast"))
        pilot.app.push_screen(SearchScreen(report=report))
        await until(pilot, lambda: isinstance(pilot.app.focused, RecordRows))
        assert _searches(rig) == 1
        assert pilot.app.screen.query_one("#query", PlainInput).value == "forecast"
        assert "weather:get_forecast" in seen(pilot).partition("Bill")[2]


async def test_a_tool_that_is_gone_is_told_of() -> None:
    async with app_rig() as (pilot, rig):
        await _searched(pilot, "refund")
        rig.bench.switch_toolset("sums")
        await pilot.press("enter", "l")
        assert isinstance(pilot.app.screen, SearchScreen)
        assert rig.bench.state.load_order == ()


async def test_a_search_that_fits_no_tool_says_so_and_shows_what_came_closest() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, _):
        found = await _searched(pilot, "zebra")
        assert "⚠ no tool fits (p .0" in seen(pilot)
        assert {row.tone for row in found.shown} == {"muted"}
        assert found.current == found.shown[0]
        assert "cosine  mean weight" in seen(pilot)


async def test_an_edit_at_the_server_shows_each_tools_rank_before_and_after() -> None:
    async with app_rig() as (pilot, rig):
        found = await _searched(pilot, "refund", "late", "order")
        assert [record.key for record in found.shown[:2]] == ["shop:refund_order", "shop:list_orders"]
        lists, refunds = rig.servers["shop"].tools
        better = replace(lists, description="Refund a late order. Refund orders that are late.")
        rig.servers["shop"].change([better, refunds])
        await until(pilot, lambda: found.shown[0].key == "shop:list_orders")
        assert str(found.shown[0].cells[-1]).startswith("was 2")
        assert str(found.shown[1].cells[-1]).startswith("was 1")


async def test_k_changes_the_ranker_of_the_session_and_searches_again() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, rig):
        await _searched(pilot, "refund", "order")
        await pilot.press("k")
        assert isinstance(pilot.app.screen, RankerDialog)
        assert "for the model's searches too" in seen(pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "ranker bm25" in said(pilot, "#facts"))
        assert rig.bench.retrieval.ranker_name == "bm25"
        assert _searches(rig) == 2
        await pilot.press("k", "escape")
        assert _searches(rig) == 2


PAGES = {
    "w": WhyNotScreen,
    "c": CompareScreen,
    "s": StepsScreen,
    "e": WhatIfScreen,
    "x": ConfusableScreen,
}


async def test_each_key_opens_its_page_and_esc_comes_back() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, _):
        await _searched(pilot, "refund", "order")
        for key, page in PAGES.items():
            await pilot.press(key)
            assert isinstance(pilot.app.screen, page)
            await pilot.press("escape")
            assert isinstance(pilot.app.screen, SearchScreen)
        assert pilot.app.screen.query_one("#query", PlainInput).value == "refund order"


async def test_w_asks_for_a_tool_where_none_is_under_the_cursor() -> None:
    async with app_rig() as (pilot, _):
        await _searched(pilot, "refund", "order")
        await pilot.press("end", "up", "up", "w")
        assert isinstance(pilot.app.screen, ToolPicker)
        await pilot.press(*"fore", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WhyNotScreen))
        await until(pilot, lambda: "✕ below floor" in seen(pilot))
        assert "weather:get_forecast" in seen(pilot)


async def test_a_page_about_a_query_wants_one_first() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "search")
        await pilot.press("tab", "tab", *"get_forecast", "enter")
        await until(pilot, lambda: isinstance(pilot.app.focused, RecordRows))
        await pilot.press("w", "c", "s")
        assert isinstance(pilot.app.screen, SearchScreen)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_bill_is_beside_the_list_or_below_it(size: tuple[int, int]) -> None:
    async with app_rig(size=size) as (pilot, _):
        await _searched(pilot, "refund")
        found, bill = pilot.app.screen.query_one("#found").region, pilot.app.screen.query_one("#bill").region
        assert (bill.y >= found.bottom) if size[0] < 100 else (bill.x >= found.right)


def _hostile_server() -> dict[str, MemoryServer]:
    tools = [
        Tool("bad", tool["name"], tool["description"], tool["inputSchema"])
        for tool in hostile_tools()
        if tool["name"].removeprefix("hostile_") not in HUGE
    ]
    named = [
        Tool("bad", text, "same words")
        for name, text in HOSTILE.items()
        if text.strip() and name not in HUGE | {"newlines", "lone_surrogate"}
    ]
    return {"bad": MemoryServer([*tools, *named])}


async def test_hostile_names_do_no_harm() -> None:
    async with app_rig(servers=_hostile_server(), size=(120, 40)) as (pilot, _):
        found = await _searched(pilot, "hostile", "same", "words")
        assert len(found.shown) > len(HOSTILE)
        # Each page is drawn, and the bill of its last tool; test_search_presenter draws every bill.
        for _ in range(len(found.shown) // 30 + 1):
            await pilot.press("pagedown")
            assert not dangerous("".join(lines(pilot.app)))


async def test_a_search_is_made_again_when_tools_come_and_when_they_are_embedded() -> None:
    async with app_rig(embedder=MemoryEmbedder(), settled=False) as (pilot, rig):
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionScreen))
        await goes(pilot, "search")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen))
        await until(pilot, lambda: isinstance(pilot.app.focused, PlainInput))
        await pilot.press(*"forecast", "enter")
        await until(pilot, lambda: "fit " in said(pilot, "#facts"))
        assert "words only" not in said(pilot, "#facts")
        found = pilot.app.screen.query_one(RecordList)
        assert found.shown[0].key == "weather:get_forecast"
        assert _searches(rig) == 1

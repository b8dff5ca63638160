"""The place Find, driven by keys: the query, the results, and the right half from key to key."""

import asyncio

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from inspector.app.draw.definition import DefinitionCard
from inspector.app.place import WhyNotPage
from inspector.core.error import ConnectError
from inspector.core.ranking import SearchRequest
from inspector.core.server import ServerPhase
from inspector.core.session import Binding, ServerState
from inspector.core.tool import Tool
from inspector.features.chat.page import SessionScreen
from inspector.features.search import results_pane as content
from inspector.features.search.edit_pane import EditPane
from inspector.features.search.page import SearchScreen
from inspector.features.search.rankers_pane import RankersPane
from inspector.features.search.score_text import DefinitionPane, ScorePane
from inspector.features.search.search_job import Pane, away_line, error_line
from inspector.features.search.why_not_pane import WhyNotPane
from inspector.search.answer.why_not import why_not
from tests.support.app import app_rig, arrives, goes, said, seen, until
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.support.workbench import Rig
from widgets import PlainInput, RecordList, RecordRows


async def _searched(pilot: Pilot[None], *words: str) -> RecordList:
    await goes(pilot, "search")
    await until(pilot, lambda: isinstance(pilot.app.focused, PlainInput))
    await pilot.press(*"_".join(words).replace("_", " "), "enter")
    await until(pilot, lambda: isinstance(pilot.app.focused, RecordRows))
    return pilot.app.screen.query_one("#found", RecordList)


def _pane(pilot: Pilot[None]) -> type[Pane]:
    """The part of the right half that is in sight."""
    (pane,) = (pane for pane in pilot.app.screen.query(Pane) if pane.region)
    return type(pane)


def _searches(rig: Rig) -> int:
    return len(rig.store.read("s", kinds=("search",)))


def _binding(rig: Rig) -> Binding:
    return rig.bench.state.tools["shop:refund_order"].binding


async def test_enter_searches_as_a_person_and_loads_nothing() -> None:
    async with app_rig() as (pilot, rig):
        found = await _searched(pilot, "refund", "late", "order")
        assert [record.key for record in found.shown] == [
            "shop:refund_order",
            "shop:list_orders",
            content.LINE,
            "weather:get_forecast",
            "calc:evaluate",
        ]
        assert _searches(rig) == 1
        assert rig.bench.state.load_order == ()
        screen = seen(pilot)
        assert "words refund late order" in screen
        assert "2 of 4 tools" in screen
        assert "✓ adds up" not in screen
        await pilot.press("s")
        screen = seen(pilot)
        assert "✓ adds up" in screen
        assert "not in this tool  late" in screen


async def test_the_footer_says_how_to_leave_the_field_and_how_to_clear_a_filter() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "search")
        await until(pilot, lambda: "esc leave field" in seen(pilot))
        await _searched(pilot, "refund")
        assert "esc leave field" not in seen(pilot)
        await pilot.press("slash", "x")
        await until(pilot, lambda: "esc clear filter" in seen(pilot))


async def test_no_name_is_cut_where_the_parts_beside_the_list_can_give_way() -> None:
    long = MemoryServer(
        [Tool("chrome-devtools", f"performance_start_trace_{n}", "Refund.") for n in range(3)]
    )
    async with app_rig(servers={"chrome-devtools": long}) as (pilot, _):
        found = await _searched(pilot, "refund")
        for key, pane in (("f", DefinitionPane), ("s", ScorePane)):
            await pilot.press(key)
            await until(pilot, lambda pane=pane: _pane(pilot) is pane)  # type: ignore[misc]
            assert seen(pilot).count("chrome-devtools:performance_start_trace_") >= 3
        await pilot.resize_terminal(200, 40)
        await until(pilot, lambda: len([one for one in pilot.app.screen.query(Pane) if one.region]) == 2)
        assert found.size.width < 90


async def test_on_a_small_terminal_the_definition_takes_the_place_of_the_list_until_esc() -> None:
    async with app_rig(size=(80, 24)) as (pilot, _):
        found = await _searched(pilot, "refund")
        await pilot.press("f")
        await until(pilot, lambda: _pane(pilot) is DefinitionPane and not found.region)
        await until(pilot, lambda: isinstance(pilot.app.focused, DefinitionCard))
        assert getattr(pilot.app.screen, "tool_id", "") == "shop:refund_order"
        await pilot.press("escape")
        await until(pilot, lambda: bool(found.region) and found.has_focus_within)


async def test_l_loads_the_tool_and_unloads_it_again() -> None:
    async with app_rig() as (pilot, rig):
        await _searched(pilot, "refund")
        await pilot.press("l")
        assert _binding(rig) is Binding.LOADED
        await until(pilot, lambda: "● loaded" in seen(pilot))
        await pilot.press("l")
        assert _binding(rig) is Binding.EVICTED
        await until(pilot, lambda: "● loaded" not in seen(pilot))


async def test_an_edit_at_the_server_shows_each_tools_rank_before_and_after() -> None:
    async with app_rig() as (pilot, rig):
        found = await _searched(pilot, "refund", "late", "order")
        assert [record.key for record in found.shown[:2]] == ["shop:refund_order", "shop:list_orders"]
        lists, refunds = rig.servers["shop"].tools
        better = replace(lists, description="Refund a late order. Refund orders that are late.")
        rig.servers["shop"].change([better, refunds])
        await until(pilot, lambda: found.shown[0].key == "shop:list_orders")
        assert [str(row.cells[2]).rpartition(" was ")[2] for row in found.shown[:2]] == ["2", "1"]


TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop.py", line 7
    def refund(
SyntaxError: '(' was never closed
"""


async def test_while_a_server_restarts_its_tools_stay_greyed_until_it_is_back() -> None:
    async with app_rig() as (pilot, rig):
        found, shop = await _searched(pilot, "refund", "late", "order"), rig.servers["shop"]
        await pilot.press("w")
        await until(pilot, lambda: "tried" in seen(pilot))
        order, explained = [record.key for record in found.shown], said(pilot, "#verdict")
        shop.hangs = True
        starts = asyncio.create_task(rig.bench.reconnect("shop"))
        await until(pilot, lambda: "shop is restarting" in said(pilot, "#facts"))
        assert [record.key for record in found.shown] == order
        first = found.shown[0]
        assert (first.key, first.tone, str(first.cells[2])) == ("shop:refund_order", "muted", "‖ restarting")
        assert found.shown[-1].tone == "muted"
        assert "‖" not in str(found.shown[-1].cells[2])
        assert said(pilot, "#verdict") == explained
        shop.hangs = False
        await rig.bench.reconnect("shop")
        await starts
        await until(pilot, lambda: found.shown[0].tone != "muted")
        assert "restarting" not in seen(pilot)


async def test_a_server_that_does_not_come_back_keeps_the_old_list_and_says_why() -> None:
    async with app_rig() as (pilot, rig):
        found, shop = await _searched(pilot, "refund", "late", "order"), rig.servers["shop"]
        shop.fault = ConnectError("The process ended with exit code 1", stderr_tail=TRACEBACK)
        await rig.bench.reconnect("shop")
        await until(pilot, lambda: "failed" in said(pilot, "#facts"))
        told = said(pilot, "#facts")
        assert "shop failed: SyntaxError: '(' was never closed (shop.py, line 7)" in told
        assert "Its tools are shown as before. Save a fix" in told
        assert str(found.shown[0].cells[2]) == "‖ failed"
        lists, refunds = shop.tools
        shop.tools = (
            replace(lists, description="Refund a late order. Refund orders that are late."),
            refunds,
        )
        shop.fault = None
        await rig.bench.reconnect("shop")
        await until(pilot, lambda: found.shown[0].key == "shop:list_orders")
        assert str(found.shown[0].cells[2]).endswith("was 2")


def test_a_server_that_never_listed_a_tool_is_not_said_to_show_any() -> None:
    told = away_line(ServerState("shop", ServerPhase.FAILED, reason="no answer"), "", is_shown=False).plain
    assert "no answer" in told
    assert "as before" not in told


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        (TRACEBACK, "SyntaxError: '(' was never closed (shop.py, line 7)"),
        ("TypeError: x is not a function\n    at run\n\nNode.js v20", "TypeError: x is not a function"),
        ("listening", ""),
    ],
)
def test_the_error_that_ended_a_program_is_one_line(stderr: str, line: str) -> None:
    assert error_line(stderr) == line


PANES = {"w": WhyNotPane, "c": RankersPane, "e": EditPane, "s": ScorePane}


async def test_each_key_shows_its_pane_and_esc_goes_to_the_list_and_nothing_is_lost() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder(), size=(80, 24)) as (pilot, rig):
        found = await _searched(pilot, "refund", "order")
        found.move_to("shop:cancel_order")
        before = found.current
        for key, pane in PANES.items():
            await pilot.press(key)
            await until(pilot, lambda pane=pane: _pane(pilot) is pane)  # type: ignore[misc]
            await until(pilot, lambda: pilot.app.focused is not None)
            if not found.has_focus_within:
                await pilot.press("escape")
            await until(pilot, lambda: found.has_focus_within)
            assert isinstance(pilot.app.screen, SearchScreen)
            assert found.current == before or found.current.copy == before.copy  # type: ignore[union-attr]
        assert pilot.app.screen.query_one("#query", PlainInput).value == "refund order"
        assert _searches(rig) == 1


async def test_an_own_tool_below_all_that_a_report_holds_is_found_at_its_rank() -> None:
    many = [Tool("big", f"tool_{number:03}", f"Does thing number {number}.") for number in range(230)]
    async with app_rig(servers={"big": MemoryServer(many)}, size=(80, 24)) as (pilot, rig):
        await arrives(pilot, WhyNotPage("big:tool_229", SearchRequest("thing 1")))
        await until(pilot, lambda: " of 230  big:tool_229" in said(pilot, "#own"))
        rank = why_not(
            rig.bench.retrieval.rankers,
            "hybrid",
            SearchRequest("thing 1"),
            "big:tool_229",
            rig.bench.retrieval.rules,
        ).standing.rank
        assert rank > 200
        assert said(pilot, "#own").startswith(f"▸ {rank} of 230")
        found = pilot.app.screen.query_one("#found", RecordList)
        keys = [record.key for record in found.records]
        assert keys[keys.index("big:tool_229") - 1].startswith(content.GAP)


async def test_a_search_is_made_again_when_tools_come_and_when_they_are_embedded() -> None:
    async with app_rig(embedder=MemoryEmbedder(), settled=False) as (pilot, rig):
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionScreen))
        await goes(pilot, "search")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen))
        await until(pilot, lambda: isinstance(pilot.app.focused, PlainInput))
        await pilot.press(*"forecast", "enter")
        await until(pilot, lambda: "confidence " in said(pilot, "#facts"))
        assert "words alone" not in said(pilot, "#facts")
        found = pilot.app.screen.query_one("#found", RecordList)
        assert found.shown[0].key == "weather:get_forecast"
        assert _searches(rig) == 1

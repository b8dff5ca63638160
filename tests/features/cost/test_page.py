"""The budget page, driven by keys."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspector.core.budget import Prices
from inspector.core.session import Binding
from inspector.features.cost.page import BudgetScreen
from tests.features.skills.test_command import write
from tests.support.app import app_rig, goes, is_up_to_date, seen, toasts, until
from tests.support.fakes import calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import Rig
from widgets import RecordList, RecordRows

FORECAST = (searches(query="forecast for a city"), calls(("weather__get_forecast", {"city": "Oslo"})))
PRICES = (Prices("told", 1e-6, 4e-6, 1e-7, source="a list", date="2026-01-05"), Prices("dear", 1e-3, 1e-3))


async def sees(pilot: Pilot[None], *words: str) -> None:
    await until(pilot, lambda: all(word in seen(pilot) for word in words))


async def tells(pilot: Pilot[None], *words: str) -> None:
    await until(pilot, lambda: all(word in toasts(pilot) for word in words))


async def budget_page(pilot: Pilot[None]) -> RecordList:
    """The page with its table, the cursor on the first row."""
    await goes(pilot, "budget")
    await until(pilot, lambda: isinstance(pilot.app.screen, BudgetScreen))
    table = pilot.app.screen.query_one("#budget-table", RecordList)
    await until(pilot, lambda: bool(table.records) and isinstance(pilot.app.focused, RecordRows))
    await pilot.press("home")
    return table


async def with_a_call(pilot: Pilot[None], rig: Rig) -> None:
    await rig.bench.chat("weather in Oslo")
    await until(pilot, lambda: is_up_to_date(pilot, rig))


def state_of(pilot: Pilot[None], key: str) -> str:
    table = pilot.app.screen.query_one("#budget-table", RecordList)
    return next(str(record.cells[4]) for record in table.records if record.key == key)


async def test_without_tools_each_view_says_how_to_get_some() -> None:
    async with app_rig(servers={"empty": MemoryServer([])}) as (pilot, _):
        await goes(pilot, "budget")
        await sees(pilot, "No tools yet: no server is ready (see Tools).")
        await goes(pilot, "ways")
        await sees(pilot, "No tools to load yet")


async def test_on_a_wide_terminal_the_definition_stands_beside_what_it_costs() -> None:
    async with app_rig(size=(200, 40)) as (pilot, _):
        await goes(pilot, "budget")
        table = pilot.app.screen.query_one("#budget-table", RecordList)
        table.move_to("weather:get_forecast")
        await until(pilot, lambda: "Forecast for a city." in seen(pilot) and "city *  string" in seen(pilot))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "Forecast for a city." not in seen(pilot))


async def test_a_server_is_tried_and_forgotten_and_only_its_file_can_change_it() -> None:
    async with app_rig(prices=PRICES) as (pilot, rig):
        before = rig.bench.settings
        await budget_page(pilot)
        await pilot.press("d")
        await sees(pilot, "What if shop bound", "first call", "→", "a applies")
        assert state_of(pilot, "server shop") == "→ bound"
        assert state_of(pilot, "shop:refund_order") == "→ pinned"
        assert rig.bench.state.tools["shop:refund_order"].binding is Binding.DEFERRED
        await pilot.press("0")
        await sees(pilot, "What if?  d defers")
        assert state_of(pilot, "server shop") == "deferred"
        await pilot.press("d", "a")
        await tells(pilot, "For the configuration file", 'for the server shop: "defer_loading": false')
        assert rig.bench.settings == before


async def test_a_tool_is_pinned_for_the_session() -> None:
    async with app_rig() as (pilot, rig):
        table = await budget_page(pilot)
        await pilot.press("P")
        await tells(pilot, "P pins a tool")
        assert table.move_to("weather:get_forecast")
        await pilot.press("P")
        await sees(pilot, "What if weather:", "pinned")
        assert state_of(pilot, "server weather") == "→ bound"
        await pilot.press("a")
        await tells(pilot, "Applied")
        assert rig.bench.settings.binding.always_include == ("weather:get_forecast",)
        await until(pilot, lambda: state_of(pilot, "weather:get_forecast") == "pinned")


@pytest.mark.slow
async def test_the_ways_are_compared_over_an_assumed_session_until_there_are_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / ".claude/skills", "deploy")
    async with app_rig(*FORECAST, says("Rain."), prices=PRICES) as (pilot, rig):
        await budget_page(pilot)
        await goes(pilot, "ways")
        table = pilot.app.screen.query_one("#ways-table", RecordList)
        await until(pilot, lambda: len(table.records) == 6)
        await sees(pilot, "over an assumed session", "append (in use)", "(claude-code) to ")
        await with_a_call(pilot, rig)
        await sees(pilot, "over this session's calls")
        await pilot.press("home")
        await sees(pilot, "static: every tool in every call")

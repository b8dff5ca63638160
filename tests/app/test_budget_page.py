"""The budget page, driven by keys."""

from collections.abc import Callable
from threading import Event

import pytest
from textual.pilot import Pilot

from fixtures.hostile import HOSTILE
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.dialogs.detail import DetailScreen
from inspector.app.pages.cost import budget as budget_trial
from inspector.app.pages.cost.budget import BudgetScreen
from inspector.app.pages.cost.now import NowView
from inspector.app.pages.tools.catalog import ToolsScreen
from inspector.core.budget import Prices
from inspector.core.session import Binding
from inspector.core.tool import Tool
from tests.support.app import app_rig, goes, is_up_to_date, seen, until
from tests.support.memory_servers import MemoryServer
from tests.support.told_model import calls, says, searches
from tests.support.workbench import Rig
from tests.widgets.hostile import dangerous
from widgets import RecordList, RecordRows

FORECAST = (searches(query="forecast for a city"), calls(("weather__get_forecast", {"city": "Oslo"})))
PRICES = (Prices("told", 1e-6, 4e-6, 1e-7, source="a list", date="2026-01-05"), Prices("dear", 1e-3, 1e-3))


async def sees(pilot: Pilot[None], *words: str) -> None:
    await until(pilot, lambda: all(word in seen(pilot) for word in words))


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


async def tells(pilot: Pilot[None], *words: str) -> None:
    """Wait until a notification says all of it."""
    await until(
        pilot,
        lambda: any(
            all(word in f"{told.title} {told.message}" for word in words) for told in pilot.app._notifications
        ),
    )


def state_of(pilot: Pilot[None], key: str) -> str:
    table = pilot.app.screen.query_one("#budget-table", RecordList)
    return next(str(record.cells[4]) for record in table.records if record.key == key)


async def test_the_first_line_is_what_the_servers_cost_and_what_discovery_saves() -> None:
    async with app_rig(prices=PRICES) as (pilot, rig):
        await budget_page(pilot)
        assert rig.bench.state.budget is not None
        await sees(pilot, "3 servers, 4 tools: binding them all costs", "with searches")


async def test_before_any_call_the_page_says_how_to_get_a_plot() -> None:
    async with app_rig() as (pilot, _):
        await budget_page(pilot)
        await sees(pilot, "No model calls yet")
        await goes(pilot, "calls")
        await sees(pilot, "Send a message in Chat")


async def test_without_tools_the_page_sends_one_to_the_servers() -> None:
    async with app_rig(servers={"empty": MemoryServer([])}) as (pilot, _):
        await goes(pilot, "budget")
        await sees(pilot, "No tools yet: no server is ready (see Tools).")


async def test_enter_closes_and_opens_a_server_and_opens_a_tool() -> None:
    async with app_rig() as (pilot, _):
        table = await budget_page(pilot)
        assert len(table.records) == 7
        await pilot.press("enter")
        await until(pilot, lambda: len(table.records) < 7)
        await pilot.press("enter")
        await until(pilot, lambda: len(table.records) == 7)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ToolsScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, BudgetScreen))


async def test_many_tools_start_closed_and_o_opens_and_closes_all() -> None:
    many = {"big": MemoryServer([Tool("big", f"tool_{number}") for number in range(20)])}
    async with app_rig(servers=many, size=(120, 32)) as (pilot, _):
        table = await budget_page(pilot)
        assert [record.key for record in table.records] == ["server big"]
        await pilot.press("o")
        await until(pilot, lambda: len(table.records) == 21)
        await pilot.press("o")
        await until(pilot, lambda: len(table.records) == 1)


async def test_a_filter_finds_tools_of_closed_servers() -> None:
    many = {"big": MemoryServer([Tool("big", f"tool_{number}") for number in range(20)])}
    async with app_rig(servers=many) as (pilot, _):
        table = await budget_page(pilot)
        await pilot.press("slash", *"tool_17", "enter")
        await until(pilot, lambda: [record.key for record in table.shown] == ["big:tool_17"])


async def test_d_tries_a_server_and_0_forgets_it() -> None:
    async with app_rig(prices=PRICES) as (pilot, rig):
        await budget_page(pilot)
        await pilot.press("d")
        await sees(pilot, "What if shop bound", "first call", "→", "a applies")
        assert state_of(pilot, "server shop") == "→ bound"
        assert state_of(pilot, "shop:refund_order") == "→ pinned"
        assert rig.bench.state.tools["shop:refund_order"].binding is Binding.DEFERRED
        await pilot.press("0")
        await sees(pilot, "What if?  d defers")
        assert state_of(pilot, "server shop") == "deferred"


async def test_p_tries_a_tool_and_says_what_it_is_for_on_a_server() -> None:
    async with app_rig() as (pilot, _):
        await budget_page(pilot)
        await pilot.press("P")
        await tells(pilot, "P pins a tool")
        await pilot.press("down", "P")
        await sees(pilot, "What if shop:", "pinned")
        assert state_of(pilot, "server shop") == "→ 1 pinned"


async def test_a_pins_the_tool_in_the_session() -> None:
    async with app_rig() as (pilot, rig):
        table = await budget_page(pilot)
        assert table.move_to("weather:get_forecast")
        await pilot.press("P", "a")
        await tells(pilot, "Applied")
        assert rig.bench.settings.binding.always_include == ("weather:get_forecast",)
        await until(pilot, lambda: state_of(pilot, "weather:get_forecast") == "pinned")


async def test_a_server_that_only_the_file_can_defer_is_told_as_a_line_for_it() -> None:
    async with app_rig() as (pilot, rig):
        before = rig.bench.settings
        await budget_page(pilot)
        await pilot.press("d", "a")
        await tells(pilot, "For the configuration file", 'for the server shop: "defer_loading": false')
        assert rig.bench.settings == before


async def test_deferring_the_last_bound_server_is_a_setting() -> None:
    async with app_rig() as (pilot, rig):
        table = await budget_page(pilot)
        table.move_to("server calc")
        await pilot.press("d", "a")
        await until(pilot, lambda: rig.bench.settings.discovery.defer_all)
        await until(pilot, lambda: state_of(pilot, "server calc") == "deferred")


async def test_t_tries_a_toolset_and_a_takes_it() -> None:
    async with app_rig() as (pilot, rig):
        await budget_page(pilot)
        await pilot.press("u")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        await pilot.press("end", "enter")
        await sees(pilot, "What if toolset sums", "static")
        assert state_of(pilot, "server shop") == "→ hidden"
        assert rig.bench.state.toolset == ""
        await pilot.press("a")
        await until(pilot, lambda: rig.bench.state.toolset == "sums")


async def test_m_tries_a_model_with_its_prices_and_a_takes_it() -> None:
    async with app_rig(prices=PRICES) as (pilot, rig):
        await budget_page(pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        await pilot.press(*"dear", "enter")
        await sees(pilot, "What if model dear", "session with searches")
        switched: list[str] = []
        rig.bench.switch_model = switched.append  # type: ignore[method-assign, assignment]
        await pilot.press("a")
        assert switched == ["dear"]


async def test_choosing_the_sessions_own_model_tries_nothing() -> None:
    async with app_rig() as (pilot, _):
        await budget_page(pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        await pilot.press("down", "enter")
        await sees(pilot, "What if?  d defers")


async def test_the_calls_have_a_row_each_and_enter_opens_one() -> None:
    async with app_rig(*FORECAST, says("Rain."), prices=PRICES) as (pilot, rig):
        await with_a_call(pilot, rig)
        await budget_page(pilot)
        await goes(pilot, "calls")
        table = pilot.app.screen.query_one("#calls-table", RecordList)
        await until(pilot, lambda: [record.key for record in table.records] == ["3", "2", "1"])
        await sees(
            pilot,
            "session $",
            "from the cache",
            "priced told: $1.00 in, $4.00 out per 1M",
            "a list 2026-01-05",
        )
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DetailScreen))
        await sees(pilot, "Model call 3", "of them for tools")


async def test_the_ways_are_compared_over_an_assumed_session_before_any_call() -> None:
    async with app_rig(prices=PRICES) as (pilot, _):
        await budget_page(pilot)
        await goes(pilot, "ways")
        table = pilot.app.screen.query_one("#ways-table", RecordList)
        await until(pilot, lambda: len(table.records) == 5)
        await sees(pilot, "over an assumed session", "prompt cache the model's own", "append (in use)")
        await pilot.press("b")
        await tells(pilot, "No model calls yet")
        await pilot.press("c")
        await sees(pilot, "prompt cache Anthropic, 5 minutes")
        await pilot.press("home")
        await sees(pilot, "static: every tool in every call")


async def test_the_ways_are_compared_over_the_calls_and_s_assumes_a_session() -> None:
    async with app_rig(*FORECAST, says("Rain."), prices=PRICES) as (pilot, rig):
        await with_a_call(pilot, rig)
        await budget_page(pilot)
        await goes(pilot, "ways")
        await sees(pilot, "over this session's calls")
        await pilot.press("b")
        await sees(pilot, "over an assumed session")
        await pilot.press("b")
        await sees(pilot, "over this session's calls")


async def test_without_tools_there_is_no_way_to_compare() -> None:
    async with app_rig(servers={"empty": MemoryServer([])}) as (pilot, _):
        await goes(pilot, "budget")
        await goes(pilot, "ways")
        await sees(pilot, "No tools to load yet")


async def test_esc_stops_counting_for_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    go = Event()

    def slowly(_meter: object, _tools: object, _progress: object, stopped: Callable[[], bool]) -> bool:
        go.wait(20)
        return not stopped()

    monkeypatch.setattr(budget_trial, "count_definitions", slowly)
    async with app_rig(prices=PRICES) as (pilot, _):
        await budget_page(pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        await pilot.press(*"dear", "enter")
        await sees(pilot, "counting for dear: 0 of 4 tools", "esc stops")
        await pilot.press("escape")
        await sees(pilot, "What if?  d defers")
        go.set()
        await pilot.pause()
        assert isinstance(pilot.app.screen, BudgetScreen)
        assert "model dear" not in seen(pilot)


async def test_what_is_tried_stays_on_the_page_and_changes_nothing() -> None:
    async with app_rig() as (pilot, rig):
        before = rig.bench.settings
        await budget_page(pilot)
        await pilot.press("d")
        await until(pilot, lambda: pilot.app.screen.query_one(NowView).has_class("-trying"))
        await pilot.press("5", "4")
        await until(pilot, lambda: isinstance(pilot.app.screen, BudgetScreen))
        assert pilot.app.screen.query_one(NowView).has_class("-trying")
        assert rig.bench.settings == before


async def test_a_replay_has_nothing_to_try() -> None:
    async with app_rig(*FORECAST, says("Rain.")) as (pilot, rig):
        await with_a_call(pilot, rig)
        await goes(pilot, "timeline")
        await pilot.press("home", "enter")
        await until(pilot, lambda: pilot.app.replay.is_replay)  # type: ignore[attr-defined]
        await budget_page(pilot)
        await pilot.press("d")
        await tells(pilot, "A replay is read-only.")
        await goes(pilot, "ways")
        await sees(pilot, "over this session's calls", "append (in use)")


@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
async def test_hostile_tools_draw_nothing_dangerous(size: tuple[int, int]) -> None:
    tools = [Tool("shop", f"{text[:200]}", text[:2000]) for text in HOSTILE.values()]
    unique = list({tool.id: tool for tool in tools}.values())
    async with app_rig(servers={"shop": MemoryServer(unique)}, size=size) as (pilot, _):
        await budget_page(pilot)
        await pilot.press("o", "down", "P", "d")
        await until(pilot, lambda: pilot.app.screen.query_one(NowView).has_class("-trying"))
        assert not dangerous(seen(pilot).replace("\n", ""))

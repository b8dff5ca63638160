"""The list of servers and tools, and the detail beside it or in its place."""

import json
from pathlib import Path

import pytest

from inspector.core.events import InstallFailed, ServerRemoved
from inspector.core.ranking import SearchRequest
from inspector.core.server import ServerPhase
from inspector.core.session import Binding, ServerState, SessionState, ToolState
from inspector.core.tool import Catalog, Tool, definition
from inspector.features.tools.catalog_rows import CatalogRows
from inspector.features.tools.page import ToolsScreen
from inspector.search.index.vocabulary import Tags
from tests.support.app import seen, until
from tests.support.tools_page import (
    FORECAST,
    IN_TURNS,
    crossed,
    names,
    rows,
    says,
    shown,
    strip,
    tools_page,
)
from tests.support.workbench import shop_and_weather
from widgets import PlainInput

EVERYTHING = ["shop", "shop:list_orders", "shop:refund_order", "weather", FORECAST, "calc", "calc:evaluate"]


async def test_the_detail_of_a_server_that_is_removed_while_it_is_read_takes_further_events() -> None:
    async with tools_page("shop") as (pilot, rig):
        rig.bench._session.emit(ServerRemoved("shop"))
        for number in range(3):
            rig.bench._session.emit(InstallFailed("one", str(number), "no reason"))
            await pilot.pause(0.2)
        assert "shop" not in rig.bench.state.servers
        assert pilot.app.is_running


async def test_arrows_and_clicks_change_the_view_and_each_kind_of_row_keeps_its_own() -> None:
    async with tools_page() as (pilot, _):
        await until(pilot, lambda: shown(pilot) == "shop")
        await pilot.press("right")
        assert strip(pilot).current == "doctor"
        await pilot.press("down")
        await until(pilot, lambda: shown(pilot) == "shop:list_orders")
        line, text = next(pair for pair in enumerate(seen(pilot).splitlines()) if "JSON" in pair[1])
        await pilot.click(offset=(text.index("JSON") + 1, line))
        await until(pilot, lambda: strip(pilot).current == "JSON")
        rows(pilot).focus()
        await pilot.press("up")
        await until(pilot, lambda: shown(pilot) == "shop")
        assert strip(pilot).current == "doctor"


async def test_a_letter_opens_a_view_and_goes_into_it_and_wire_does_from_a_tool_too() -> None:
    servers = shop_and_weather()
    crossed(servers["shop"], '{"method":"tools/list"}')
    async with tools_page(servers=servers) as (pilot, _):
        await until(pilot, lambda: shown(pilot) == "shop")
        for letter, view in (("e", "stderr"), ("l", "log"), ("w", "wire"), ("a", "about")):
            await pilot.press(letter)
            assert strip(pilot).current == view
            assert not rows(pilot).rows.has_focus
        await pilot.press("escape", "down", "J")
        await until(pilot, lambda: strip(pilot).current == "JSON")
        await pilot.press("escape", "W")
        await until(pilot, lambda: shown(pilot) == "shop")
        await says(pilot, "1 message")
        await pilot.press("slash", *"nothing")
        await says(pilot, "Nothing matches")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: shown(pilot) == "shop:list_orders")
        await pilot.press("w")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ToolsScreen))


async def test_one_page_has_schema_cost_requests_calls_and_clients_of_a_tool() -> None:
    async with tools_page(size=(200, 60)) as (pilot, rig):
        await rig.bench.call(FORECAST, {"city": "Oslo"})
        rig.bench.search(SearchRequest("forecast for a city"))
        await pilot.press(*["down"] * EVERYTHING.index(FORECAST))
        for text in (
            "city *  string",
            "192 tokens (name 21 + text 20 + schema 77)",
            "1. forecast for a city",
            "city=Oslo",
        ):
            await says(pilot, text)
        await says(pilot, "✓ whole")
        assert rows(pilot).rows.has_focus


async def test_a_filter_finds_descriptions_also_in_folded_servers_and_shows_the_server_above() -> None:
    async with tools_page() as (pilot, _):
        await pilot.press("down", "down", "down", "space", "slash", *"forecast city")
        assert names(pilot) == ["weather", FORECAST]
        await pilot.press("escape")
        assert FORECAST not in names(pilot)


@pytest.mark.parametrize("at", ["shop", FORECAST])
async def test_on_a_small_terminal_enter_opens_the_detail_and_esc_goes_back_to_the_list(at: str) -> None:
    async with tools_page(size=IN_TURNS) as (pilot, _):
        await pilot.press(*["down"] * EVERYTHING.index(at))
        assert not pilot.app.screen.query_one("#detail").region
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query_one("#detail").region.width == IN_TURNS[0])
        assert not rows(pilot).region
        assert shown(pilot) == at
        await pilot.press("escape")
        await until(pilot, lambda: rows(pilot).region.width == IN_TURNS[0])
        assert rows(pilot).rows.has_focus
        assert isinstance(pilot.app.screen, ToolsScreen)


@pytest.mark.parametrize(
    ("at", "name", "what"),
    [
        ("weather", "weather-wire.jsonl", "the wire log (1 message)"),
        (FORECAST, "weather-get_forecast.json", "the tool's definition"),
    ],
)
async def test_x_writes_the_wire_log_or_the_definition_to_a_file(
    tmp_path: Path, at: str, name: str, what: str
) -> None:
    servers = shop_and_weather()
    crossed(servers["weather"], '{"method":"tools/list","password":"s3cret-s3cret"}')
    async with tools_page(at, servers=servers) as (pilot, rig):
        await pilot.press("x")
        await says(pilot, what)
        path = pilot.app.screen.query_one(PlainInput)
        assert Path(path.value).name == name
        path.value = str(tmp_path / name)
        await pilot.press("enter")
        await until(pilot, (tmp_path / name).exists)
        written = json.loads((tmp_path / name).read_text())
        if at == FORECAST:
            assert written == definition(rig.bench.catalog.require(FORECAST))
        else:
            assert (written["sent"], written["what"]) == (True, "tools/list")
            assert json.loads(written["text"]) == {"method": "tools/list", "password": "[redacted]"}


def _large(tools: int) -> tuple[SessionState, Catalog]:
    catalog = Catalog(tuple(Tool("big", f"tool_{n}", f"Does thing {n}. At length.") for n in range(tools)))
    states = {tool.id: ToolState(tool.id, 100, Binding.DEFERRED) for tool in catalog.tools}
    servers = {"big": ServerState("big", ServerPhase.READY, tools=tools)}
    return SessionState(servers=servers, tools=states), catalog


def test_rows_are_made_once_and_then_only_those_that_changed() -> None:
    state, catalog = _large(1_000)
    made = CatalogRows()
    assert made.update(state, catalog)
    before = made.shown()
    assert not made.update(state, catalog)
    loaded = ToolState("big:tool_7", 100, Binding.LOADED)
    changed = SessionState(servers=state.servers, tools={**state.tools, loaded.id: loaded})
    assert made.update(changed, catalog)
    differ = [old.key for old, new in zip(before, made.shown(), strict=True) if old is not new]
    assert differ == ["big:tool_7"]


def test_a_filter_by_tag_finds_the_tools_that_have_it_also_after_the_tags_have_changed() -> None:
    state, catalog = _large(3)
    made = CatalogRows()
    made.update(state, catalog, Tags(by_tool={"big:tool_1": ("money",)}))
    assert [row.key for row in made.shown() if "#money" in row.search] == ["big:tool_1"]
    assert made.update(state, catalog, Tags(by_tool={"big:tool_2": ("money",)}))
    assert [row.key for row in made.shown() if "#money" in row.search] == ["big:tool_2"]

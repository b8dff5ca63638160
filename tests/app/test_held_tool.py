"""How a tool whose server is away is shown: by a sign and a word, on every page that lists it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from inspector.app.draw.table import ICONS, deferred_rows, evicted_rows, loaded_rows
from inspector.app.pages.tools.catalog import CatalogRows, server_key
from inspector.app.pages.tools.server_panel import server_facts
from inspector.core.session import Binding
from inspector.session.timeline import Timeline
from tests.support.app import app_rig, is_up_to_date, said, seen, until
from tests.support.tools_page import opened
from tests.support.workbench import Rig, connected

ID = "weather:get_forecast"
SIGN, _ = ICONS[Binding.HELD]


@asynccontextmanager
async def _away(*, at_home: bool = False) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    async with app_rig(at_home=at_home) as (pilot, rig):
        rig.bench.load(ID)
        await rig.bench.stop("weather")
        await until(pilot, lambda: is_up_to_date(pilot, rig))
        yield pilot, rig


async def test_a_held_tool_is_listed_where_it_will_be_again() -> None:
    async with connected() as rig:
        rig.bench.load(ID)
        await rig.bench.stop("weather")
        loaded, evicted = loaded_rows(rig.bench.state), evicted_rows(rig.bench.state)
        row = next(row for row in loaded if row.key == ID)
        assert (str(row.cells[0]), row.cells[-1]) == (SIGN, "held: server away")
        assert ID not in {row.key for row in (*evicted, *deferred_rows(rig.bench.state))}
        made = CatalogRows()
        made.update(rig.bench.state, rig.bench.catalog)
        listed = {row.key: row for row in made.shown()}
        assert (listed[server_key("weather")].cells[1], str(listed[ID].cells[2])) == ("1", f"{SIGN} held")
        facts = server_facts(rig.bench.state.servers["weather"], held=1).plain
        assert "1 tool kept until it reconnects" in facts
        rig.bench.evict(ID)
        assert [row.key for row in evicted_rows(rig.bench.state)] == [ID]
        await rig.bench.reconnect("weather")
        (lane,) = (lane for lane in Timeline.of(rig.bench.records()).lanes if lane.tool == ID)
        bindings = [move.binding_to for move in lane.moves[-3:]]
        assert bindings == [Binding.LOADED, Binding.HELD, Binding.EVICTED]


async def test_the_session_page_counts_held_tools_apart() -> None:
    async with _away(at_home=True) as (pilot, _):
        await until(pilot, lambda: "1 loaded + 1 held" in seen(pilot))
        assert f"{SIGN}  {ID}" in seen(pilot)


async def test_the_page_of_a_held_tool_shows_it_as_it_was_listed_last() -> None:
    async with _away() as (pilot, rig):
        await opened(pilot, ID)
        await until(pilot, lambda: f"{SIGN} held" in seen(pilot))
        facts = " ".join(said(pilot, "#tool-facts").split())
        assert "weather is away; loaded again once it reconnects" in facts
        assert "Forecast for a city." in seen(pilot)
        await pilot.press("l")
        await until(pilot, lambda: "away; evicted again" in said(pilot, "#tool-facts"))
        await pilot.press("l")
        await until(pilot, lambda: len(pilot.app._notifications) == 2)
        told = list(pilot.app._notifications)[-1]
        assert "the server weather is away" in f"{told.title} {told.message}"
        await rig.bench.reconnect("weather")
        await until(pilot, lambda: "✕ evicted" in said(pilot, "#tool-title"))

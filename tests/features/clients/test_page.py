"""The page about real clients, driven by keys."""

from collections.abc import Sequence
from datetime import date

import pytest
from textual.pilot import Pilot

from inspector.app.place import WhyNotPage
from inspector.clients.client import NAMES, all_clients, find_client
from inspector.clients.delivery import Listed
from inspector.core.ranking import SearchRequest
from inspector.core.tool import Tool
from inspector.features.clients.page import client_detail, tool_detail
from inspector.session.client_view import view_as
from tests.support.app import app_rig, destinations, goes, said, seen, toasts, until
from tests.support.canned import RULE, TOOLS, library
from tests.support.hostile import KINDS
from tests.widgets.hostile import dangerous
from widgets import Record, RecordList

TODAY = date(2026, 11, 26)
CLIENTS, LISTED = "#clients", "#tools"


def _rows(pilot: Pilot[None], which: str) -> Sequence[Record]:
    return pilot.app.screen.query_one(which, RecordList).shown


async def _opened(pilot: Pilot[None]) -> None:
    await goes(pilot, "clients")
    await until(pilot, lambda: all(str(row.cells[1]) != "…" for row in _rows(pilot, CLIENTS)))


async def test_every_client_is_listed_with_what_its_first_call_costs() -> None:
    async with app_rig(servers=library()) as (pilot, _):
        await _opened(pilot)
        rows = _rows(pilot, CLIENTS)
        assert [row.key for row in rows] == list(NAMES)
        claude, static = rows[0], rows[-1]
        assert int(str(claude.cells[1]).replace(",", "")) < int(str(static.cells[1]).replace(",", ""))
        assert str(claude.cells[3]) == "1"
        assert "shows 3 of your 4 tools" in said(pilot, "#detail")


async def test_a_cut_is_shown_at_its_place_with_how_sure_it_is() -> None:
    async with app_rig(servers=library(), size=(140, 44)) as (pilot, _):
        await _opened(pilot)
        detail = said(pilot, "#detail")
        assert detail.index("✂ instructions from town.library: cut after 4,096") < detail.index(RULE)
        assert "measured" in detail
        await pilot.press("down", "down")
        await until(pilot, lambda: "Codex knows the servers" in said(pilot, "#detail"))
        assert "reported by third parties, unverified" in said(pilot, "#detail")


async def test_a_tool_is_shown_as_the_chosen_client_gets_it_with_the_keys_of_every_tool() -> None:
    async with app_rig(servers=library(), size=(140, 44)) as (pilot, _):
        await _opened(pilot)
        await pilot.press("tab", "down")
        await until(pilot, lambda: "✕ refused: its name has" in said(pilot, "#detail"))
        await pilot.press("up")
        await until(pilot, lambda: "✂ description: cut after 16,384" in said(pilot, "#detail"))
        went = destinations(pilot)
        await pilot.press("w")
        await until(pilot, lambda: went == [WhyNotPage("town.library:search_catalogue", SearchRequest())])


async def test_on_a_small_terminal_enter_reads_and_esc_returns_to_the_list() -> None:
    async with app_rig(servers=library(), size=(80, 24)) as (pilot, _):
        await _opened(pilot)
        assert "knows tools by name" not in seen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "knows tools by name" in seen(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "knows tools by name" not in seen(pilot))
        assert pilot.app.screen.query_one(CLIENTS).has_focus_within


async def test_d_declares_what_the_client_does_and_tells_which_tools_that_changes() -> None:
    async with app_rig(servers=library()) as (pilot, rig):
        await _opened(pilot)
        rig.servers["town.library"].tools = TOOLS[:2]
        await pilot.press("down", "down", "a")
        await until(pilot, lambda: rig.bench.settings.client == find_client("codex").declares)
        await until(pilot, lambda: "2 tools instead of 4" in toasts(pilot))
        assert "− town.library:lend, town.library:loan.renew" in toasts(pilot)
        await until(pilot, lambda: "elicitation (form, url) (as codex-mcp-client)" in said(pilot, "#facts"))
        await pilot.press("a")
        await until(pilot, lambda: "are already declared" in toasts(pilot))


async def test_a_changed_catalog_is_looked_at_again() -> None:
    async with app_rig(servers=library()) as (pilot, rig):
        await _opened(pilot)
        rig.bench.switch_toolset("sums")
        await until(pilot, lambda: "No server is ready yet" in seen(pilot) and not _rows(pilot, LISTED))


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_a_servers_texts_cannot_control_the_terminal(text: str) -> None:
    tool = Tool("s", text, text, {"type": "object", "description": text})
    for client in all_clients():
        view = view_as(find_client(client.name), [Listed("s", [tool], instructions=text)], len)
        for shown in (client_detail(view, TODAY), tool_detail(view.client, view.tools[0])):
            assert not dangerous("".join(shown.plain.split()))

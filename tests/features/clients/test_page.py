"""The page about real clients, driven by keys."""

import re
from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from inspector.app.place import WhyNotPage
from inspector.clients.client import NAMES, all_clients, find_client
from inspector.clients.delivery import Listed
from inspector.core.ranking import SearchRequest
from inspector.core.server import SkippedTool
from inspector.core.tool import Tool
from inspector.features.clients.cell import client_detail, tool_detail
from inspector.features.clients.page import matrix_records
from inspector.session.client_matrix import WAITING, fate_table, rows
from inspector.session.client_view import view_as
from tests.support.app import app_rig, destinations, goes, said, seen, toasts, until
from tests.support.canned import LONG_NAME, RULE, TOOLS, library
from tests.support.hostile import KINDS
from tests.widgets.hostile import dangerous
from widgets import Record, RecordList
from widgets.record import cell_text

CLIENTS, LEND = "#clients", "town.library:lend"
LONG = f"town.library:{LONG_NAME}"


def _list(pilot: Pilot[None], name: str = "#rows") -> RecordList:
    return pilot.app.screen.query_one(name, RecordList)


def _rows(pilot: Pilot[None]) -> Sequence[Record]:
    return _list(pilot).shown


async def _opened(pilot: Pilot[None], client: str = "") -> None:
    await goes(pilot, "clients")
    await until(
        pilot, lambda: bool(_rows(pilot)) and WAITING not in str(_list(pilot, CLIENTS).shown[-1].cells)
    )
    _list(pilot, CLIENTS).move_to(client)
    await until(pilot, lambda: not client or _list(pilot).columns[1].key == client)


def _cells(pilot: Pilot[None], row: str, name: str = "#rows") -> list[str]:
    return next(
        [str(cell) for cell in record.cells] for record in _list(pilot, name).shown if record.key == row
    )


async def test_every_client_is_in_sight_with_what_becomes_of_the_tools() -> None:
    async with app_rig(servers=library(), size=(200, 60)) as (pilot, _):
        await _opened(pilot)
        assert [row.key for row in _list(pilot, CLIENTS).shown] == list(NAMES)
        assert _cells(pilot, "claude-code", CLIENTS)[1:5] == ["0", "1", "2", "1"]
        assert _cells(pilot, "none", CLIENTS)[1:5] == ["4", "0", "0", "0"]
        first = [int(_cells(pilot, name, CLIENTS)[5].replace(",", "")) for name in ("claude-code", "none")]
        assert first[0] < first[1]
        assert [row.key for row in _rows(pilot)] == [tool.id for tool in TOOLS]
        assert _cells(pilot, LEND)[1] == "~ changed"
        assert _cells(pilot, LONG)[1] == "✕ refused"
        _list(pilot, CLIENTS).move_to("codex")
        await until(pilot, lambda: _cells(pilot, LEND)[2].startswith("pattern removed; renamed from"))
        await pilot.press("end")
        await until(pilot, lambda: _cells(pilot, LEND)[1] == "✓ whole")
        await pilot.press("enter", *"/lend")
        assert [row.key for row in _rows(pilot)] == [LEND]


async def test_a_tool_is_the_definition_as_declared_beside_it_as_sent() -> None:
    async with app_rig(servers=library(), size=(80, 24)) as (pilot, _):
        await _opened(pilot, "vscode")
        await pilot.press("enter", "down", "down", "enter")
        await until(pilot, lambda: "lend in VS Code (editor or app), 17 of" in seen(pilot))
        lines = [line.strip() for line in seen(pilot).splitlines()]
        assert "schema: oneOf removed from the top level   ● open source, 2026-01-23" in lines
        assert re.fullmatch(
            r"lend +~ mcp_town_library_lend", next(line for line in lines if "~ mcp_" in line)
        )
        assert re.fullmatch(r"oneOf: +-", next(line for line in lines if line.startswith("oneOf")))
        await pilot.press(*["left"] * (NAMES.index("vscode") - NAMES.index("codex")))
        await until(pilot, lambda: bool(re.search(r"lend in Codex.*pattern[^\n]* -", seen(pilot), re.DOTALL)))
        await pilot.press("escape")
        await until(pilot, lambda: "[tools]" in seen(pilot))
        assert _list(pilot).has_focus_within
        await pilot.press("escape")
        assert _list(pilot, CLIENTS).has_focus_within


async def test_where_a_description_is_cut_both_sides_show_it() -> None:
    async with app_rig(servers=library(), size=(140, 44)) as (pilot, _):
        await _opened(pilot)
        await until(pilot, lambda: "description cut after 16,384 of" in said(pilot, "#detail"))
        assert said(pilot, "#detail").count("Add reference=true for all.") == 1
        assert "… [truncated]" in said(pilot, "#detail")
        went = destinations(pilot)
        await pilot.press("w")
        await until(pilot, lambda: went == [WhyNotPage("town.library:search_catalogue", SearchRequest())])


async def test_a_picked_client_stands_beside_the_current_one_until_it_is_picked_again() -> None:
    async with app_rig(servers=library()) as (pilot, _):
        await _opened(pilot)
        await pilot.press("p", *"/goose", "enter", "enter")
        await until(pilot, lambda: [one.key for one in _list(pilot).columns][1:3] == ["claude-code", "goose"])
        assert _cells(pilot, LEND)[1:3] == ["~ changed", "✓ whole"]
        await pilot.press("right")
        await until(pilot, lambda: [one.key for one in _list(pilot).columns][1:3] == ["codex", "goose"])
        await pilot.press("p", "enter")
        await until(pilot, lambda: "goose" not in [one.key for one in _list(pilot).columns])


async def test_behaviours_say_how_sure_they_are_and_cite_the_sources() -> None:
    async with app_rig(servers=library(), size=(140, 44)) as (pilot, _):
        await _opened(pilot)
        await pilot.press("t")
        await until(pilot, lambda: "[behaviours]" in seen(pilot))
        assert _cells(pilot, "tools that arrive")[1] == "3 of 4"
        assert _cells(pilot, "kind")[1] == "coding agent"
        await pilot.press("right", "enter", *["down"] * 3)
        await until(pilot, lambda: "model knows first in Codex" in seen(pilot))
        assert _cells(pilot, "model knows first")[1] == "◐ servers"
        detail = said(pilot, "#detail")
        assert detail.index("listing") < detail.index("Codex knows the servers") < detail.index("cuts")
        assert "reported by third parties, unverified" in detail
        await pilot.press("left")
        await until(pilot, lambda: "Claude Code knows tools by name" in said(pilot, "#detail"))
        detail = said(pilot, "#detail")
        assert detail.index("✂ instructions from town.library: cut after 4,096") < detail.index(RULE)


async def test_d_declares_what_the_client_does_and_tells_which_tools_that_changes() -> None:
    async with app_rig(servers=library()) as (pilot, rig):
        await _opened(pilot)
        rig.servers["town.library"].tools = TOOLS[:2]
        await pilot.press("right", "a")
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
        await until(pilot, lambda: "No server is ready yet" in seen(pilot) and not _rows(pilot))


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_a_servers_texts_cannot_control_the_terminal(text: str) -> None:
    tool = Tool("s", text, text, {"type": "object", "description": text})
    for client in all_clients():
        view = view_as(find_client(client.name), [Listed("s", [tool], instructions=text)], len)
        for shown in (client_detail(view), tool_detail(view.client, view.tools[0], 400)):
            assert not dangerous("".join(shown.plain.split()))
        (record,) = matrix_records(fate_table([view.client], rows([view])), [text])
        assert not any(dangerous(cell_text(cell)) for cell in record.cells)


def test_a_name_that_is_listed_twice_is_two_rows() -> None:
    twice = Listed("s", [Tool("s", "find", "")], [SkippedTool("find", "listed twice")])
    view = view_as(find_client("none"), [twice], len)
    found = list(matrix_records(fate_table([view.client], rows([view]))))
    assert [str(record.cells[1]) for record in found] == ["∅ lost", "✓ whole"]
    assert len({record.key for record in found}) == 2

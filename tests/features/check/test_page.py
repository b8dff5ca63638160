"""The findings page, driven by keys: what is listed, what is folded, and what proves it."""

import pytest
from textual.pilot import Pilot

from inspector.core.tool import Tool
from inspector.features.check.page import FindingsScreen
from inspector.features.tools.page import ToolsScreen
from tests.support.app import app_rig, goes, said, seen, until
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.tools_page import shown
from widgets import RecordList

LONG = f"Pays an invoice. {'It checks the amount first. ' * 90}Never use it twice."
BIDI = "Lists messages\u202e of today."


def _parameters(**described: str) -> dict[str, object]:
    properties = {name: {"type": "string", "description": text} for name, text in described.items()}
    return {"type": "object", "properties": properties, "required": list(properties)[:1]}


def offices() -> dict[str, MemoryServer]:
    """Copied trackers, a description that clients cut, a hidden character, and no description."""
    issue = _parameters(title="What the issue is about.", body="The text of the issue.")
    rest = "in the tracker of a project, with a title and a text."
    ticket = _parameters(title="What the ticket is about.", body="The text of the ticket.")
    return {
        "tracker": MemoryServer(
            [
                Tool("tracker", "create_issue", f"Create an issue {rest}", issue),
                Tool("tracker", "create_ticket", f"Create a ticket {rest}", ticket),
            ]
        ),
        "bank": MemoryServer([Tool("bank", "pay", LONG, _parameters(invoice="Its number."))]),
        "mail": MemoryServer([Tool("mail", "list_messages", BIDI)]),
        "old": MemoryServer([Tool("old", "xq")]),
    }


async def _opened(pilot: Pilot[None]) -> RecordList:
    await goes(pilot, "findings")
    await until(pilot, lambda: "⚠" in said(pilot, "#facts") and "Checking" not in said(pilot, "#facts"))
    return pilot.app.screen.query_one(RecordList)


def _cells(found: RecordList) -> list[list[str]]:
    return [[str(cell) for cell in record.cells] for record in found.shown]


def _at(found: RecordList, *words: str) -> str:
    """Put the cursor on the row that has these words."""
    key = next(row.key for row in found.shown if all(word in row.haystack() for word in words))
    found.move_to(key)
    return key


async def test_the_worst_come_first_and_what_changes_nothing_is_folded_until_a_key_shows_it() -> None:
    async with app_rig(servers=offices(), embedder=MemoryEmbedder()) as (pilot, _):
        found = await _opened(pilot)
        signs = [cells[0] for cells in _cells(found)]
        assert signs == sorted(signs, key=["✕", "⚠", "•"].index)
        assert "•" not in signs
        assert _cells(found)[0][1:4] == [
            "mail:list_messages",
            "The definition has 1 hidden character.",
            "trust",
        ]
        assert "space shows them" in seen(pilot)
        await pilot.press("space")
        await until(pilot, lambda: "•" in [cells[0] for cells in _cells(found)])
        assert "space" not in said(pilot, "#facts")
        await pilot.press("space")
        await until(pilot, lambda: len(found.shown) == len(signs))


async def test_enter_opens_the_tool_and_on_a_narrow_terminal_first_the_proof() -> None:
    async with app_rig(servers=offices(), size=(80, 24)) as (pilot, _):
        found = await _opened(pilot)
        _at(found, "list_messages", "hidden")
        await pilot.press("enter")
        await until(pilot, lambda: "U+202E" in seen(pilot))
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, ToolsScreen)
        await until(pilot, lambda: shown(pilot) == "mail:list_messages")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen))


@pytest.mark.parametrize(("key", "stage"), [("v", "all"), ("V", "trust")])
async def test_the_servers_page_leads_to_what_is_found_about_the_row(key: str, stage: str) -> None:
    async with app_rig(servers=offices()) as (pilot, _):
        await goes(pilot, "servers")
        rows = pilot.app.screen.query_one("#catalog", RecordList)
        rows.move_to("mail:list_messages")
        await until(pilot, lambda: shown(pilot) == "mail:list_messages")
        await pilot.press(key)
        await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen))
        assert f"[{stage}]" in seen(pilot)
        found = pilot.app.screen.query_one("#findings", RecordList)
        await until(pilot, lambda: {cells[1] for cells in _cells(found)} == {"mail:list_messages"})

"""Any page, or its session, as a file to send: `x` writes it, and it has what the page shows."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen
from inspector.app.dialogs.export import ExportDialog
from inspector.app.draw.document import Document
from inspector.app.place import PLACES, SCREENS
from inspector.core.events import Record
from inspector.core.report import Table
from inspector.features.feature_list import FEATURES
from inspector.store.codec import encode
from inspector.store.shared_session import opened_session
from inspector.store.store import SqliteStore
from tests.app.test_document import ATTRIBUTES, TAGS, Read
from tests.app.test_hostile_pages import EVIL, hostile_servers
from tests.support.app import app_rig, goes, until
from tests.support.fakes import says, searches
from tests.widgets.hostile import dangerous
from widgets import PlainInput, RecordList


def page_of(pilot: Pilot[None]) -> BaseScreen:
    assert isinstance(pilot.app.screen, BaseScreen)
    return pilot.app.screen


def _told(record: Record) -> tuple[int, float, str]:
    return record.seq, record.at, encode(record.event)


async def writes(pilot: Pilot[None], name: str = "") -> None:
    """Press x, type a name over the one that is suggested, if any, and enter."""
    await pilot.press("x")
    await until(pilot, lambda: isinstance(pilot.app.screen, ExportDialog))
    if name:
        pilot.app.screen.query_one(PlainInput).value = name
    await pilot.press("enter")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def test_every_page_can_be_sent_whatever_servers_say() -> None:
    async with app_rig(searches(query=EVIL), says(EVIL), servers=hostile_servers()) as (pilot, rig):
        await rig.bench.chat(EVIL)
        for name in SCREENS:
            await goes(pilot, name)
            page = page_of(pilot)
            report = tuple(page.report())
            read = Read(Document(name, report, page.words(), 0.0).html())
            assert report or name == "session"
            assert (read.tags <= TAGS, read.attributes <= ATTRIBUTES) == (True, True)
            assert dangerous("".join(read.texts).replace("\n", "").replace("\t", "")) == []


def test_what_a_page_shows_is_printed_by_a_command_and_what_a_command_shows_is_a_page() -> None:
    pages = {page.name for place in PLACES for page in place.pages}
    shown = {page for feature in FEATURES for command in feature.commands for page in command.shows}
    assert pages - shown == {"runs", "scenarios"}, "what is measured there has its own words"
    assert shown <= pages


async def test_a_list_is_written_as_it_is_filtered_with_the_columns_that_had_no_room(tmp_path: Path) -> None:
    async with app_rig(size=(50, 24)) as (pilot, _):
        await goes(pilot, "servers")
        page_of(pilot).query_one(RecordList).filter_text = "refund"
        await pilot.pause()
        table = next(block for block in page_of(pilot).report() if isinstance(block, Table))
        assert [row[0].strip() for row in table.rows] == ["▾ shop", "refund_order"]
        await writes(pilot, "mine.html")
        await until(pilot, lambda: (tmp_path / "mine.html").exists())
        text = (tmp_path / "mine.html").read_text()
        assert "<code>toolsight tools</code>" in text
        assert "refund_order" in text
        assert "list_orders" not in text


async def test_a_session_is_written_from_any_page_and_opens_elsewhere(tmp_path: Path) -> None:
    async with app_rig(searches(query="orders"), says("Two.")) as (pilot, rig):
        await rig.bench.chat("Which orders are late?")
        await goes(pilot, "budget")
        await writes(pilot, "run.toolsight")
        await until(pilot, lambda: (tmp_path / "run.toolsight").exists())
        with (
            opened_session(tmp_path / "run.toolsight") as (database, session),
            SqliteStore(database) as store,
        ):
            assert [*map(_told, store.read(session))] == [*map(_told, rig.store.read("s"))]


async def test_a_timeline_has_its_messages_searches_and_costs(tmp_path: Path) -> None:
    async with app_rig(searches(query="orders"), says("Two.")) as (pilot, rig):
        await rig.bench.chat("Which orders are late?")
        await goes(pilot, "timeline")
        await writes(pilot)
        await until(pilot, lambda: (tmp_path / "timeline.html").exists())
        text = (tmp_path / "timeline.html").read_text()
        for told in (
            "Which orders are late?",
            "search  “orders”",
            "Tools by model call",
            "What the calls cost",
        ):
            assert told in text


async def test_a_name_of_another_kind_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "budget")
        await writes(pilot, "run.pdf")
        note = pilot.app.screen.query_one("#path-note", Static)
        await until(pilot, lambda: "does not end in .html or .toolsight" in str(note.render()))
    assert not any(map(Path.exists, (tmp_path / "run.pdf", tmp_path / "budget.html")))

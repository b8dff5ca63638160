"""A proposal as a change of the server's source file: shown, written after a yes, refused if it changed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import TextArea

from inspector.app.place import WhyNotPage
from inspector.core.ranking import SearchRequest
from inspector.core.tool import Tool
from inspector.features.check.finding import Effect
from inspector.features.search.page import SearchScreen
from inspector.features.search.source_change import SourceDialog
from inspector.features.search.why_not_pane import WhyNotPane
from tests.support.app import app_rig, arrives, seen, toasts, until
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import configured
from widgets import Confirm

SOURCE = '''\
@server.tool()
def handle_inv(number: int) -> dict:
    """Gets stuff."""
    return {}


@server.tool()
def void(number: int) -> str:
    """Voids an invoice."""
'''
OLD, NEW = "Gets stuff.", "Gets stuff. Shows an invoice by its number."
EFFECT = Effect("hybrid", {"show bill 77": (3, 1)}, 7)
TOOL = "billing:handle_inv"


def _billing() -> dict[str, MemoryServer]:
    return {
        "billing": MemoryServer(
            [Tool("billing", "handle_inv", OLD), Tool("billing", "void", "Voids an invoice.")]
        )
    }


@asynccontextmanager
async def _proposed(path: Path) -> AsyncGenerator[Pilot[None], None]:
    """The why-not pane after enter on a proposal for a tool whose server is started from the file."""
    servers = _billing()
    configuration = configured(servers)
    specs = [replace(spec, args=(path.name,), cwd=str(path.parent)) for spec in configuration.servers]
    configuration = replace(configuration, servers=tuple(specs))
    async with app_rig(servers=servers, configuration=configuration, size=(80, 24)) as (pilot, _):
        await arrives(pilot, WhyNotPage(TOOL, SearchRequest("show bill 77")))
        pane = pilot.app.screen.query_one(WhyNotPane)
        pane.post_message(WhyNotPane.Proposed(TOOL, NEW, EFFECT))
        await pilot.pause()
        yield pilot


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "billing.py"
    path.write_text(SOURCE)
    return path


def _text(path: Path) -> str:
    return path.read_text()


def _save(path: Path, text: str) -> None:
    path.write_text(text)


def _asked(pilot: Pilot[None]) -> bool:
    return isinstance(pilot.app.screen, SourceDialog)


def _draft(pilot: Pilot[None]) -> str:
    return pilot.app.screen.query_one("#description", TextArea).text


async def test_a_proposal_is_shown_as_a_difference_and_written_after_a_yes(source: Path) -> None:
    async with _proposed(source) as pilot:
        await until(pilot, lambda: _asked(pilot))
        text = seen(pilot)
        for part in (
            "Write this into billing.py?",
            "line 3",
            "tokens",
            '-    """Gets stuff."""',
            f'+    """{NEW}"""',
        ):
            assert part in text
        assert _text(source) == SOURCE
        await pilot.press("y")
        await until(pilot, lambda: "Written" in toasts(pilot))
        assert _text(source) == SOURCE.replace(OLD, NEW)
        assert isinstance(pilot.app.screen, SearchScreen)


@pytest.mark.parametrize("keys", [("enter",), ("escape",), ("c",)])
async def test_a_second_enter_or_any_other_answer_writes_nothing(source: Path, keys: tuple[str, ...]) -> None:
    async with _proposed(source) as pilot:
        await until(pilot, lambda: _asked(pilot))
        await pilot.press(*keys)
        await until(pilot, lambda: not _asked(pilot))
        if keys == ("enter",):
            await until(pilot, lambda: _draft(pilot) == NEW)
        if keys == ("c",):
            await until(pilot, lambda: bool(pilot.app.clipboard))
            assert pilot.app.clipboard == NEW
        assert _text(source) == SOURCE


async def test_a_file_that_changed_meanwhile_is_left_alone_and_the_text_stays_as_a_draft(
    source: Path,
) -> None:
    async with _proposed(source) as pilot:
        await until(pilot, lambda: _asked(pilot))
        changed = SOURCE.replace("Voids", "Cancels")
        _save(source, changed)
        await pilot.press("y")
        await until(pilot, lambda: "changed" in toasts(pilot))
        assert _text(source) == changed
        await until(pilot, lambda: _draft(pilot) == NEW)


async def test_a_text_that_stands_in_no_one_place_is_a_draft(source: Path) -> None:
    _save(source, SOURCE + SOURCE.replace("handle_inv", "other"))
    async with _proposed(source) as pilot:
        await until(pilot, lambda: _draft(pilot) == NEW)
        assert not isinstance(pilot.app.screen, Confirm)
        assert "ctrl+y" in toasts(pilot)
        assert "Your draft" in seen(pilot)

"""The recorded runs page, driven by keys: what ships, one's own sessions, their runs."""

import re
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from inspector.app.place import SearchPage, TracePage
from inspector.cli.location import shipped_recording
from inspector.core.budget import Prices, Tokenizer
from inspector.core.events import Record
from inspector.core.report import Table
from inspector.features.lab.feature import RUNS
from inspector.features.lab.runs.facts import report
from inspector.features.lab.runs.page import (
    RecordedRunScreen,
    RecordedRunsScreen,
    _asked,
    run_detail,
    run_row,
)
from inspector.features.lab.runs.recorded_agent import Reason
from inspector.features.lab.runs.recorded_run import Need, PlayedRun, Spent
from inspector.features.lab.runs.recording import RunSource
from inspector.mcp.recorded_link import RecordedMessage, RecordedRun
from inspector.session.assembly import Ports
from inspector.tokens.counter import TiktokenCounter
from tests.core.test_event import json_lines
from tests.features.lab.runs.test_recorded_runs import LEND, LENDING, call, ports, run_of, step
from tests.features.lab.runs.test_recorded_session import ASKED, LENT, imported, session
from tests.support.app import app_rig, destinations, goes, said, seen, until
from tests.support.fakes import CharacterCounter, MemoryPrices
from tests.support.hostile import with_hostile_text
from tests.support.workbench import Rig
from tests.widgets.hostile import dangerous
from widgets import RecordList

PRICED = MemoryPrices(Prices("openai/gpt-5", input=1e-6, output=1e-5, cache_read=1e-7))
DEFINED = replace(LENT, definition={"name": "lend_book", "description": "Lend a book.", "parameters": {}})
IMPORTED = imported(*ASKED[:2], replace(ASKED[2], tool=DEFINED), ASKED[3])
_FOLDER = TemporaryDirectory(prefix="toolsight-few-runs-")


def priced() -> Ports:
    return replace(ports(), prices=PRICED)


@cache
def few_runs(tasks: int = 12) -> RunSource:
    """The first tasks of the recording that ships."""
    lines = shipped_recording().read_text().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines, start=1) if '"kind":"end"' in line]
    path = Path(_FOLDER.name, "few.jsonl")
    path.write_text("".join(lines[: ends[tasks - 1]]))
    counter = TiktokenCounter("gpt-5")
    return RunSource(path, lambda: replace(priced(), counter_for=lambda _: counter))


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A recording of two sessions."""
    second = run_of(step("I lend a book.", call(LEND, "SECOND")), step("Done."), asked="Lend another one.")
    both = [replace(one, session=id_) for id_, run in (("a", LENDING), ("b", second)) for one in session(run)]
    path = tmp_path / "two.jsonl"
    path.write_text(json_lines(both))
    return path


@asynccontextmanager
async def opened(
    source: RunSource | None, stored: Sequence[Record] = (), *, first: str = "2 recorded runs"
) -> AsyncGenerator[Pilot[None], None]:
    """The page, after its key on the benchmark page, and after it was told to play."""

    def beside(rig: Rig) -> dict[Any, object]:
        rig.store.append_all(stored)
        return {RUNS: source}

    async with app_rig(beside=beside, size=(120, 36)) as (pilot, _):
        await goes(pilot, "bench")
        await pilot.press("v")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordedRunsScreen))
        await until(pilot, lambda: f"r plays {first}" in status(pilot))
        assert pilot.app.screen.running is None, "nothing runs that nobody asked for"  # type: ignore[attr-defined]
        await pilot.press("r")
        yield pilot


def status(pilot: Pilot[None]) -> str:
    return said(pilot, "#runs-status")


def setups_in(pilot: Pilot[None]) -> list[str]:
    return [record.key for record in pilot.app.screen.query_one(RecordList).records]


async def test_one_key_of_the_benchmark_page_plays_what_ships_under_three_profiles() -> None:
    async with opened(few_runs(4), first="4 recorded runs") as pilot:
        await until(pilot, lambda: "4 runs played" in status(pilot))
        assert setups_in(pilot) == ["toolsight", "static", "attention"]
        assert "stand-in model (rules, no LLM)" in said(pilot, "#runs-facts")
        shown = said(pilot, "#runs-detail")
        assert "4 runs of 4 tasks" in shown
        assert re.search(r"returned +\d+ % \[", shown)
        assert "its label's tools" in shown
        assert re.search(r"\$[\d.]+ \[[\d.]+, [\d.]+\] a solved task \(\+", seen(pilot))


async def test_a_profiles_runs_say_how_each_tool_was_found_and_enter_searches_again(two: Path) -> None:
    async with opened(RunSource(two, priced)) as pilot:
        await until(pilot, lambda: "2 runs played" in status(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordedRunScreen))
        await until(pilot, lambda: f"{LEND}, returned by no search" in said(pilot, "#run-detail"))
        assert "Lend another one." in seen(pilot)
        asked = destinations(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: bool(asked))
        assert isinstance(asked[0], SearchPage)


async def test_imported_sessions_are_played_first_and_o_changes_to_what_ships(two: Path) -> None:
    async with opened(RunSource(two, priced), IMPORTED, first="1 session") as pilot:
        await until(pilot, lambda: "1 run played; left out: 1 of 2 calls" in status(pilot))
        assert "claude-code/Bash" in said(pilot, "#runs-detail")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordedRunScreen))
        asked = destinations(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: bool(asked))
        assert asked == [TracePage("s1")]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordedRunsScreen))
        await pilot.press("o")
        assert "r plays 2 recorded runs" in status(pilot)
        await pilot.press("r")
        await until(pilot, lambda: "2 runs played" in status(pilot))
        await pilot.press("o")
        assert "1 run played" in status(pilot)


async def test_a_stop_keeps_the_runs_that_every_profile_has_played(two: Path) -> None:
    free, held = threading.Event(), threading.Event()

    class Held(CharacterCounter):
        """Counts only when it is free once it comes to the second run."""

        def count(self, text: str) -> int:
            if "another" in text:
                held.set()
                assert free.wait(30)
            return super().count(text)

    source = RunSource(two, lambda: replace(priced(), counter_for=lambda _: Held()))
    async with opened(source) as pilot:
        await until(pilot, held.is_set)
        await until(pilot, lambda: "1 of 2 runs   esc stops" in status(pilot))
        await pilot.press("escape")
        assert "Stopping" in status(pilot)
        free.set()
        await until(pilot, lambda: "Stopped after 1 of 2 runs" in status(pilot))
        assert setups_in(pilot) == ["toolsight", "static", "attention"]
        assert "1 run of 1 task" in said(pilot, "#runs-detail")


async def test_the_page_shows_the_figures_that_the_command_prints(two: Path) -> None:
    async with opened(RunSource(two, priced)) as pilot:
        await until(pilot, lambda: "2 runs played" in status(pilot))
        screen = pilot.app.screen
        assert isinstance(screen, RecordedRunsScreen)
        assert screen._told is not None
        shown = said(pilot, "#runs-detail")
        for table in report(screen._told):
            if isinstance(table, Table):
                assert [cell for cell in table.rows[0] if cell not in shown] == []


@with_hostile_text
def test_hostile_requests_and_tools_are_drawn_harmlessly(text: str) -> None:
    need = Need(f"library:{text}", 1, returned=True, reached=True)
    run = PlayedRun(
        *("r", "t", None, 1, 1, dict.fromkeys(Reason, 1), {}, (need,), 1, 1, (), 0, 0, 0),
        Spent(),
        Tokenizer("characters", exact=True),
    )
    asked = _asked(RecordedRun("r", "t", (RecordedMessage(text, LENDING.messages[0].steps),)))
    drawn = (*map(str, run_row(run, asked).cells), run_detail(run, asked).plain.replace("\n", ""))
    assert not any(map(dangerous, drawn))

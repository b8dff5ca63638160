"""The reproduction page, driven by keys; and how it looks."""

import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from textual.pilot import Pilot

from inspector.app.draw.table import table_lines
from inspector.app.pages.chat.session import SessionScreen
from inspector.app.pages.lab.published import ReproduceScreen, section_lines
from inspector.app.scenario_job import Reproduction
from inspector.core.report import Origin, Section, Table
from inspector.research.run import CHAPTERS
from inspector.research.source import PlayedScenario, Steps
from tests.support.app import app_rig, said, until
from tests.support.hostile import with_hostile_text
from tests.support.reproduction import MemorySource, session
from tests.widgets.hostile import dangerous
from widgets import PlainInput, RecordList


class HeldSource(MemorySource):
    """Plays its scenarios only while it is not held, and one step at a time."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__(played=[session("ab", "a")])
        self.free, self.asked = threading.Event(), threading.Event()
        self._fails = fails

    def played(self, steps: Steps) -> Sequence[PlayedScenario]:
        steps("scenario demo", 3, 13)
        self.asked.set()
        assert self.free.wait(30)
        if self._fails:
            raise RuntimeError("the scenario is gone")
        steps("scenario demo", 4, 13)
        return super().played(steps)


@asynccontextmanager
async def opened(
    source: MemorySource | None, size: tuple[int, int] = (120, 32), chapter: str = "accuracy"
) -> AsyncGenerator[Pilot[None], None]:
    """The page on a source, with the cursor on a chapter."""
    async with app_rig(size=size) as (pilot, _rig):
        measured = Reproduction(lambda: source) if source is not None else None
        await pilot.app.push_screen(ReproduceScreen(measured))
        await until(pilot, lambda: isinstance(pilot.app.screen, ReproduceScreen))
        for _ in range([one.id for one in CHAPTERS].index(chapter)):
            await pilot.press("down")
        yield pilot


def _states(pilot: Pilot[None]) -> dict[str, str]:
    records = pilot.app.screen.query_one(RecordList).records
    return {record.key: str(record.cells[-1]) for record in records}


async def test_enter_measures_the_section_under_the_cursor_and_shows_it() -> None:
    async with opened(MemorySource(played=[session("ab", "a")])) as pilot:
        assert "enter measures it now" in said(pilot, "#section-text")
        assert set(_states(pilot).values()) == {"○ not run"}
        await pilot.press("enter")
        await until(pilot, lambda: _states(pilot)["accuracy"] == "✓ done")
        assert "median of the 1 scenarios" in said(pilot, "#section-text")
        assert "1 of 7 measured" in said(pilot, "#reproduce-status")


async def test_a_run_shows_how_far_it_is_and_esc_stops_it() -> None:
    source = HeldSource()
    async with opened(source) as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: "3 of 13" in _states(pilot)["accuracy"])
        assert "scenario demo" in said(pilot, "#reproduce-status")
        await pilot.press("escape")
        assert "Stopping" in said(pilot, "#reproduce-status")
        assert isinstance(pilot.app.screen, ReproduceScreen)
        source.free.set()
        await until(pilot, lambda: _states(pilot)["accuracy"] == "■ stopped")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionScreen))


async def test_what_fails_is_told_and_can_be_tried_again() -> None:
    source = HeldSource(fails=True)
    source.free.set()
    async with opened(source) as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: _states(pilot)["accuracy"] == "✕ failed")
        assert "Press enter to measure it again" in said(pilot, "#reproduce-status")
        source._fails = False
        await pilot.press("enter")
        await until(pilot, lambda: _states(pilot)["accuracy"] == "✓ done")


async def test_the_report_is_written_to_a_file(tmp_path: Path) -> None:
    async with opened(MemorySource(played=[session("ab", "a")])) as pilot:
        await pilot.press("x")
        await pilot.press("enter")
        await until(pilot, lambda: _states(pilot)["accuracy"] == "✓ done")
        await pilot.press("x")
        await until(pilot, lambda: bool(pilot.app.screen.query("#path")))
        path = tmp_path / "report.md"
        pilot.app.screen.query_one("#path", PlainInput).value = str(path)
        await pilot.press("enter")
        await until(pilot, path.exists)
        text = path.read_text()
        assert "`toolsight bench papers accuracy`" in text
        assert "## Discovery accuracy" in text


@pytest.mark.parametrize("width", [20, 78])
@with_hostile_text
def test_no_text_of_a_catalog_reaches_the_screen_as_it_is(text: str, width: int) -> None:
    table = Table(text, (text, text), ((text, text),), frozenset({1}), (text,))
    section = Section("x", text, text, text, (table,), (text,), ((text, text, False),))
    for line in section_lines(section, width):
        assert not dangerous(str(line))


_cell = st.text(alphabet="ab1 ", max_size=30)


@given(st.lists(st.tuples(_cell, _cell, _cell), max_size=6), st.integers(1, 100), st.sets(st.integers(0, 2)))
@settings(deadline=None)
def test_numbers_are_never_cut_and_columns_never_too_wide(
    rows: list[tuple[str, str, str]], width: int, right: set[int]
) -> None:
    table = Table("", ("a first", "b", "third one"), tuple(rows), frozenset(right))
    drawn = [str(line) for line in table_lines(table, width)]
    for row in rows:
        for number in (row[column] for column in right):
            assert all(word in "\n".join(drawn) for word in number.split())
    if drawn and not drawn[-1].startswith("  "):
        assert max(map(len, drawn)) <= max(width, 34)


def test_the_page_says_what_was_built_in_and_where_recorded_runs_answer() -> None:
    table = Table("sizes", ("a",), (("1",),), origin=Origin.CALIBRATION, why="They were fitted.")
    section = Section("x", "X", "", "this", (table,), recorded="tokens: `toolsight bench runs`")
    text = "\n".join(map(str, section_lines(section, 78)))
    assert "Calibration: sizes" in text
    assert "They were fitted." in text
    assert "Recorded runs of real agents: tokens: `toolsight bench runs`." in text


def test_a_table_that_does_not_fit_becomes_a_block_a_row() -> None:
    table = Table("", ("name", "first", "second"), (("one", "1,000", "2,000"),), frozenset({1, 2}))
    assert [str(line) for line in table_lines(table, 12)] == ["one", "  first 1,000   second 2,000"]

"""The scenarios page, driven by keys, and how it looks."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from inspector.features.lab.page import ScenarioScreen
from tests.support.app import app_rig, said, until
from tests.support.lab import MemoryLab, hostile_scenario, hostile_servers, written
from tests.support.workbench import Rig
from tests.widgets.hostile import HOSTILE, dangerous
from tests.widgets.screen import lines
from widgets import RecordList


@asynccontextmanager
async def opened(
    lab: MemoryLab, size: tuple[int, int] = (120, 32)
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    async with app_rig(size=size) as (pilot, rig):
        await pilot.app.push_screen(ScenarioScreen(lab))
        await until(pilot, lambda: bool(pilot.app.screen.query_one("#scenarios", RecordList).shown))
        yield pilot, rig


async def _ran(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys, "enter")
    await until(pilot, lambda: said(pilot, "#lab-status")[:1] in "✓✕")


async def test_enter_runs_a_scenario_and_says_what_came_of_each_expectation(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path))
    async with opened(lab) as (pilot, _):
        await _ran(pilot)
        assert lab.runs == [("alternate", "toolsight", {})]
        assert "✓ passed, 6 of 6" in said(pilot, "#lab-status")
        assert said(pilot, "#about").count("✓ ") == 6
        await pilot.press("down", "down")
        await until(pilot, lambda: "enter runs it" in said(pilot, "#lab-status"))
        await _ran(pilot)
        assert "✕ 2 of 3 not met" in said(pilot, "#lab-status")
        assert "there is no loop event" in said(pilot, "#about")
        assert "✕ never result" in said(pilot, "#about")
        assert lab.runs[1] == ("missed", "kaman", {})


async def test_a_file_that_cannot_be_read_says_why_and_is_not_run(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path))
    async with opened(lab) as (pilot, _):
        await pilot.press("end", "enter")
        await until(pilot, lambda: "must be a list" in said(pilot, "#about"))
        assert lab.runs == []


async def test_esc_stops_a_run_and_only_then_leaves(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path))
    lab.gate.clear()
    async with opened(lab) as (pilot, _):
        await pilot.press("enter")
        await until(pilot, lambda: "servers 4 of 4" in said(pilot, "#lab-status"))
        await pilot.press("down", "up", "escape")
        await until(pilot, lambda: lab.cancelled == 1)
        assert "Stopped" in said(pilot, "#lab-status")
        listed = pilot.app.screen.query_one("#scenarios", RecordList)
        assert {row.cells[0] for row in listed.records} == {"·", "✕"}
        assert {row.cells[2] for row in listed.records} == {"", "unreadable"}
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, ScenarioScreen)


async def test_what_was_set_goes_with_the_sessions_own_profile(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path))
    async with opened(lab) as (pilot, rig):
        rig.bench.policy.set("guard.window_repeats", 1)
        await _ran(pilot)
        assert lab.runs == [("alternate", "toolsight", {"guard.window_repeats": 1})]


async def test_hostile_texts_do_no_harm(tmp_path: Path) -> None:
    text = " | ".join(HOSTILE)
    lab = MemoryLab(written(tmp_path, hostile=hostile_scenario(text)), lambda: hostile_servers(text))
    async with opened(lab, size=(80, 24)) as (pilot, _):
        await _ran(pilot)
        assert not dangerous("".join(lines(pilot.app)))

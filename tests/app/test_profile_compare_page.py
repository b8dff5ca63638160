"""One scenario under several profiles, driven by keys, and how it looks."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from inspector.app.pages.lab.profile_compare import ProfileCompareScreen
from inspector.app.place import ProfilesPage
from inspector.app.scenario_job import Choice, ScenarioFile
from inspector.core.error import ConfigError
from inspector.scenario.comparison import ScenarioResult
from tests.support.app import app_rig, said, seen, until
from tests.support.lab import MemoryLab, hostile_scenario, hostile_servers, written
from tests.support.workbench import Rig
from tests.widgets.hostile import HOSTILE, dangerous
from tests.widgets.screen import lines
from widgets import RecordList


async def _show(pilot: Pilot[None], lab: MemoryLab, name: str = "alternate") -> None:
    """Open the page for a scenario, as the page of the scenarios does."""
    file = next(file for file in lab.scenarios() if file.path.stem == name)
    screen = ProfileCompareScreen(lab)
    await pilot.app.push_screen(screen)
    screen.arrive(ProfilesPage(file, Choice("toolsight")))
    await until(pilot, lambda: screen.file is file)


@asynccontextmanager
async def opened(
    lab: MemoryLab, size: tuple[int, int] = (120, 32)
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    async with app_rig(size=size) as (pilot, rig):
        await _show(pilot, lab)
        yield pilot, rig


async def _compared_all(pilot: Pilot[None], count: int) -> None:
    await pilot.press("r")
    await until(pilot, lambda: f"{count} profiles ran" in said(pilot, "#compare-status"))


def _cells(pilot: Pilot[None], measure: str) -> list[str]:
    measures = pilot.app.screen.query_one("#measures", RecordList)
    row = next(record for record in measures.records if record.cells[0] == measure)
    return [str(cell) for cell in row.cells[1:]]


async def test_r_runs_the_scenario_under_static_and_the_current_profile(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path))
    async with opened(lab) as (pilot, _):
        assert lab.runs == []
        await _compared_all(pilot, 2)
        assert [run[1] for run in lab.runs] == ["static", "toolsight"]
        assert _cells(pilot, "model calls") == ["9", "10"]
        assert _cells(pilot, "loops") == ["0", "1"]
        assert _cells(pilot, "outcome") == ["answered", "answered"]
        assert _cells(pilot, "expectations met") == ["3 of 6", "6 of 6"]
        assert "⚠ static: 1 scripted search was rejected" in said(pilot, "#compare-notes")


async def test_esc_stops_the_runs_and_keeps_what_is_there(tmp_path: Path) -> None:
    class Halting(MemoryLab):
        async def run(self, file: ScenarioFile, profile: str, *rest: Any) -> ScenarioResult:
            if profile != "static":
                self.gate.clear()
            return await super().run(file, profile, *rest)

    lab = Halting(written(tmp_path))
    async with opened(lab) as (pilot, _):
        await pilot.press("r")
        await until(pilot, lambda: "running under toolsight" in said(pilot, "#compare-status"))
        await until(pilot, lambda: len(lab.runs) == 2)
        await pilot.press("escape")
        await until(pilot, lambda: lab.cancelled == 1)
        assert "Stopped" in said(pilot, "#compare-status")
        assert _cells(pilot, "model calls") == ["9", "…"]
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, ProfileCompareScreen)


async def test_a_profile_that_fails_says_why_and_the_others_run(tmp_path: Path) -> None:
    class Broken(MemoryLab):
        async def run(self, file: ScenarioFile, profile: str, *rest: Any) -> ScenarioResult:
            if profile == "static":
                raise ConfigError("no server came up", hint="Look at the log.")
            return await super().run(file, profile, *rest)

    async with opened(Broken(written(tmp_path))) as (pilot, _):
        await pilot.press("r")
        await until(pilot, lambda: "✕ static" in said(pilot, "#compare-status"))
        await until(pilot, lambda: "done" in seen(pilot))
        assert "no server came up" in said(pilot, "#compare-status")
        assert "failed" in seen(pilot)
        assert _cells(pilot, "loops") == ["…", "1"]


async def test_profiles_that_do_not_fit_are_an_arrow_away(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path))
    async with opened(lab, size=(80, 24)) as (pilot, _):
        await pilot.press("down", *["down", "space"] * 5)
        await _compared_all(pilot, 7)
        assert "← → show 4 more" in said(pilot, "#compare-status")
        heads = [column.key for column in pilot.app.screen.query_one("#measures", RecordList).columns]
        assert heads == ["measure", "static", "toolsight", "prd"]
        await pilot.press(*["right"] * 9)
        heads = [column.key for column in pilot.app.screen.query_one("#measures", RecordList).columns]
        assert heads == ["measure", "static", "advisory", "stack"]


async def test_hostile_texts_do_no_harm(tmp_path: Path) -> None:
    text = " | ".join(HOSTILE)
    lab = MemoryLab(written(tmp_path, hostile=hostile_scenario(text)), lambda: hostile_servers(text))
    async with app_rig(size=(80, 24)) as (pilot, _):
        await _show(pilot, lab, "hostile")
        await _compared_all(pilot, 2)
        assert not dangerous("".join(lines(pilot.app)))

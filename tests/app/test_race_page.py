"""The race, driven by keys, and how it looks."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Digits

from inspector.app.dialogs.export import ExportDialog
from inspector.app.pages.chat.race.playback import PACES, Playback
from inspector.app.pages.chat.race.screen import RaceScreen
from inspector.app.scenario_job import ScenarioFile
from inspector.domain.error import ConfigError
from inspector.engine.scenario.run import ScenarioResult
from tests.support.app import app_rig, said, until
from tests.support.lab import LOOP, REDUNDANT, MemoryLab, hostile_scenario, hostile_servers, written
from tests.support.workbench import Rig
from tests.widgets.hostile import HOSTILE, dangerous
from tests.widgets.screen import lines
from widgets import PlainInput

DEMO = """
title: Orders and a forecast
about: Two searches, two calls.
turns:
  - user: Which orders are late?
    steps:
      - calls: [{tool: search_tools, arguments: {tool_names: [list_orders]}}]
      - calls: [{tool: "shop:list_orders", arguments: {city: Oslo}}]
      - say: Nine of them.
  - user: And the weather in Oslo?
    steps:
      - calls: [{tool: search_tools, arguments: {tool_names: [get_forecast]}}]
      - calls: [{tool: "weather:get_forecast", arguments: {city: Oslo}}]
      - say: Snow.
"""


def race_lab(folder: Path) -> MemoryLab:
    return MemoryLab(written(folder, demo=DEMO, loop=LOOP, redundant=REDUNDANT))


def _tokens(pilot: Pilot[None]) -> list[int]:
    digits = pilot.app.screen.query(".racer-tokens").results(Digits)
    return [int(one.value.replace(",", "")) for one in digits]


def _screen(pilot: Pilot[None]) -> RaceScreen:
    screen = pilot.app.screen
    assert isinstance(screen, RaceScreen)
    return screen


@asynccontextmanager
async def opened(
    lab: MemoryLab, size: tuple[int, int] = (120, 32), pace: float = 0.0
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    async with app_rig(size=size) as (pilot, rig):
        await pilot.app.push_screen(RaceScreen(lab, pace=pace))
        await until(pilot, lambda: "Reading" not in said(pilot, "#race-said"))
        yield pilot, rig


async def _raced(pilot: Pilot[None], key: str = "r") -> None:
    await pilot.press(key)
    await until(pilot, lambda: "instead of" in said(pilot, "#race-said"))


async def test_a_race_on_other_servers_says_so(tmp_path: Path) -> None:
    lab = race_lab(tmp_path)
    async with opened(lab) as (pilot, _):
        assert "not on yours" not in said(pilot, "#race-status")
    lab.source = "demo.json"
    async with opened(lab, size=(80, 24)) as (pilot, _):
        assert "on the demo's servers, not on yours" in said(pilot, "#race-status")


async def test_r_races_the_demo_under_static_and_the_profile_of_the_session(tmp_path: Path) -> None:
    lab = race_lab(tmp_path)
    async with opened(lab) as (pilot, _):
        assert "starts the race" in said(pilot, "#race-said")
        assert lab.runs == []
        await _raced(pilot)
        assert sorted(run[1] for run in lab.runs) == ["static", "toolsight"]
        static, other = _tokens(pilot)
        assert static > other > 0
        assert f"{1 - other / static:.0%}".replace("%", " %") in said(pilot, "#race-said")
        assert "static: 2 scripted searches left out, 2 model calls fewer." in said(pilot, "#race-said")
        assert "toolsight: 2 more model calls than static" in said(pilot, "#race-said")


async def test_every_model_call_of_a_lane_stands_in_it_with_what_came_of_it(tmp_path: Path) -> None:
    async with opened(race_lab(tmp_path)) as (pilot, _):
        await _raced(pilot, "enter")
        static, other = (said(pilot, f"#racer-{side} .racer-calls").splitlines() for side in (0, 1))
        assert [row.split()[0] for row in static] == ["1", "2", "3", "4"]
        assert [row.split()[0] for row in other] == ["1", "2", "3", "4", "5", "6"]
        assert "calls shop:list_orders" in static[0]
        assert "1 found: list_orders" in other[0]
        assert "answers: Snow." in static[-1]


async def test_what_was_set_in_the_session_goes_with_its_profile_only(tmp_path: Path) -> None:
    lab = race_lab(tmp_path)
    async with opened(lab) as (pilot, rig):
        rig.bench.policy.set("guard.window_repeats", 9)
        await _raced(pilot)
        assert {run[1]: run[2] for run in lab.runs} == {
            "static": {},
            "toolsight": {"guard.window_repeats": 9},
        }


async def test_arrows_go_call_by_call_and_the_lane_that_needs_more_goes_on_alone(tmp_path: Path) -> None:
    async with opened(race_lab(tmp_path)) as (pilot, _):
        await _raced(pilot)
        ends = _tokens(pilot)
        shown = []
        for _ in range(8):
            shown.append(_tokens(pilot))
            await pilot.press("left")
        assert shown[:3] == [ends, [ends[0], shown[1][1]], [ends[0], shown[2][1]]]
        assert ends[1] > shown[1][1] > shown[2][1]
        assert shown[3][0] < ends[0]
        assert shown[6] == shown[7] == [0, 0]
        await pilot.press("right")
        assert _tokens(pilot) == shown[5]
        assert "call 1" in said(pilot, "#race-said")
        assert "paused" in said(pilot, "#race-status")


async def test_space_stands_still_and_goes_on(tmp_path: Path) -> None:
    lab = race_lab(tmp_path)
    lab.gate.clear()
    async with opened(lab) as (pilot, _):
        await pilot.press("r", "space")
        lab.gate.set()
        screen = _screen(pilot)
        await until(pilot, lambda: screen.job.progress is None)
        assert _tokens(pilot) == [0, 0]
        await pilot.press("space")
        await until(pilot, lambda: "instead of" in said(pilot, "#race-said"))


async def test_plus_and_minus_change_the_pace_and_without_animations_there_is_none(tmp_path: Path) -> None:
    async with opened(race_lab(tmp_path), pace=0.6) as (pilot, _):
        assert "no pause between calls" in said(pilot, "#race-status")
        await pilot.press("minus", "minus")
        assert "0.2 s per call" in said(pilot, "#race-status")
        await pilot.press("plus")
        assert "0.1 s per call" in said(pilot, "#race-status")


async def test_with_a_pace_one_call_comes_after_the_other(tmp_path: Path) -> None:
    async with opened(race_lab(tmp_path)) as (pilot, _):
        await _raced(pilot)
        playback = _screen(pilot)._playback
        assert playback.race is not None
        again = Playback(pace=0.6)
        again.race, again.verdict = playback.race, playback.verdict
        calls = [again.frame("toolsight").call]
        while again.advance():
            calls.append(again.frame("toolsight").call)
        assert calls == [0, 1, 2, 3, 4, 5, 6]


def test_the_pace_has_two_ends() -> None:
    playback = Playback(0.6)
    for by, end in ((-1, PACES[0]), (1, PACES[-1])):
        for _ in PACES:
            playback.slower(by)
        assert playback.pace == end


async def test_esc_stops_both_runs_then_leaves(tmp_path: Path) -> None:
    lab = race_lab(tmp_path)
    lab.gate.clear()
    async with opened(lab) as (pilot, _):
        await pilot.press("r")
        await until(pilot, lambda: len(lab.runs) == 2)
        await pilot.press("escape")
        await until(pilot, lambda: lab.cancelled == 2)
        assert "Stopped" in said(pilot, "#race-said")
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, RaceScreen)


async def test_a_run_that_fails_stops_the_other_and_says_why(tmp_path: Path) -> None:
    class Broken(MemoryLab):
        async def run(self, file: ScenarioFile, profile: str, *rest: Any) -> ScenarioResult:
            if profile == "static":
                raise ConfigError("no server came up", hint="Look at the log.")
            return await super().run(file, profile, *rest)

    lab = Broken(written(tmp_path, demo=DEMO))
    lab.gate.clear()
    async with opened(lab) as (pilot, _):
        await pilot.press("r")
        await until(pilot, lambda: "no server came up" in said(pilot, "#race-said"))
        assert lab.cancelled == len(lab.runs)


async def test_another_scenario_and_another_profile_are_a_key_away(tmp_path: Path) -> None:
    lab = race_lab(tmp_path)
    async with opened(lab) as (pilot, _):
        await _raced(pilot)
        await pilot.press("s", "down", "enter")
        await pilot.pause()
        assert "A slash at the end" in said(pilot, "#race-status")
        assert _tokens(pilot) == [0, 0]
        await pilot.press("p", "down", "enter")
        await pilot.pause()
        await _raced(pilot)
        assert {run[1] for run in lab.runs[2:]} == {"static", "prd"}


async def test_e_writes_a_picture_and_a_recording(tmp_path: Path) -> None:
    async with opened(race_lab(tmp_path)) as (pilot, _):
        await pilot.press("e")
        assert not isinstance(pilot.app.screen, ExportDialog)
        await _raced(pilot)
        for name, begins in (("race.svg", "<svg "), ("race.cast", '{"version": 2')):
            await pilot.press("e")
            await until(pilot, lambda: isinstance(pilot.app.screen, ExportDialog))
            pilot.app.screen.query_one(PlainInput).value = str(tmp_path / name)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, RaceScreen))
            assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExportDialog))
        pilot.app.screen.query_one(PlainInput).value = str(tmp_path / "race.png")
        await pilot.press("enter")
        assert "has to end in .svg or .cast" in said(pilot, "#export-problem")


async def test_without_a_lab_the_page_says_how_to_get_one() -> None:
    async with app_rig() as (pilot, _):
        await pilot.app.push_screen(RaceScreen())
        await until(pilot, lambda: "toolsight demo" in said(pilot, "#race-said"))
        await pilot.press("r", "s", "space", "left", "e")


async def test_hostile_texts_do_no_harm(tmp_path: Path) -> None:
    text = " | ".join(HOSTILE)
    lab = MemoryLab(written(tmp_path, hostile=hostile_scenario(text)), lambda: hostile_servers(text))
    async with opened(lab, size=(80, 24)) as (pilot, _):
        file = next(file for file in lab.scenarios() if file.path.stem == "hostile")
        _screen(pilot)._choose_file(str(file.path))
        await _raced(pilot)
        assert not dangerous("".join(lines(pilot.app)))

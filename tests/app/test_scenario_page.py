"""The guard lab, driven by keys, and how it looks."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from hypothesis import example, given, strategies as st
from textual.pilot import Pilot

from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.pages.lab.scenario import GuardLabScreen
from inspector.app.pages.lab.walkthrough import CALL, guard_settings, walkthrough
from inspector.core.events import (
    CallCounted,
    CallRejected,
    CallStarted,
    Event,
    Record,
    SettingsChanged,
    ToolLoaded,
    UserSaid,
)
from inspector.core.settings import GuardSettings, Settings
from inspector.core.stream import LiveSettings
from inspector.loop.iteration_guard import IterationGuard, Outcome
from tests.session.test_timeline import request
from tests.support.app import app_rig, said, until
from tests.support.lab import FAILS, MemoryLab, hostile_scenario, hostile_servers, written
from tests.support.workbench import Rig
from tests.widgets.hostile import HOSTILE, dangerous
from tests.widgets.screen import lines
from widgets import RecordList


@asynccontextmanager
async def opened(
    lab: MemoryLab, size: tuple[int, int] = (120, 32)
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    async with app_rig(size=size) as (pilot, rig):
        await pilot.app.push_screen(GuardLabScreen(lab))
        await until(pilot, lambda: bool(pilot.app.screen.query_one("#scenarios", RecordList).shown))
        yield pilot, rig


async def _ran(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys, "enter")
    await until(pilot, lambda: "step 1 of" in said(pilot, "#lab-status"))


async def test_enter_runs_a_scenario_and_says_what_came_of_it(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path))
    async with opened(lab) as (pilot, _):
        await _ran(pilot)
        assert lab.runs == [("alternate", "toolsight", {})]
        assert "✓ passed, 6 of 6" in said(pilot, "#lab-status")
        await pilot.press("escape", "down", "down")
        await _ran(pilot)
        assert "✕ 2 of 3 not met" in said(pilot, "#lab-status")
        assert lab.runs[1] == ("missed", "kaman", {})


async def _at(pilot: Pilot[None], step: int) -> None:
    await until(pilot, lambda: f"step {step} of" in said(pilot, "#lab-status"))


async def test_a_loop_is_seen_with_its_window_its_guidance_and_its_eviction(tmp_path: Path) -> None:
    async with opened(MemoryLab(written(tmp_path))) as (pilot, _):
        await _ran(pilot)
        await pilot.press("end", "left", "left")
        await _at(pilot, 16)
        guard = said(pilot, "#guard")
        assert "B  C  B  C  B  C [B]" in guard
        assert "calls ■■■▸■ 4/3 ⚠ loop" in guard
        assert '{"city":"Oslo","days":"5"}' in guard
        assert "[Loop detected: weather:get_forecast was called 4 times" in said(pilot, "#read")
        assert "›✕ weather:get_forecast  loop guard: 4 equal calls" in said(pilot, "#bound")
        assert [line[:6] for line in said(pilot, "#happened").splitlines()][2:] == ["✓ loop", "✓ evic"]
        await pilot.press("right")
        await _at(pilot, 17)
        assert "The model must think" in said(pilot, "#read")


async def test_what_never_came_and_what_must_not_come_are_marked(tmp_path: Path) -> None:
    async with opened(MemoryLab(written(tmp_path))) as (pilot, _):
        await _ran(pilot, "down", "down")
        await pilot.press(*["right"] * 3)
        await _at(pilot, 4)
        assert "✕ must not occur: result" in said(pilot, "#happened")
        await pilot.press("end", "down")
        await until(pilot, lambda: "Expected but never happened" in said(pilot, "#about"))
        assert "there is no loop event" in said(pilot, "#about")
        await pilot.press("left")
        await _at(pilot, 6)


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
        assert not isinstance(pilot.app.screen, GuardLabScreen)


async def test_a_run_that_fails_says_why(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path, bad=FAILS))
    async with opened(lab) as (pilot, _):
        await pilot.press("enter")
        await until(pilot, lambda: "there is no tool 'weather:nothing'" in said(pilot, "#lab-status"))
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, GuardLabScreen)


async def test_p_chooses_the_profile_and_what_was_set_goes_with_the_sessions_own(tmp_path: Path) -> None:
    lab = MemoryLab(written(tmp_path))
    async with opened(lab) as (pilot, rig):
        rig.bench.policy.set("guard.window_repeats", 1)
        await _ran(pilot)
        assert lab.runs == [("alternate", "toolsight", {"guard.window_repeats": 1})]
        await pilot.press("p")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        await pilot.press("down", "down", "enter", "r")
        await until(pilot, lambda: len(lab.runs) == 2)
        assert lab.runs[1] == ("alternate", "static", {})
        await until(pilot, lambda: "profile static" in said(pilot, "#lab-status"))
        assert "Guard: off" in str(pilot.app.screen.query_one("#guard").border_title)


async def test_hostile_texts_do_no_harm(tmp_path: Path) -> None:
    text = " | ".join(HOSTILE)
    lab = MemoryLab(written(tmp_path, hostile=hostile_scenario(text)), lambda: hostile_servers(text))
    async with opened(lab, size=(80, 24)) as (pilot, _):
        await _ran(pilot)
        for _ in range(6):
            assert not dangerous("".join(lines(pilot.app)))
            await pilot.press("right")


records_of_calls = st.lists(
    st.tuples(
        st.sampled_from(["a:one", "a:two"]),
        st.sampled_from(["1", "2"]),
        st.integers(0, 90),
        st.sampled_from(["same", "same", "same", "other"]),
        st.sampled_from([False, False, True]),
    ),
    max_size=25,
)


_ALL_RESTART = [("a:one", "same"), ("a:two", "same"), ("a:one", "other"), ("a:two", "same")]


@example([(tool, "1", 0, result, True) for tool, result in _ALL_RESTART], set(), set(), True)
@given(records_of_calls, st.sets(st.integers(0, 24)), st.sets(st.integers(0, 24), max_size=3), st.booleans())
def test_the_counts_of_a_walkthrough_are_those_of_the_guard(
    made: list[tuple[str, str, int, str, bool]], again: set[int], said: set[int], progress: bool
) -> None:
    """The guard says what it counts in each record; between them the walkthrough counts by itself."""
    settings = Settings(guard=GuardSettings(progress=progress))
    guard, now, records = IterationGuard(LiveSettings(settings)), 1000.0, list[Record]()
    counted: list[CallCounted] = []

    def emit(event: Event) -> None:
        records.append(Record("s", len(records) + 1, now, event))

    emit(SettingsChanged("", asdict(settings), ()))
    for number, (tool, value, wait, result, changes) in enumerate(made):
        now += wait
        if number in said:
            guard.new_message()
            emit(UserSaid("again"))
            emit(request(number))
        if number in again:
            guard.clear(tool)
            emit(CallRejected("", tool, "evicted", ""))
            emit(ToolLoaded(tool, 1, "found again"))
        emit(CallStarted(str(number), tool, {"value": value}))
        verdict = guard.after_call(tool, {"value": value}, now, Outcome(result, changes=changes))
        counted.append(verdict.counted)
        emit(counted[-1])
    frames = [frame for frame in walkthrough(records).frames if frame.kind == CALL]
    for frame, event in zip(frames, counted, strict=True):
        by_itself = replace(frame, records=())
        for one in (frame, by_itself):
            newest = one.counters()[0]
            assert (newest.counted, newest.in_time, newest.in_calls) == (event, event.in_time, event.in_calls)


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.floats() | st.text()))
def test_any_recorded_settings_can_be_read(given_guard: dict[str, Any]) -> None:
    guard = guard_settings({"guard": given_guard})
    assert guard.window_calls >= 1
    assert guard_settings({"guard": "odd"}) == GuardSettings()

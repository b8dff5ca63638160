"""The race, driven by keys, and how it looks."""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from hypothesis import given, strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot

from inspector.features.lab.comparison import ModelCallCost
from inspector.features.lab.race.page import RaceScreen, bars
from inspector.features.lab.race.race import RaceFrame, Racer
from tests.support.app import app_rig, is_up_to_date, said, until
from tests.support.fakes import ToldModel, says
from tests.support.lab import MemoryLab, four_servers, hostile_servers
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import Rig
from tests.widgets.hostile import HOSTILE, dangerous
from tests.widgets.screen import lines
from widgets import Confirm

QUESTION = "Which orders are late?"


def race_lab(folder: Path) -> MemoryLab:
    return MemoryLab(folder)


def _tokens(pilot: Pilot[None]) -> list[int]:
    """Both totals, each at the end of its bar."""
    bars = said(pilot, "#race-bars").splitlines()
    numbers = (re.search(r"([\d,]+)$", line) for line in bars if re.match(r"[█▒ ]+[\d,]+$", line))
    return [int(found[1].replace(",", "")) for found in numbers if found is not None]


@asynccontextmanager
async def opened(
    lab: MemoryLab,
    size: tuple[int, int] = (120, 32),
    *,
    asked: tuple[str, ...] = (QUESTION,),
    model: str = "demo/planner",
    servers: Callable[[], dict[str, MemoryServer]] = four_servers,
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    """The race page of a session in which these questions were asked."""
    async with app_rig(*(says("Well.") for _ in asked), servers=servers(), size=size) as (pilot, rig):
        rig.model.name = model
        rig.bench.switch_model(model)
        for question in asked:
            await rig.bench.chat(question)
        await until(pilot, lambda: is_up_to_date(pilot, rig))
        await pilot.app.push_screen(RaceScreen(lab, pace=0.0))
        yield pilot, rig


async def _raced(pilot: Pilot[None], key: str = "r") -> None:
    await pilot.press(key)
    await until(pilot, lambda: "instead of" in said(pilot, "#race-said"))


async def test_r_races_the_last_question_on_the_sessions_servers_with_its_model(tmp_path: Path) -> None:
    lab = race_lab(tmp_path)
    async with opened(lab, asked=("Hello", QUESTION)) as (pilot, rig):
        await _raced(pilot)
        assert sorted((title, profile) for title, profile, _ in lab.runs) == [
            (QUESTION, "static"),
            (QUESTION, "toolsight"),
        ]
        for ground in lab.grounds:
            assert ground.configuration is rig.bench.configuration
            assert ground.model == "demo/planner"
            assert ground.servers == frozenset(rig.bench.state.servers)
        static, other = _tokens(pilot)
        assert static > other > 0
        assert f"{1 - other / static:.0%}".replace("%", " %") in said(pilot, "#race-said")
        assert "3 servers" not in said(pilot, "#race-status")
        assert "4 servers, 17 tools" in said(pilot, "#race-status")
        assert "asked alone, without the earlier conversation" in said(pilot, "#race-said")


async def test_a_real_model_is_asked_twice_only_after_a_yes(tmp_path: Path) -> None:
    lab = race_lab(tmp_path)
    lab.model_for = lambda _: ToldModel(says("Nine."))
    async with opened(lab, model="openai/told") as (pilot, _):
        assert "This asks" in said(pilot, "#race-said")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, RaceScreen))
        assert lab.runs == []
        await pilot.press("r")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await pilot.press("y", "left", "enter")
        await until(pilot, lambda: len(lab.runs) == 2)


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


async def test_hostile_texts_do_no_harm(tmp_path: Path) -> None:
    text = " | ".join(HOSTILE)
    lab = MemoryLab(tmp_path, lambda: hostile_servers(text))
    size = (80, 24)
    async with opened(lab, size, asked=(text,), servers=lambda: hostile_servers(text)) as (pilot, _):
        await _raced(pilot)
        assert not dangerous("".join(lines(pilot.app)))


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(40, 200), st.booleans())
def test_both_bars_are_on_one_scale_and_no_line_is_too_wide(
    one: int, two: int, width: int, over: bool
) -> None:
    racers = tuple(
        Racer((ModelCallCost(1, sent, 2, input_tokens=sent, dollars=0.1),), outcome="answered", profile=name)
        for name, sent in (("static", one), ("toolsight", two))
    )
    drawn = bars(RaceFrame((racers[0], racers[1])), width, over=over)
    rows = drawn.plain.splitlines()
    assert all(cell_len(row) <= width for row in rows)
    shorter, longer = sorted((rows[1].count("█"), rows[3].count("█")))
    assert (one - two) * (rows[1].count("█") - rows[3].count("█")) >= 0
    assert longer <= width - 10
    assert shorter >= 0

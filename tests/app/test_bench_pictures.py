"""How the bench looks: before and after a run, the requests, a threshold's curve; and the plot itself."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import pytest
from hypothesis import given, strategies as st
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from inspector.adapters.memory.vectors import MemoryEmbedder
from inspector.app.draw.plot import Axis, Curve, plot
from inspector.app.pages.lab.bench.request_screen import BenchRequestScreen
from inspector.app.pages.lab.bench.screen import BenchScreen
from inspector.app.pages.lab.calibration.screen import CalibrationScreen
from tests.support.app import until, until_still
from tests.support.office import office
from tests.support.picture import Shown, SnapCompare, still

__all__ = ["still"]

SIZES = [(80, 24), (120, 32)]


def after(*keys: str, light: bool = False) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Press the keys on the bench, each after the work of the one before is done."""

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Shown)
        await until(pilot, lambda: app.is_settled)
        if light:
            app.action_toggle_theme()
        for key in ("f8", *keys):
            await pilot.press(key)
            await until(pilot, partial(DONE[key], pilot))
        await until_still(pilot)

    return run


def _shows(pilot: Pilot[None], page: type[Screen[None]], selector: str, *words: str) -> bool:
    """Whether the page is open and says one of the words."""
    screen = pilot.app.screen
    if not isinstance(screen, page):
        return False
    said = str(screen.query_one(selector, Static).visual)
    return any(word in said for word in words)


DONE: Mapping[str, Callable[[Pilot[None]], bool]] = {
    "f8": lambda pilot: (
        _shows(pilot, BenchScreen, "#bench-facts", "requests over")
        and _shows(pilot, BenchScreen, "#bench-status", "chosen rankers")
    ),
    "r": lambda pilot: _shows(pilot, BenchScreen, "#bench-status", "rankers measured"),
    "down": lambda _pilot: True,
    "enter": lambda pilot: _shows(pilot, BenchRequestScreen, "#request-detail", "needs"),
    "t": lambda pilot: _shows(pilot, CalibrationScreen, "#calibration-facts", "of its probability"),
    "k": lambda pilot: _shows(pilot, CalibrationScreen, "#calibration-facts", "of its cosine"),
}


PICTURES = {
    "before": after(),
    "measured": after("r"),
    "worst": after("r", "enter"),
    "differences": after("r", "down", "down", "enter"),
    "curve": after("t"),
    "cosine": after("t", "k"),
    "light": after("r", "t", light=True),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PICTURES)
def test_the_bench_looks_the_same(snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    app = Shown(servers=office(), embedder=MemoryEmbedder())
    assert snap_compare(app, terminal_size=size, run_before=PICTURES[name])


def _lines(values: list[float | None], width: int = 20, height: int = 4) -> list[str]:
    text = plot([Curve("F", values, "red")], Axis(0.0, 1.0, {}), width, height)
    return str(text).split("\n")


def test_a_curve_that_rises_ends_in_the_first_line_and_begins_in_the_last() -> None:
    drawn = _lines([0.0, 1.0])
    assert drawn[0].endswith("F")
    assert drawn[0][4] == " "
    assert drawn[3][4] != " "
    assert "0.0" in drawn[-1]
    assert "1.0" in drawn[-1]


def test_a_gap_is_not_drawn() -> None:
    assert set("".join(_lines([None, None])[:4])) <= set(" .0159┤│")


@given(st.lists(st.none() | st.floats(-1, 2), max_size=50), st.integers(0, 120), st.integers(1, 20))
def test_a_plot_always_has_its_size(values: list[float | None], width: int, height: int) -> None:
    drawn = _lines(values, width, height)
    assert len(drawn) == height + 3
    assert max(map(len, drawn)) <= max(width, 8)

"""Meters, bars and large numbers fit their place and tell no lie."""

import pytest
from hypothesis import given, strategies as st

from tests.widgets.screen import Host, lines
from widgets import BigNumber, Meter, Segment, stacked
from widgets.meter import big, draw, size_for

VALUES = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-5, 10_000)
SEGMENTS = st.lists(st.builds(Segment, st.text(max_size=5), VALUES), max_size=6)


@given(SEGMENTS, VALUES, st.integers(1, 150), st.none() | st.floats(0, 1))
def test_a_meter_is_exactly_as_wide_as_its_place(
    segments: list[Segment], total: float, width: int, tick: float | None
) -> None:
    assert draw(segments, total, width, tick).cell_length == width


def test_amounts_that_add_up_to_infinity_are_still_drawn() -> None:
    assert draw([Segment("a", 1e308), Segment("b", 1e308)], 0.0, 10).cell_length == 10


@given(st.lists(st.tuples(st.sampled_from("NDPSF"), st.floats(-1, 100), st.just("red")), max_size=6))
def test_a_score_bar_is_exactly_as_wide_as_its_column(parts: list[tuple[str, float, str]]) -> None:
    for width in (0, 1, 24):
        assert [bar.cell_length for bar in stacked([(parts, 10)] * 2, width)] == [width] * 2


def test_a_tick_stands_at_its_share() -> None:
    assert draw([], 100, 10, 0.7).plain == "░░░░░░░┊░░"


@pytest.mark.parametrize("width", [10, 12, 30, 80])
async def test_the_label_is_never_cut(width: int) -> None:
    app = Host(Meter((Segment("tools", 5),), 10, label="5k of 10k"), Meter((), 0))
    async with app.run_test(size=(width, 3)):
        assert "5k of 10k" in lines(app)[0]


async def test_more_than_everything_is_said() -> None:
    app = Host(Meter((Segment("a", 150),), 100, label="150 of 100"), Meter((Segment("a", 1),), 0, label="x"))
    async with app.run_test(size=(60, 3)):
        first, second, _ = lines(app)
        assert "150 of 100  ⚠ over 150 %" in first
        assert "┃" in first
        assert "⚠ over" in second


NUMBERS = st.text("0123456789%×.", min_size=1, max_size=6)


@given(NUMBERS, st.integers(0, 120), st.integers(0, 40))
def test_a_number_never_leaves_its_place_and_would_leave_it_if_it_were_larger(
    text: str, width: int, height: int
) -> None:
    size = size_for(text, width, height)
    drawn = big(text, size)
    assert len(drawn) <= height
    assert all(len(line) <= width for line in drawn)
    larger = big(text, size + 1)
    assert len(larger) > height or len(larger[0]) > width


async def test_a_place_too_small_for_dots_gets_the_text() -> None:
    app = Host(BigNumber())
    async with app.run_test(size=(8, 1)) as pilot:
        app.made.value = "72%"
        await pilot.pause()
        assert "72%" in lines(pilot.app)[0]

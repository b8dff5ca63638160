"""A number as large as there is room."""

from hypothesis import given, strategies as st
from textual.app import App, ComposeResult

from tests.widgets.screen import lines
from widgets import BigNumber
from widgets.meter import big, size_for

NUMBERS = st.text("0123456789%-.", min_size=1, max_size=6)


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


@given(NUMBERS, NUMBERS, st.integers(1, 6))
def test_two_numbers_never_look_the_same(one: str, two: str, size: int) -> None:
    assert (big(one, size) == big(two, size)) is (one == two)


class _Host(App[None]):
    def compose(self) -> ComposeResult:
        yield BigNumber()


async def test_a_place_too_small_for_dots_gets_the_text() -> None:
    async with _Host().run_test(size=(8, 1)) as pilot:
        pilot.app.query_one(BigNumber).value = "72%"
        await pilot.pause()
        assert "72%" in lines(pilot.app)[0]

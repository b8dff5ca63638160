"""Long text is read, searched and copied without waiting."""

from time import perf_counter

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from tests.widgets.hostile import HOSTILE, LONG, dangerous
from tests.widgets.screen import Host, lines, seen
from widgets import TextView, visible
from widgets.text_view import wrap


@given(st.lists(st.text(st.characters(exclude_categories=["C"]))), st.integers(2, 40))
def test_rows_fit_and_lose_nothing_but_the_space_they_break_at(texts: list[str], width: int) -> None:
    texts = [visible(text, newlines=False) for text in texts]
    rows = wrap(texts, width)
    assert all(cell_len(texts[number][start:end].rstrip(" ")) <= width for number, start, end in rows)
    for number, text in enumerate(texts):
        pieces = [text[start:end] for row, start, end in rows if row == number]
        assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    "text", [LONG, "漢" * 500_000, "\n".join(map(str, range(100_000))), "\x1b" * 300_000]
)
async def test_long_text_is_shown_at_once(text: str) -> None:
    app = Host(TextView())
    async with app.run_test() as pilot:
        started = perf_counter()
        app.made.text = text
        await pilot.press("end")
        assert perf_counter() - started < 2.5
        assert lines(app)[-1].strip()


async def test_a_log_shows_its_newest_line() -> None:
    app = Host(TextView("\n".join(f"line {n}" for n in range(100)), follow=True))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert "line 99" in seen(app.made.lines)
        app.made.text += "\nnewest"
        await pilot.pause()
        assert "newest" in seen(app.made.lines)


async def test_search_counts_and_steps_from_match_to_match() -> None:
    app = Host(TextView("\n".join(f"line {n}" for n in range(1_000))))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("slash", *"LINE 99", "enter")
        assert "11 found" in lines(app)[-1]
        assert seen(app.made.lines).splitlines()[0].strip() == "line 99"
        await pilot.press("n")
        assert seen(app.made.lines).splitlines()[0].strip() == "line 990"
        await pilot.press("N")
        assert seen(app.made.lines).splitlines()[0].strip() == "line 99"
        await pilot.press("escape")
        await pilot.pause()
        assert "found" not in lines(app)[-1]
        assert app.focused is app.made.lines


@pytest.mark.parametrize("width", [3, 80])
async def test_hostile_text_is_harmless(width: int) -> None:
    app = Host(TextView("\n".join(HOSTILE)))
    async with app.run_test(size=(width, 60)) as pilot:
        await pilot.press("slash", "[", "enter")
        assert dangerous("".join(lines(app))) == []
        assert dangerous(seen(app.made.lines).replace("\n", "")) == []


async def test_a_new_width_keeps_the_place() -> None:
    app = Host(TextView("\n".join(f"number {n} " + "word " * 20 for n in range(200))))
    async with app.run_test(size=(120, 10)) as pilot:
        await pilot.press("end", "pageup")
        first = lines(app)[0].split()[1]
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert lines(app)[0].split()[1] == first

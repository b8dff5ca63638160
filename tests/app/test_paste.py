"""A paste of any size: inputs take a part of it that can still be edited, and say what they left out."""

import pytest
from hypothesis import given, strategies as st
from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Input, TextArea

from inspector.app.terminal import MOST_BREAKS, MOST_BYTES, TerminalApp, fitting
from inspector.features.search.draft import DescriptionArea
from widgets import PlainInput, Prompt

MEGABYTE = 1_000_000
CUT = "Pasted 200 kB of 1 MB; the rest was cut. An input holds at most 200 kB."


class Inputs(TerminalApp[None]):
    """Every kind of input that a person can paste into."""

    def compose(self) -> ComposeResult:
        yield Prompt(id="prompt")
        yield PlainInput(id="line")
        yield DescriptionArea(id="description")
        yield TextArea(id="json")


def notes(app: App[None]) -> list[str]:
    return [note.message for note in app._notifications]


@pytest.mark.parametrize("name", ["prompt", "description"])
async def test_every_input_takes_200_kb_of_a_paste_and_says_what_it_cut(name: str) -> None:
    app = Inputs()
    async with app.run_test() as pilot:
        widget = app.query_one(f"#{name}")
        widget.focus()
        app.post_message(events.Paste("word " * (MEGABYTE // 5)))
        await pilot.press("Z")
        text = widget.value if isinstance(widget, Input) else getattr(widget, "text", "")
        assert len(text) == MOST_BYTES + 1
        assert text.endswith("word Z")
        assert notes(app) == [CUT]


@given(st.text(alphabet="a é表\n\r\t\ud800"), st.text(alphabet="a表\n"), st.integers(0, 60))
def test_a_cut_text_is_a_beginning_that_fits_beside_what_is_held(text: str, held: str, extra: int) -> None:
    filled = held + "x" * (MOST_BYTES - len(held.encode()) - extra)
    kept = fitting(text, filled)
    together = filled + kept
    assert text.startswith(kept) or "\ud800" in text
    assert len(together.encode(errors="replace")) <= MOST_BYTES
    if len(text.encode(errors="replace")) <= extra:
        assert kept == text


def test_line_breaks_and_tabs_are_limited_too_for_each_is_as_slow_as_ten_letters() -> None:
    for sign in "\n\r\t":
        assert fitting(sign * MEGABYTE) == sign * MOST_BREAKS
        assert fitting("a" + sign, sign * MOST_BREAKS) == "a"
    csv = "some,cells,of,a,row\n" * (MOST_BYTES // 20)
    assert fitting(csv) == csv

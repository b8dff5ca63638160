"""Whatever colors a list's row can be read while it is selected, on the dark theme and on the light one."""

from typing import Any, get_args

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.content import Content
from textual.theme import Theme

from inspector.app.draw.line import MUTED
from inspector.app.terminal import DARK, LIGHT
from inspector.features.search.score_text import COLORS
from widgets import Column, Record, RecordList, Tone

LEAST = 4.5
"""WCAG's level AA, for text of usual size."""


class Listed(App[None]):
    """A row of every tone, and one of every color of a score, and of the quiet one."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.register_theme(theme)
        self.theme = theme.name

    def compose(self) -> ComposeResult:
        tones = [Record(tone or "plain", (f"word {tone}",), tone) for tone in get_args(Tone)]
        scores = [
            Record(color, (Content.styled("word", color),)) for color in sorted({*COLORS.values(), MUTED})
        ]
        yield RecordList((Column("text"),), [*tones, *scores])


def _contrast(part: Segment) -> float:
    """How far text stands out, from 1 to 21, as WCAG reckons."""

    def luminance(color: Any) -> float:
        parts = (value / 255 for value in color.get_truecolor())
        red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
        return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)

    assert part.style is not None
    low, high = sorted(luminance(one) for one in (part.style.color, part.style.bgcolor))
    return float((high + 0.05) / (low + 0.05))


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
async def test_every_color_of_a_row_can_be_read_under_the_cursor(theme: Theme) -> None:
    app = Listed(theme)
    async with app.run_test(size=(40, 24)) as pilot:
        found = app.query_one(RecordList)
        found.rows.focus()
        told = dict[str, float]()
        for number, record in enumerate(found.records):
            found.rows.move_to(number)
            await pilot.pause()
            strip = app.screen._compositor.render_strips()[number]
            told[record.key] = min(_contrast(part) for part in strip if "word" in part.text)
        assert {key: value for key, value in told.items() if value < LEAST} == {}

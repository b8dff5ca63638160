"""`Meter`: how full something is, and of what, on one line; bars beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct
from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from widgets.text import plain, shorten

_BODY = "━"


Stack = tuple[Sequence[tuple[str, float, str]], float]
"""A letter, a value and a style for each part of a bar, and what a full bar is worth (the best score)."""


def stacked(bars: Iterable[Stack], width: int) -> list[Content]:
    """Draw bars like `N━━━D━P━`: each part begins with its letter and is as long as its share of a full bar.

    Values of 0 or less are skipped. Each bar has exactly `width` cells.
    """
    return [_stack(parts, width, maximum) for parts, maximum in bars]


def _stack(parts: Sequence[tuple[str, float, str]], width: int, maximum: float) -> Content:
    if width <= 0:
        return Content("")
    shown = [part for part in parts if part[1] > 0]
    scale = max(maximum, sum(value for _, value, _ in shown))
    pieces: list[Content] = []
    drawn, so_far = 0, 0.0
    for letter, value, style in shown:
        so_far += value
        length = round(so_far / scale * width) - drawn
        if length > 0:
            pieces.append(Content.styled(letter[:1] + _BODY * (length - 1), style))
            drawn += length
    return Content("").join([*pieces, Content(" " * (width - drawn))])


# Three by five dots for each character.
_FONT = {
    " ": ("   ", "   ", "   ", "   ", "   "),
    "0": ("###", "# #", "# #", "# #", "###"),
    "1": (" # ", "## ", " # ", " # ", "###"),
    "2": ("###", "  #", "###", "#  ", "###"),
    "3": ("###", "  #", "###", "  #", "###"),
    "4": ("# #", "# #", "###", "  #", "  #"),
    "5": ("###", "#  ", "###", "  #", "###"),
    "6": ("###", "#  ", "###", "# #", "###"),
    "7": ("###", "  #", "  #", " # ", " # "),
    "8": ("###", "# #", "###", "# #", "###"),
    "9": ("###", "# #", "###", "  #", "###"),
    "%": ("# #", "  #", " # ", "#  ", "# #"),
    "×": ("   ", "# #", " # ", "# #", "   "),
    ".": ("   ", "   ", "   ", "   ", " # "),
}
_WIDTH, _HEIGHT = 3, 5
# A cell is twice as high as it is wide, so that half a cell is a dot.
_CELLS = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def size_for(text: str, width: int, height: int) -> int:
    """Return the largest size of a dot, in cells across, at which the text fits; 0 if none does."""
    across = max(len(text) * (_WIDTH + 1) - 1, 1)
    return max(min(width // across, 2 * height // _HEIGHT), 0)


def big(text: str, size: int) -> list[str]:
    """Draw digits, `%`, `×` and `.`, a line a row.

    A dot is `size` cells across and half of that down. Any other character is left out.
    """
    glyphs = [_FONT[character] for character in text if character in _FONT]
    if size <= 0 or not glyphs:
        return []
    dots = [
        [dot == "#" for dot in " ".join(glyph[row] for glyph in glyphs) for _ in range(size)]
        for row in range(_HEIGHT)
        for _ in range(size)
    ]
    if len(dots) % 2:
        dots.append([False] * len(dots[0]))
    pairs = zip(dots[::2], dots[1::2], strict=True)
    return ["".join(_CELLS[pair] for pair in zip(upper, lower, strict=True)) for upper, lower in pairs]


class BigNumber(Widget):
    """Fills its place with a number; a place too small for dots gets the text itself."""

    DEFAULT_CSS = "BigNumber { width: 1fr; height: 1fr; content-align: center middle; }"

    value: reactive[str] = reactive("")

    def render(self) -> RenderResult:
        size = size_for(self.value, self.content_size.width, self.content_size.height)
        return Content("\n".join(big(self.value, size)) or self.value)


_EIGHTHS = " ▏▎▍▌▋▊▉█"
_TRACK, _TICK, _LIMIT = "░", "┊", "┃"
_LEAST_BAR = 4
_MOST = 1e100


class Segment(Struct, frozen=True):
    """A part of a meter.

    Args:
        label: The name that `legend` shows.
        value: Its size; negative values count as 0.
        color: Such as "$primary".
    """

    label: str
    value: float
    color: str = "$primary"

    @property
    def amount(self) -> float:
        """The value, made drawable."""
        return _drawable(self.value)


def _drawable(value: float) -> float:
    """Return 0 for a negative or non-finite value, and cap it so that sums stay finite."""
    return min(value, _MOST) if math.isfinite(value) and value > 0 else 0.0


def short_number(value: float) -> str:
    """Return 950 as "950", 4096 as "4.1k", 2500000 as "2.5M"."""
    for least, size, unit in ((999_950, 1e6, "M"), (999.5, 1e3, "k")):
        if abs(value) >= least:
            return f"{value / size:.1f}{unit}"
    return f"{value:.0f}"


def legend(segments: Sequence[Segment], *, number: Callable[[float], str] = short_number) -> Content:
    """Return each segment's name and value after a block in its color."""
    entries = (
        Content.assemble(
            ("█", segment.color), " ", plain(segment.label, newlines=False), " ", number(segment.amount)
        )
        for segment in segments
    )
    return Content("   ").join(entries)


def draw(segments: Sequence[Segment], total: float, width: int, tick: float | None = None) -> Content:
    """Draw a stacked bar, exactly `width` cells wide.

    Every part above 0 is visible. When the parts exceed the total, the bar is scaled to them and a heavy line
    marks the total.
    """
    total = _drawable(total)
    used = sum(segment.amount for segment in segments)
    scale = max(total, used) or 1.0
    edges = _edges(segments, scale, width * 8)
    over = used > total
    marks = {} if tick is None or not total else {min(width - 1, int(tick * total / scale * width)): _TICK}
    if over:
        marks[min(width - 1, int(total / scale * width))] = _LIMIT
    return Content("").join([_cell(x, edges, marks.get(x, "")) for x in range(width)]).simplify()


def _edges(segments: Sequence[Segment], scale: float, eighths: int) -> list[tuple[int, str]]:
    """Return where each segment ends, in eighths of a cell, and its color."""
    edges: list[tuple[int, str]] = []
    position, so_far = 0, 0.0
    for segment in segments:
        so_far += segment.amount
        if segment.amount:
            position = min(eighths, max(position + 1, round(so_far / scale * eighths)))
            edges.append((position, segment.color))
    return edges


def _cell(x: int, edges: Sequence[tuple[int, str]], mark: str) -> Content:
    start, end = x * 8, x * 8 + 8
    inside = [(min(edge, end) - start, color) for edge, color in edges if edge > start]
    if not inside:
        return Content.styled(mark or _TRACK, "$error bold" if mark == _LIMIT else "$foreground 40%")
    filled, color = inside[0]
    if mark:
        return Content.styled(mark, f"bold $background on {color}")
    if filled == 8:
        return Content.styled("█", color)
    beside = inside[1][1] if len(inside) > 1 else ""
    return Content.styled(_EIGHTHS[filled], f"{color} on {beside}" if beside else color)


class Meter(Widget):
    """A stacked bar with a tick and a label on its right; one line, any width.

    When there is too little room the label replaces the bar, because numbers are never cut.
    """

    DEFAULT_CSS = """
    Meter { height: 1; width: 1fr; }
    """

    segments: reactive[tuple[Segment, ...]] = reactive(())
    """The parts, from left to right."""
    total: reactive[float] = reactive(0.0)
    """The value of a full bar."""
    tick: reactive[float | None] = reactive(None)
    """The position of a thin line, as a share of the total: 0.7 for 70 %."""
    label: reactive[str | Content] = reactive("")
    """The text on the right."""

    def __init__(
        self,
        segments: Sequence[Segment] = (),
        total: float = 0.0,
        *,
        tick: float | None = None,
        label: str | Content = "",
        **options: Any,
    ) -> None:
        """Create a meter; the arguments are its reactives, the `options` those of any widget."""
        super().__init__(**options)
        self.set_reactive(Meter.segments, tuple(segments))
        self.set_reactive(Meter.total, total)
        self.set_reactive(Meter.tick, tick)
        self.set_reactive(Meter.label, label)

    @property
    def used(self) -> float:
        """The sum of the segments."""
        return sum(segment.amount for segment in self.segments)

    def render(self) -> Content:
        width = self.size.width
        label = self._label()
        room = width - label.cell_length - 2 if label else width
        if room < _LEAST_BAR:
            return (
                shorten(label, width) if label else draw(self.segments, self.total, max(0, width), self.tick)
            )
        bar = draw(self.segments, self.total, room, self.tick)
        return Content.assemble(bar, "  ", label) if label else bar

    def _label(self) -> Content:
        label = plain(self.label, newlines=False) if isinstance(self.label, str) else self.label
        if self.used <= max(0.0, self.total):
            return label
        share = f" {self.used / self.total * 100:.0f} %" if self.total > 0 else ""
        warning = Content.styled(f"⚠ over{share}", "$text-error bold")
        both = Content.assemble(label, "  ", warning) if label else warning
        return both if cell_len(both.plain) + _LEAST_BAR + 2 <= self.size.width else warning

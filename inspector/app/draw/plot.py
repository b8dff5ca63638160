"""Curves in a terminal, drawn as braille dots and distinguished by pattern and letter as well as color."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content

from inspector.app.draw.line import MUTED

_DOTS_X, _DOTS_Y = 2, 4
_BRAILLE = 0x2800
# The bit of each dot of a cell, by column and row (Unicode, block Braille Patterns).
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_LEAST_LABEL = 3
_TICKS = 5
_ROUND = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Curve:
    """Values at equal distances from 0 to the top of the scale, None for a gap.

    `letter` marks the curve's end. Of every `period` dots, from the left, the first `drawn` are drawn.
    """

    letter: str
    values: Sequence[float | None]
    style: str
    drawn: int = 1
    period: int = 1


@dataclass(frozen=True, slots=True)
class Scale:
    """The vertical axis from 0 to `top`, and the format of its numbers."""

    top: float
    text: Callable[[float], str]

    def share(self, value: float) -> float:
        """Return a value's position between the ends, clamped to 0 and 1."""
        return min(max(value / self.top, 0.0), 1.0) if self.top > 0 else 0.0


def plot(
    curves: Sequence[Curve], first: int, last: int, width: int, height: int, scale: Scale
) -> list[Content]:
    """Draw the curves over the numbers from `first` to `last`, in lines of at most `width` cells.

    There are `height` lines of dots, and two below. A cell where curves cross has the color of the first one.
    """
    marked = {height - 1: 0.0, (height - 1) // 2: scale.top / 2, 0: scale.top}
    levels = {row: scale.text(value) for row, value in marked.items()}
    label = max(_LEAST_LABEL, *map(len, levels.values()))
    room = max(width - label - len(curves) - 2, 1)
    cells = _cells(curves, room, height, scale)
    ends = [_end(curve, height, scale) for curve in curves]
    lines = [
        Content.assemble(
            (f"{levels.get(row, ''):>{label}}{'┤' if row in levels else '│'}", MUTED),
            *(_cell(cells, column, row) for column in range(room)),
            " ",
            *(
                (curve.letter, f"bold {curve.style}")
                for curve, end in zip(curves, ends, strict=True)
                if end == row
            ),
        )
        for row in range(height)
    ]
    return [*lines, *_below(first, last, room, label)]


def _cell(cells: Mapping[tuple[int, int], tuple[int, str]], column: int, row: int) -> tuple[str, str]:
    bits, style = cells.get((column, row), (0, ""))
    return (chr(_BRAILLE + bits), style) if bits else (" ", "")


def _cells(
    curves: Sequence[Curve], room: int, height: int, scale: Scale
) -> dict[tuple[int, int], tuple[int, str]]:
    """Return the dots and the color of each cell that has dots."""
    cells: dict[tuple[int, int], tuple[int, str]] = {}
    for curve in curves:
        for x, y in _dots(curve, room * _DOTS_X, height * _DOTS_Y, scale):
            cell = (x // _DOTS_X, y // _DOTS_Y)
            bits, style = cells.get(cell, (0, curve.style))
            cells[cell] = (bits | _BITS[x % _DOTS_X][y % _DOTS_Y], style)
    return cells


def _dots(curve: Curve, across: int, down: int, scale: Scale) -> Iterator[tuple[int, int]]:
    """Return the curve's dots from the top left; steep parts are filled in."""
    before: int | None = None
    for x in range(across):
        value = _value(curve.values, x / max(across - 1, 1))
        if value is None:
            before = None
            continue
        y = round((1 - scale.share(value)) * (down - 1))
        if x % curve.period < curve.drawn:
            low, high = (y, y) if before is None else sorted((y, before + (y > before) - (y < before)))
            yield from ((x, dot) for dot in range(low, high + 1))
        before = y


def _value(values: Sequence[float | None], share: float) -> float | None:
    """Interpolate linearly between neighbors; None if either has no value."""
    if not values:
        return None
    position = share * (len(values) - 1)
    left = values[int(position)]
    right = values[min(int(position) + 1, len(values) - 1)]
    part = position - int(position)
    if part == 0.0:
        return left
    return None if left is None or right is None else left + (right - left) * part


def _end(curve: Curve, height: int, scale: Scale) -> int:
    """Return the row of the curve's last value, -1 if it has none."""
    last = next((value for value in reversed(curve.values) if value is not None), None)
    if last is None:
        return -1
    return round((1 - scale.share(last)) * (height * _DOTS_Y - 1)) // _DOTS_Y


def _below(first: int, last: int, room: int, label: int) -> Iterator[Content]:
    """The axis and its numbers."""
    line, numbers = ["─"] * room, [" "] * room
    for tick in whole_ticks(first, last):
        column = round((tick - first) / max(last - first, 1) * (room - 1))
        line[column] = "┴"
        start = min(max(column - len(str(tick)) // 2, 0), max(room - len(str(tick)), 0))
        numbers[start : start + len(str(tick))] = str(tick)
    yield Content.styled(f"{' ' * label}└{''.join(line)}", MUTED)
    yield Content.styled(f"{' ' * label} {''.join(numbers)}", MUTED)


def round_above(value: float) -> float:
    """Return the next round number whose half is round too, close above the value."""
    if value <= 0:
        return 1.0
    size: float = 10.0 ** math.floor(math.log10(value))
    return next((step * size for step in _ROUND if step * size >= value), 10 * size)


def whole_ticks(first: int, last: int) -> list[int]:
    """Return at most five whole numbers from end to end."""
    steps = min(last - first, _TICKS - 1)
    return (
        [first + round((last - first) * number / steps) for number in range(steps + 1)]
        if steps > 0
        else [first]
    )

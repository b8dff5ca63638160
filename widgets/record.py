"""What a list shows: records, columns, and the arithmetic that fits columns into a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from textual.content import Content

from widgets.terminal_text import visible
from widgets.text import matcher, safe

Tone = Literal["", "muted", "success", "warning", "error", "accent"]
"""What a row wants to say beyond its text; the text has to say it too."""

CELL_LIMIT = 1_000
"""No list shows more of a cell than this."""

GAP = 2
"""Blank cells between two columns."""

_SAMPLE = 2_000


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a list.

    Args:
        key: Names the column.
        header: What stands above it.
        width: A fixed width in cells; `None` takes a share of what is left.
        align: Numbers align right; a right-aligned cell is never cut, its column goes first.
        shorten: Where text that is too long loses its characters.
        min_width: The least that a column without a fixed width gets.
        weight: Its share of the width that is left, and its claim to stay when there is too little.
        hide_below: Leave the column out when the list is narrower than this.
    """

    key: str
    header: str = ""
    width: int | None = None
    align: Literal["left", "right"] = "left"
    shorten: Literal["middle", "end"] = "end"
    min_width: int = 4
    weight: int = 1
    hide_below: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a list.

    Args:
        key: Names the record; unique in its list. Any text.
        cells: One for each column. A string is shown as it is, never as markup.
        tone: Colours the whole row.
        search: What the filter looks at; the cells when empty.
        detail: The second line, in lists with two lines a row.
        copy: What `y` copies; the cells when empty.
    """

    key: str
    cells: tuple[Content | str, ...]
    tone: Tone = ""
    search: str = ""
    detail: Content | str = ""
    copy: str = ""

    def haystack(self) -> str:
        """Return the text that a filter looks at, case-folded."""
        text = self.search or " ".join([*map(str, self.cells), str(self.detail)])
        return text.casefold()

    def copy_text(self) -> str:
        """Return the row as plain text, safe to paste."""
        text = self.copy or "  ".join(filter(None, [*map(str, self.cells), str(self.detail)]))
        return visible(text, limit=100_000)


class RecordFilter:
    """Finds the records that hold every word of a query, and remembers what it has to look at."""

    def __init__(self) -> None:
        self._records: tuple[Record, ...] = ()
        self._haystacks: list[str] = []

    def apply(self, records: tuple[Record, ...], query: str) -> tuple[Record, ...]:
        """Return the records that hold every word, in their order."""
        if not query.strip():
            return records
        if records is not self._records:
            self._records, self._haystacks = records, [record.haystack() for record in records]
        matches = matcher(query)
        pairs = zip(records, self._haystacks, strict=True)
        return tuple(record for record, text in pairs if matches(text))


def cell(content: Content | str) -> Content:
    """Return what a cell shows: one harmless line."""
    return safe(content, limit=CELL_LIMIT, newlines=False)


def natural_widths(columns: Sequence[Column], records: Sequence[Record]) -> tuple[int, ...]:
    """Return the width that each column would like to have.

    Right-aligned columns look at every record, because they may not cut; the others at a sample.
    """
    sample = records[:_SAMPLE]
    return tuple(
        max(
            cell_len(column.header),
            max(
                (
                    _cell_width(record.cells[index])
                    for record in (records if column.align == "right" else sample)
                    if index < len(record.cells)
                ),
                default=0,
            ),
        )
        for index, column in enumerate(columns)
    )


def _cell_width(content: Content | str) -> int:
    if (
        isinstance(content, str)
        and len(content) <= CELL_LIMIT
        and content.isascii()
        and content.isprintable()
    ):
        return len(content)
    return cell(content).cell_length


def layout(columns: Sequence[Column], naturals: Sequence[int], width: int) -> dict[int, int]:
    """Fit columns into `width` cells.

    Returns:
        The width of each shown column by its index, in order. Widths and gaps add up to `width` at most.
    """
    shown = [
        index
        for index, column in enumerate(columns)
        if column.hide_below is None or width >= column.hide_below
    ]
    while len(shown) > 1 and _needed(shown, columns, naturals) > width:
        shown.remove(_least_wanted(shown, columns))
    if not shown or width <= 0:
        return {}
    if len(shown) == 1:
        return {shown[0]: width}
    return _shared(shown, columns, naturals, width)


def _least(index: int, columns: Sequence[Column], naturals: Sequence[int]) -> int:
    """Return the least width a column can live with."""
    column = columns[index]
    if column.align == "right":
        return max(column.width or 0, naturals[index])
    if column.width is not None:
        return column.width
    return max(1, min(column.min_width, naturals[index]))


def _needed(shown: Sequence[int], columns: Sequence[Column], naturals: Sequence[int]) -> int:
    return sum(_least(index, columns, naturals) for index in shown) + GAP * (len(shown) - 1)


def _least_wanted(shown: Sequence[int], columns: Sequence[Column]) -> int:
    """Return the column to leave out next: the lightest, the rightmost of those, never the first."""
    return min(shown[1:], key=lambda index: (columns[index].weight, -index))


def _shared(
    shown: Sequence[int], columns: Sequence[Column], naturals: Sequence[int], width: int
) -> dict[int, int]:
    widths = {index: _least(index, columns, naturals) for index in shown}
    left = width - sum(widths.values()) - GAP * (len(shown) - 1)
    flexible = [index for index in shown if columns[index].width is None and columns[index].align == "left"]
    if not flexible:
        return widths
    growing = flexible
    while left > 0 and (growing := [index for index in growing if widths[index] < naturals[index]]):
        total = sum(columns[index].weight for index in growing) or 1
        budget = left
        for index in growing:
            wish = naturals[index] - widths[index]
            extra = min(left, wish, max(1, budget * columns[index].weight // total))
            widths[index] += extra
            left -= extra
    widths[max(flexible, key=lambda index: columns[index].weight)] += left
    return widths

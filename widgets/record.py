"""Records and columns of a list, and the layout that fits columns into a width."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from msgspec import Struct
from rich.cells import cell_len
from textual.content import Content

from widgets.terminal_text import visible
from widgets.text import safe

Tone = Literal["", "muted", "success", "warning", "error", "accent"]
"""The color of a row; its text has to say the same."""

CELL_LIMIT = 1_000
"""The most characters of a cell that a list shows."""

GAP = 2
"""Blank cells between columns."""

_SAMPLE = 2_000
_DASH = " –"


class Column(Struct, frozen=True):
    """One column of a list.

    Args:
        key: The column's name.
        header: The text above it.
        width: A fixed width in cells; `None` takes a share of the remaining width.
        align: "right" for numbers: a right-aligned cell is never cut, the column is hidden instead.
        shorten: Where text that is too long is cut; as a "name" it stays different from the column's others.
        min_width: The minimum for a column without a fixed width.
        weight: Its share of the remaining width, and its priority when columns must be hidden.
        hide_below: Hide the column when the list is narrower than this.
        yields: Hide the column before any text is shortened.
    """

    key: str
    header: str = ""
    width: int | None = None
    align: Literal["left", "right"] = "left"
    shorten: Literal["middle", "end", "name"] = "end"
    min_width: int = 4
    weight: int = 1
    hide_below: int | None = None
    yields: bool = False


class Record(Struct, frozen=True):
    """One row of a list.

    Args:
        key: The record's name, unique in its list; any text.
        cells: One for each column; strings are never read as markup.
        tone: The color of the whole row.
        search: The text that the filter searches; the cells when empty.
        detail: The second line, in lists with two lines a row.
        copy: The text that `y` copies; the cells when empty.
        is_heading: Whether it stands above a group of rows: a filter that shows one of them shows it too.
    """

    key: str
    cells: tuple[Content | str, ...]
    tone: Tone = ""
    search: str = ""
    detail: Content | str = ""
    copy: str = ""
    is_heading: bool = False

    def haystack(self) -> str:
        """Return the text that the filter searches, case-folded."""
        text = self.search or " ".join([*map(str, self.cells), str(self.detail)])
        return text.casefold()

    def copy_text(self) -> str:
        """Return the row as plain text, safe to paste."""
        text = self.copy or "  ".join(filter(None, [*map(str, self.cells), str(self.detail)]))
        return visible(text, limit=100_000)


def cell(content: Content | str) -> Content:
    """Return a cell as one line that is safe to show."""
    return safe(content, limit=CELL_LIMIT, newlines=False)


def cell_text(content: Content | str) -> str:
    """Return the text of a cell as it is shown where there is room."""
    return visible(str(content), limit=CELL_LIMIT, newlines=False)


def natural_widths(columns: Sequence[Column], records: Sequence[Record]) -> tuple[int, ...]:
    """Return the width that each column needs to show its cells whole, or has anyway.

    Right-aligned columns measure every record, because they are never cut; the others a sample.
    """
    sample = records[:_SAMPLE]
    return tuple(
        column.width
        if column.width is not None and column.align == "left"
        else max(
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


def silent_columns(columns: Sequence[Column], records: Sequence[Record]) -> frozenset[int]:
    """Return the columns that tell no row from another: all are empty, or several texts are the same.

    A dash is as good as empty. Kept are names, numbers that happen to be equal, and words whose rows all have
    the same color, which may stand for one of them: a color never speaks alone.
    """
    tones = {record.tone for record in records}
    is_plain = len(tones) > 1 or tones <= {"", "muted"}

    def says(record: Record, index: int) -> str:
        return str(record.cells[index]).strip(_DASH) if index < len(record.cells) else ""

    def is_silent(index: int) -> bool:
        first, column = says(records[0], index), columns[index]
        is_word = is_plain and column.align == "left" and column.shorten != "name"
        return (not first or (is_word and len(records) > 1)) and all(
            says(one, index) == first for one in records
        )

    return frozenset(index for index in range(len(columns)) if records and is_silent(index))


def layout(
    columns: Sequence[Column], naturals: Sequence[int], width: int, silent: Collection[int] = ()
) -> dict[int, int]:
    """Fit columns into `width` cells. The `silent` ones, and then those that yield, give way before any text.

    Returns:
        The width of each shown column by index, in order. Widths and gaps add up to at most `width`.
    """
    shown = [
        index
        for index, column in enumerate(columns)
        if column.hide_below is None or width >= column.hide_below
    ]
    yielding = {index for index in shown if columns[index].yields}
    widths: dict[int, int] = {}
    for hidden in (set[int](), set(silent), yielding.union(silent)):
        kept = [index for index in shown if index not in hidden]
        widths = _fitted(kept, columns, naturals, width) or widths
        if all(part >= naturals[index] or columns[index].width is not None for index, part in widths.items()):
            break
    return widths


def _fitted(
    shown: list[int], columns: Sequence[Column], naturals: Sequence[int], width: int
) -> dict[int, int]:
    while (
        len(shown) > 1
        and (sum(_least(index, columns, naturals) for index in shown) + GAP * (len(shown) - 1)) > width
    ):
        shown.remove(_least_wanted(shown, columns))
    if not shown or width <= 0:
        return {}
    if len(shown) == 1:
        return {shown[0]: width}
    return _shared(shown, columns, naturals, width)


def _least(index: int, columns: Sequence[Column], naturals: Sequence[int]) -> int:
    """Return the minimum width of a column."""
    column = columns[index]
    if column.align == "right":
        return max(column.width or 0, naturals[index])
    if column.width is not None:
        return column.width
    return max(1, min(column.min_width, naturals[index]))


def _least_wanted(shown: Sequence[int], columns: Sequence[Column]) -> int:
    """Return the column to hide next: the one of least weight, the rightmost of those, never the first."""
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

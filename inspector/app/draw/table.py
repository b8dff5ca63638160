"""A table as lines of a given width: columns if they fit, else one block per row.

Numbers are never cut. Headers and text cells wrap between words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.core.report import Table
from widgets import visible

# The minimum width of a text column, unless its text is shorter.
_NARROWEST = 12
_GAPS = (2, 1)
_PUBLISHED = ("paper", "published")


def table_lines(table: Table, width: int) -> Iterator[Content]:
    """Return the table in lines of at most `width` cells, unless `width` is tiny.

    Columns of published numbers are muted, measured ones are not.
    """
    headers = [_line(header) for header in table.headers]
    rows = [[_line(cell) for cell in row] for row in table.rows]
    for gap in _GAPS:
        widths = _widths(headers, rows, table.right, width - gap * (len(headers) - 1))
        if widths is not None:
            return _columns(headers, rows, _Layout(tuple(widths), table.right, gap))
    return _blocks(headers, rows)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The widths of the columns, which of them hold numbers, and the gap between two."""

    widths: tuple[int, ...]
    right: frozenset[int]
    gap: int

    def lines(self, cells: Sequence[str], styles: Sequence[str]) -> Iterator[Content]:
        """Return one row; wrapped text takes more than one line."""
        columns = [wrap(cell, max(width, 1)) or [""] for cell, width in zip(cells, self.widths, strict=True)]
        for parts in zip_longest(*columns, fillvalue=""):
            yield (
                Content(" " * self.gap)
                .join(
                    Content.styled(self._padded(index, part), style)
                    if style
                    else Content(self._padded(index, part))
                    for index, (part, style) in enumerate(zip(parts, styles, strict=True))
                )
                .rstrip()
            )

    def _padded(self, column: int, text: str) -> str:
        space = " " * (self.widths[column] - _cells(text))
        return space + text if column in self.right else text + space


def _line(text: str) -> str:
    return visible(text, newlines=False)


def _cells(text: str) -> int:
    return Content(text).cell_length


def _widths(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int], room: int
) -> list[int] | None:
    """Return the width of each column; None if they do not fit."""
    natural = [max([*(_cells(row[i]) for row in rows), 1]) for i in range(len(headers))]
    words = [max([*map(_cells, header.split()), 1]) for header in headers]
    wanted = [
        max(pair) if i in right else max(pair[0], _cells(headers[i]))
        for i, pair in enumerate(zip(natural, words, strict=True))
    ]
    widths = [
        wanted[i] if i in right else max(min(wanted[i], _NARROWEST), words[i]) for i in range(len(headers))
    ]
    left = room - sum(widths)
    if left < 0:
        return None
    growing = [i for i in range(len(headers)) if i not in right and widths[i] < wanted[i]]
    while left and growing:
        least = min(growing, key=lambda i: widths[i] / wanted[i])
        widths[least] += 1
        left -= 1
        growing = [i for i in growing if widths[i] < wanted[i]]
    return widths


def _columns(headers: Sequence[str], rows: Sequence[Sequence[str]], layout: _Layout) -> Iterator[Content]:
    yield from layout.lines(headers, [MUTED] * len(headers))
    for row in rows:
        yield from layout.lines(row, [_style(*pair) for pair in zip(headers, row, strict=True)])


def _style(header: str, cell: str) -> str:
    if cell.startswith(("✓", "✕")):
        return "bold $text-success" if cell.startswith("✓") else "bold $text-error"
    return MUTED if any(word in header for word in _PUBLISHED) else ""


def _blocks(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Content]:
    """Return each row under its first cell, as `header value` pairs."""
    for row in rows:
        pairs = [
            Content.assemble((f"{header} ", MUTED), cell)
            for header, cell in zip(headers[1:], row[1:], strict=True)
        ]
        yield Content.styled(row[0] if row else "", "bold")
        yield Content("  ") + Content("   ").join(pairs)

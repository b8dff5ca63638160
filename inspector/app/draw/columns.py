"""How wide a table's columns are, and its rows as lines of padded cells: terminal and app lay out alike."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from inspector.core.report import Table

if TYPE_CHECKING:
    from rich.console import Console

GAP = 3
_RULE = "─"
# Longer words may be folded, numbers of up to so many cells are not; so much of a long text is looked at.
_WORD, _NUMBER, _SCANNED = 14, 40, 400


class TableLayout:
    """How a table is laid out: numbers align right; these and what is whole wrap from 40 cells on."""

    def __init__(self, table: Table, gap: int = GAP) -> None:
        """`gap` is the number of cells between two columns."""
        self.table, self.gap = table, gap
        columns = list(zip(table.headers, *table.rows, strict=True))
        self._natural = [
            max(cells(line) for text in column for line in text.split("\n")) for column in columns
        ]
        whole = table.right | table.whole
        self._least = [_least(*column, is_whole=index in whole) for index, column in enumerate(columns)]

    @property
    def least_width(self) -> int:
        """The cells that a legible table takes: numbers whole, and words up to a limit."""
        return self._sum(self._least)

    def width_with(self, first: int) -> int:
        """The cells that it takes if nothing wraps but the first column, beyond so many cells."""
        return self._sum([min(self._natural[0], max(self._least[0], first)), *self._natural[1:]])

    def lines(self, width: int) -> Iterator[str]:
        """The header, a rule and the rows, in lines of at most `width` cells, or of `least_width`."""
        header, *rows = (list(map(self._joined, row)) for row in self.rows(width))
        yield from header
        yield _RULE * self._sum(self._widths(width))
        for row in rows:
            yield from row

    def rows(self, width: int) -> Iterator[Iterator[tuple[str, ...]]]:
        """The header and the rows: of each its lines, and of each line its cells, padded."""
        widths = self._widths(width)
        return (self._row(row, widths) for row in (self.table.headers, *self.table.rows))

    def _row(self, row: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
        for parts in zip_longest(*map(_wrapped, row, widths), fillvalue=""):
            yield tuple(map(self._padded, range(len(parts)), parts, widths))

    def _padded(self, column: int, text: str, width: int) -> str:
        space = " " * (width - cells(text))
        return space + text if column in self.table.right else text + space

    def _joined(self, parts: Sequence[str]) -> str:
        return (" " * self.gap).join(parts).rstrip()

    def _widths(self, width: int) -> list[int]:
        """The width of each column: the widest ones are capped so that the sum fits."""

        def capped(cap: int) -> list[int]:
            pairs = zip(self._natural, self._least, strict=True)
            return [max(least, min(natural, cap)) for natural, least in pairs]

        caps = range(max(self._natural) + 1)
        fitting = bisect_right(caps, width, key=lambda cap: self._sum(capped(cap)))
        return capped(max(fitting - 1, 0))

    def _sum(self, widths: Sequence[int]) -> int:
        return sum(widths) + self.gap * (len(widths) - 1)


def cells(text: str) -> int:
    """How many cells of a terminal a text without line breaks takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _least(header: str, *column: str, is_whole: bool) -> int:
    """The fewest cells of a column: its longest word, or all that is under its header, up to a limit."""
    words = (header, *(() if is_whole else column))
    longest = max((cells(word) for text in words for word in text[:_SCANNED].split()), default=0)
    whole = max((cells(line) for text in column for line in text.split("\n")), default=0) if is_whole else 0
    return max(min(longest, _WORD), min(whole, _NUMBER))


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most so many cells, broken between words, and within those that are longer."""
    if cells(text) <= width and "\n" not in text:
        return [text]
    if "\t" not in text and all(cells(line) <= width for line in text.split("\n")):
        return [line.rstrip() for line in text.split("\n")]
    from rich.text import Text

    return [line.plain.rstrip() for line in Text(text).wrap(_console(), max(width, 1), overflow="fold")]


@cache
def _console() -> "Console":
    """Wrapping asks a console for nothing but its options."""
    from rich.console import Console

    return Console()

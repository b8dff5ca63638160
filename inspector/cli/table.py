"""Lays out text, tables and JSON as lines of a terminal."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
import json
import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from typing import Any

import click

from inspector.cli.outcome import written
from inspector.core.redaction import clean
from widgets import visible

GAP = 3
_RULE = "─"
# Longer words may be folded, numbers of up to so many cells are not; so much of a long text is looked at.
_WORD, _NUMBER, _SCANNED = 14, 40, 400


class TableLayout:
    """A table of texts. Columns in `right` align right; these and those in `whole` wrap from 40 cells on."""

    def __init__(
        self,
        headers: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        right: frozenset[int] = frozenset(),
        whole: frozenset[int] = frozenset(),
    ) -> None:
        self._headers, self._rows, self._right = headers, rows, right
        columns = [{*column} for column in zip(headers, *rows, strict=True)]
        self._natural = [
            max(cells(line) for text in column for line in text.split("\n")) for column in columns
        ]
        self._least = [
            _least(column, natural, is_whole=index in right | whole)
            for index, (column, natural) in enumerate(zip(columns, self._natural, strict=True))
        ]

    @property
    def least_width(self) -> int:
        """The cells that a legible table takes: numbers whole, and words up to a limit."""
        return _sum(self._least)

    def lines(self, width: int) -> Iterator[str]:
        """The header, a rule and the rows, in lines of at most `width` cells, or of `least_width`."""
        widths = self._widths(width)
        yield from self._row_lines(self._headers, widths)
        yield _RULE * _sum(widths)
        for row in self._rows:
            yield from self._row_lines(row, widths)

    def _widths(self, width: int) -> list[int]:
        """The width of each column: the widest ones are capped so that the sum fits."""

        def capped(cap: int) -> list[int]:
            pairs = zip(self._natural, self._least, strict=True)
            return [max(least, min(natural, cap)) for natural, least in pairs]

        caps = range(max(self._natural) + 1)
        fitting = bisect_right(caps, width, key=lambda cap: _sum(capped(cap)))
        return capped(max(fitting - 1, 0))

    def _row_lines(self, row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
        if all(_fits(text, width) for text, width in zip(row, widths, strict=True)):
            yield self._line(row, widths)
            return
        for parts in zip_longest(*map(_wrapped, row, widths), fillvalue=""):
            yield self._line(parts, widths)

    def _line(self, parts: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for index, (text, width) in enumerate(zip(parts, widths, strict=True)):
            space = " " * (width - cells(text))
            padded.append(space + text if index in self._right else text + space)
        return (" " * GAP).join(padded).rstrip()


def cells(text: str) -> int:
    """How many cells of a terminal a text without line breaks takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _least(column: set[str], natural: int, *, is_whole: bool) -> int:
    """The fewest cells of a column: its longest word, or all of it, up to a limit."""
    if is_whole:
        return min(natural, _NUMBER)
    return min(max((cells(word) for text in column for word in text[:_SCANNED].split()), default=0), _WORD)


def _fits(text: str, width: int) -> bool:
    return cells(text) <= width and "\n" not in text


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most so many cells, broken between words, and within those that are longer."""
    if _fits(text, width):
        return [text]
    from rich.text import Text

    return [line.plain.rstrip() for line in Text(text).wrap(_console(), max(width, 1), overflow="fold")]


@cache
def _console() -> "Console":
    """Wrapping asks a console for nothing but its options."""
    from rich.console import Console

    return Console()


def say(text: str = "", *, err: bool = False, exact: bool = False) -> None:
    """Print any text without its secrets; control and bidi characters become visible escapes.

    A question to the person is `exact`: what would run has to be read as it is.
    """
    with written(err=err):
        click.echo(visible(text if exact else clean(text)), err=err)


def say_json(value: object) -> None:
    """Print JSON without secrets, and in ASCII, so that nothing can control the terminal."""
    with written():
        click.echo(json.dumps(clean(value), indent=2, default=_plain))


def say_raw(text: str) -> None:
    """Print text without its secrets that may control the terminal, without a line break at its end."""
    with written():
        click.echo(clean(text), nl=False)


def say_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: frozenset[int] = frozenset(),
    whole: frozenset[int] = frozenset(),
) -> None:
    """Print a table; columns in `right` are numbers and align right. Long text wraps within its column.

    What is in a `whole` column is never broken.

    A table that a terminal is too narrow for is printed row by row, a value a line; elsewhere it is as wide
    as it has to be.
    """

    cells = [[visible(clean(cell)) for cell in row] for row in rows]
    layout, width = TableLayout(headers, cells, right=right, whole=whole), shutil.get_terminal_size().columns
    if layout.least_width > width and sys.stdout.isatty():
        _say_row_by_row(headers, cells)
        return
    with written():
        for line in layout.lines(width):
            click.echo(line)


def _say_row_by_row(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    width = max(map(len, headers))
    for row in rows:
        for header, value in zip(headers, row, strict=True):
            say(f"{header:<{width}}  {value}")
        say()


def _plain(value: object) -> Any:
    """What JSON has in its place. Dataclasses are clean by now; what else comes has not been looked into."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, frozenset | set):
        return clean(sorted(value))
    return clean(str(value))

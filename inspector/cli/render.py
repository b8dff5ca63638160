"""Prints text that cannot control the terminal, and JSON for programs."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, Literal

import click

from inspector.cli.outcome import written
from inspector.engine.sink import clean
from widgets import visible


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
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[visible(clean(cell)) for cell in row] for row in rows]
    console = Console(highlight=False, soft_wrap=False)
    least = _least_width(headers, cells, right | whole)
    if least > console.width:
        if console.is_terminal:
            _say_row_by_row(headers, cells)
            return
        console = Console(highlight=False, soft_wrap=False, width=least)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, header in enumerate(headers):
        number = index in right
        justify: Literal["left", "right"] = "right" if number else "left"
        table.add_column(header, justify=justify, no_wrap=number or index in whole, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    with written():
        console.print(table)


# Longer words are folded, numbers up to so many columns are not; so much of a long text is looked at.
_WORD, _NUMBER, _SCANNED, _GAP = 14, 40, 400, 3


def _least_width(headers: Sequence[str], rows: Sequence[Sequence[str]], whole: frozenset[int]) -> int:
    """The columns that a legible table takes: numbers and the like whole, words up to `_WORD` columns."""
    from rich.cells import cell_len

    widths = []
    for index, column in enumerate(zip(headers, *rows, strict=True)):
        parts = column if index in whole else [word for text in column for word in text[:_SCANNED].split()]
        longest = max((cell_len(part[:_SCANNED]) for part in parts), default=0)
        widths.append(min(longest, _NUMBER if index in whole else _WORD))
    return sum(widths) + _GAP * (len(widths) - 1)


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

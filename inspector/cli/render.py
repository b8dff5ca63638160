"""Prints text that cannot control the terminal, and JSON for programs."""

import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import click

from inspector.cli.outcome import written
from inspector.core.sink import clean
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
    from inspector.cli.table import TableLayout

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

"""Prints text that cannot control the terminal, and JSON for programs."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import click

from widgets import visible


def say(text: str = "", *, err: bool = False) -> None:
    """Print any text; control and bidi characters become visible escapes."""
    click.echo(visible(text), err=err)


def say_json(value: object) -> None:
    """Print JSON; everything outside ASCII is escaped, so that nothing can control the terminal."""
    click.echo(json.dumps(value, indent=2, default=_plain))


def say_table(
    headers: Sequence[str], rows: Iterable[Sequence[str]], *, right: frozenset[int] = frozenset()
) -> None:
    """Print a table; columns in `right` are numbers and align right. Long text wraps within its column."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, header in enumerate(headers):
        number = index in right
        table.add_column(header, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    Console(highlight=False, soft_wrap=False).print(table)


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    return str(value)

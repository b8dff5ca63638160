"""Text, tables, JSON and progress as lines of a terminal."""

import json
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import Any, Self

import click
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from inspector.app.draw.columns import TableLayout
from inspector.cli.options import AS_JSON
from inspector.cli.run import written
from inspector.core.error import ConfigError
from inspector.core.redaction import clean, write
from inspector.core.report import Block, Facts, Table
from widgets import visible

_page: ContextVar[list[Block] | None] = ContextVar("page", default=None)


@contextmanager
def gathered() -> Iterator[list[Block]]:
    """Gather what is said and shown, instead of printing it."""
    page: list[Block] = []
    before = _page.set(page)
    try:
        yield page
    finally:
        _page.reset(before)


def is_gathered() -> bool:
    """Whether nothing is printed, but made into a page, which is as wide as it likes."""
    return _page.get() is not None


def terminal_width() -> int:
    """The width of the terminal in cells; where there is none, nothing is too wide."""
    is_shown = sys.stdout.isatty() and not is_gathered()
    return shutil.get_terminal_size().columns if is_shown else sys.maxsize


def say(text: str = "", *, err: bool = False, exact: bool = False) -> None:
    """Print any text without its secrets; control and bidi characters become visible escapes.

    A question to the person is `exact`: what would run has to be read as it is.
    """
    if not err and (page := _page.get()) is not None:
        page.append(text)
        return
    with written(err=err):
        click.echo(visible(text if exact else clean(text)), err=err)


def say_json(value: object) -> None:
    """Print JSON without secrets, and in ASCII, so that nothing can control the terminal."""
    if is_gathered():
        raise click.UsageError("a page has no JSON: leave out --json, or `export`")
    with written():
        click.echo(json.dumps(clean(value), indent=2, default=_plain))


def write_file(path: Path, text: str | bytes) -> None:
    """Write a file without secrets that only its owner can read. Raises ConfigError."""
    try:
        write(path, text, errors="backslashreplace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "Check that its folder exists."
        raise ConfigError(f"{path} cannot be written: {reason}", hint=hint) from error


def say_raw(text: str) -> None:
    """Print text without its secrets that may control the terminal, without a line break at its end."""
    if is_gathered():
        say(text.rstrip("\n"))
        return
    with written():
        click.echo(clean(text), nl=False)


def is_json() -> bool:
    """Whether the command is to print JSON for programs."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(AS_JSON, False)


def show(data: object, report: Iterable[Block]) -> None:
    """Print the data with `--json`, else the report: lines and tables."""
    if is_json():
        say_json(data)
    else:
        say_report(report)


def say_report(report: Iterable[Block]) -> None:
    """Print lines, facts, and tables with their titles and notes."""
    for part in report:
        if (page := _page.get()) is not None:
            page.append(part)
        elif isinstance(part, Table):
            say_table(part)
        elif isinstance(part, Facts):
            say_facts(part)
        else:
            say(part)


def say_facts(facts: Facts) -> None:
    """Print facts with their labels in one column; further lines of a text stand below its first."""
    if facts.title:
        say(f"\n{facts.title}")
    labels = max((len(fact.label) for fact in facts.facts), default=0)
    for fact in facts.facts:
        for label, line in zip_longest([fact.label], fact.text.split("\n"), fillvalue=""):
            say(f"{label:<{labels}}  {line}".rstrip())


def say_table(table: Table) -> None:
    """Print a table. In a terminal long text wraps within its column; elsewhere nothing does.

    A table that a terminal is too narrow for is printed row by row, a value a line.
    """
    if table.title:
        say(f"\n{table.title}")
    rows = tuple(tuple(visible(clean(cell)) for cell in row) for row in table.rows)
    layout, width = TableLayout(replace(table, rows=rows)), terminal_width()
    if layout.least_width > width:
        _say_row_by_row(table.headers, rows)
    else:
        with written():
            for line in layout.lines(width):
                click.echo(line)
    for note in table.notes:
        say(note)


def side_by_side(table: Table, width: int) -> Iterator[Table]:
    """The table as several, each with the first column, of columns that fit the width.

    The first column may wrap for that, beyond a third of the width.
    """
    columns, place = list(range(1, len(table.headers))), 0
    while place < len(columns):
        end = place + 1
        while (
            end < len(columns)
            and TableLayout(_with(table, columns[place : end + 1])).width_with(width // 3) <= width
        ):
            end += 1
        yield _with(table, columns[place:end])
        place = end


def _with(table: Table, columns: Sequence[int]) -> Table:
    """The table's first column and these."""
    kept = (0, *columns)
    return replace(
        table,
        headers=tuple(table.headers[column] for column in kept),
        rows=tuple(tuple(row[column] for column in kept) for row in table.rows),
        right=frozenset(at for at, column in enumerate(kept) if column in table.right),
        whole=frozenset(at for at, column in enumerate(kept) if column in table.whole),
    )


def _say_row_by_row(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    width = max(map(len, headers))
    for row in rows:
        for header, value in zip(headers, row, strict=True):
            say(f"{header:<{width}}  {value}")
        say()


def _plain(value: object) -> Any:
    """What JSON has in its place. Structs are clean by now; what else comes has not been looked into."""
    if isinstance(value, Struct):
        return to_builtins(value, enc_hook=str)
    if isinstance(value, frozenset | set):
        return clean(sorted(value))
    return clean(str(value))


_EVERY_SECONDS = 0.1
_BACK_AND_CLEAR = "\r\x1b[K"


class Progress:
    """One line on stderr that is redrawn; prints nothing if stderr is not a terminal."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._what, self._drawn = "", 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `what` are done; a total of 0 is unknown."""
        now = time.monotonic()
        if what != self._what or now - self._drawn >= _EVERY_SECONDS:
            self._what, self._drawn = what, now
            self._draw(f"{what}  {done}/{total}" if total else what)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Clear the line for what is printed next."""
        self._draw("")

    def _draw(self, text: str) -> None:
        if self._is_shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"{_BACK_AND_CLEAR}{visible(text, newlines=False)[:width]}")
            sys.stderr.flush()


class Cancellation:
    """Calling it returns whether Ctrl+C was pressed."""

    def __init__(self) -> None:
        self.requested = False

    def __call__(self) -> bool:
        return self.requested


@contextmanager
def cancellation() -> Iterator[Cancellation]:
    """The first Ctrl+C asks the work to stop after its current step; the second interrupts it."""
    state = Cancellation()
    before = signal.getsignal(signal.SIGINT)

    def stop(_number: int, _frame: FrameType | None) -> None:
        state.requested = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, stop)
    try:
        yield state
    finally:
        signal.signal(signal.SIGINT, before)

"""What a kill leaves: `python -m docs.hard.kills [KILLS]` kills an app that shows its events.

The app has the demo's servers and answers questions once they are connected; it is in a pseudo-terminal, on
the page of its events, and killed at random moments. The numbers of the events that were on its screen, in
whole and in half-drawn frames, are compared with those of its store: the exit code is 1 if one is not stored.
Rows counted by second and kind tell less: while a list moves up, a row is on the screen twice, or has parts
of two events. How often is counted last: one run that is read to its end, cut at every so many bytes.
"""

import contextlib
import fcntl
import os
import pty
import random
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from rich.cells import cell_len

from docs.benchmark import say

_SEQUENCE = re.compile(
    rb"\x1b\[(?P<where>\d*;?\d*)H|\x1b\[[0-9;:?<=>!$ ]*[@-~]|\x1b[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)"
    rb"|\x1b[()*+].|\x1b[0-9=>A-Za-z]|(?P<text>[^\x1b\x00-\x1f]+)|(?P<control>[\x00-\x1f])",
    re.DOTALL,
)
# The beginning of a sequence or of a character; the rest comes with the next bytes, or never after a kill.
_CUT = re.compile(rb"(?:\x1b[^A-Za-z]{0,40}|[\xc0-\xff][\x80-\xbf]{0,2})$")


class Screen:
    """The cells of a terminal; colors are left out."""

    def __init__(self, columns: int, rows: int) -> None:
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._cut = b""

    def write(self, data: bytes) -> None:
        """Draw what a program wrote next; it may end anywhere."""
        data = self._cut + data
        cut = _CUT.search(data)
        self._cut = cut[0] if cut else b""
        data = data.removesuffix(self._cut)
        for found in _SEQUENCE.finditer(data):
            if (where := found["where"]) is not None:
                row, _, column = where.decode().partition(";")
                self._row, self._column = int(row or 1) - 1, int(column or 1) - 1
            elif found["control"] == b"\n":
                self._row, self._column = self._row + 1, 0
            elif found["control"] == b"\r":
                self._column = 0
            elif found["text"] is not None:
                self._draw(found["text"].decode("utf-8", "ignore"))

    def _draw(self, text: str) -> None:
        for character in text:
            width = cell_len(character)
            if self._row < len(self._cells) and self._column + width <= len(self._cells[0]):
                self._cells[self._row][self._column : self._column + width] = [character, ""][:width]
            self._column += width

    def lines(self) -> Iterator[str]:
        """What stands in each row."""
        return ("".join(row) for row in self._cells)


COLUMNS, ROWS = 140, 40
KILLS, LONGEST_SECONDS, WHOLE_SECONDS, PATIENCE = 30, 8.0, 25.0, 30.0
STEP = 40
QUESTIONS = b"What is the forecast for Oslo?\rWhat is 6 times 7?\rWhich orders are late?\r" * 8
TRACE = b"\x1b[15~"
ROW = re.compile(r"^│[ ▌]*(\d+)  (\d\d:\d\d:\d\d)  (\w+)")

Row = tuple[int, str, str]
"""An event's number, second and kind."""


class Kill(Struct, frozen=True):
    """After a kill: the rows on the screen, every row that was ever on it, and those in the store."""

    screen: tuple[Row, ...]
    ever: frozenset[Row]
    stored: frozenset[Row]

    @property
    def unstored(self) -> set[int]:
        """The numbers of events that were shown and are not stored."""
        return {row[0] for row in self.ever} - {row[0] for row in self.stored}

    @property
    def half_drawn(self) -> int:
        """Rows of the last screen that are there twice, or have parts of two events."""
        return len(self.screen) - len(set(self.screen) & self.stored)

    @property
    def is_more_by_second_and_kind(self) -> bool:
        """Whether the screen has more rows of a second and kind than the store."""
        return bool(Counter(row[1:] for row in self.screen) - Counter(row[1:] for row in self.stored))


class Watched:
    """An app in a terminal: what is on its screen, and every row that was on it after any piece was read."""

    def __init__(self, database: Path) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "TOOLSIGHT_DB": str(database)}
        command = [sys.executable, "-m", "inspector", "demo"]
        self._app = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        self._screen = Screen(COLUMNS, ROWS)
        self.ever: set[Row] = set()
        self.written = b""

    @property
    def rows(self) -> tuple[Row, ...]:
        return _rows(self._screen)

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def read_until(self, shown: str) -> None:
        """Read until a text is on the screen. Raises TimeoutError."""
        end = time.monotonic() + PATIENCE
        while not any(shown in line for line in self._screen.lines()):
            if time.monotonic() > end:
                raise TimeoutError(f"{shown!r} not shown")
            self.read(1.0)

    def read_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def read(self, seconds: float) -> None:
        """Read the next piece, if one comes in time."""
        if select.select([self._ours], [], [], seconds)[0]:
            piece = os.read(self._ours, 4096)
            self.written += piece
            self._screen.write(piece)
            self.ever |= set(self.rows)

    def kill(self) -> None:
        """Kill the app, read what it had written, and end the servers that it leaves."""
        listed = Path(f"/proc/{self._app.pid}/task/{self._app.pid}/children")
        servers = listed.read_text().split() if listed.exists() else []
        self._app.kill()
        self._app.wait()
        with contextlib.suppress(OSError):  # the other side is closed
            self.read_for(0.3)
        os.close(self._ours)
        for server in servers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(server), signal.SIGKILL)


def killed(database: Path, seconds: float) -> tuple[Kill, bytes]:
    """Start the app, ask it, go to its events, and kill it in the first frame after so many seconds.

    The second value is everything that it wrote.
    """
    app = Watched(database)
    try:
        app.read_until("Type a request")
        app.press(QUESTIONS)
        app.press(TRACE)
        app.read_until("[5 Trace")
        app.read_for(seconds)
        app.read(1.0)
    finally:
        app.kill()
    return Kill(app.rows, frozenset(app.ever), _stored(database)), app.written


def cuts(written: bytes, stored: frozenset[Row]) -> Iterator[Kill]:
    """What the screen would have shown had the output ended here, at every `STEP` bytes."""
    screen = Screen(COLUMNS, ROWS)
    for at in range(0, len(written), STEP):
        screen.write(written[at : at + STEP])
        rows = _rows(screen)
        yield Kill(rows, frozenset(rows), stored)


def _rows(screen: Screen) -> tuple[Row, ...]:
    found = (ROW.match(line) for line in screen.lines())
    return tuple((int(row[1]), row[2], row[3]) for row in found if row)


def _stored(database: Path) -> frozenset[Row]:
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT seq, at, kind FROM event").fetchall()
    return frozenset((seq, f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}", kind) for seq, at, kind in rows)


def _say_sum(title: str, left: Sequence[Kill]) -> int:
    """Print how many kills left what, and return how many had shown an event that is not stored."""
    unstored = sum(bool(kill.unstored) for kill in left)
    half = sum(bool(kill.half_drawn) for kill in left)
    more = sum(kill.is_more_by_second_and_kind for kill in left)
    say(f"{len(left):,} {title}: {unstored} had shown an event that is not stored")
    say(f"  {half:,} half-drawn screens; {more:,} with more rows of a second and kind than are stored")
    return unstored


def main() -> int:
    """Print what the kills left."""
    chance = random.Random(0)
    left: list[Kill] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else KILLS):
            database = Path(folder) / f"{number}.db"
            kill, _ = killed(database, chance.uniform(0, LONGEST_SECONDS))
            left.append(kill)
            shown = len({row[0] for row in kill.ever})
            say(
                f"kill {number + 1}: {shown} events shown, {len(kill.stored)} stored, "
                f"{len(kill.unstored)} shown and not stored; {kill.half_drawn} rows half drawn"
            )
        whole, written = killed(Path(folder) / "whole.db", WHOLE_SECONDS)
    unstored = _say_sum("kills", left) + _say_sum("cuts", list(cuts(written, whole.stored)))
    return 1 if unstored else 0


if __name__ == "__main__":
    sys.exit(main())

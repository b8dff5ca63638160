"""The record of one run: which servers it started, a line for each thing, and the lock that says it lives.

Lines are only appended, each in one write, so that a run may be killed at any moment. A line that was not
finished is not read.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from inspector.mcp.process import record
from inspector.mcp.process.table import MARKER, Table, table
from inspector.store.file_lock import locked

# The operating system drops a lock when its process ends, however it ends.


def hold(path: Path) -> int:
    """Hold a record, to append to it, until the descriptor is closed. Raises OSError."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND)
    # Where files cannot be locked, `is_held` says of every record that it is.
    locked(handle, exclusive=False)
    return handle


def is_held(handle: int) -> bool:
    """Whether the app or its reaper is alive, or that is unknown."""
    return not locked(handle, exclusive=True)


class Registration:
    """One start of a server, created before its process: there is no moment in which it is unknown."""

    def __init__(self, marker: str, number: int, write: Callable[[bytes], None], processes: Table) -> None:
        """Without a `marker` the server's environment has none."""
        self.variables: Mapping[str, str] = {MARKER: marker} if marker else {}
        self._number = number
        self._write = write
        self._processes = processes

    def started(self, pid: int) -> None:
        """The process is there, and leads a group of its own."""
        self._write(record.started(self._number, pid, self._processes.started(pid)))

    def ended(self) -> None:
        """Nothing of its group is left, or it was never started."""
        self._write(record.ended(self._number))


class Registry(Protocol):
    """Notes what is started."""

    def register(self, server: str) -> Registration:
        """Note that a server is about to be started; it may take some milliseconds, and never raises."""


class NoRegistry:
    """A `Registry` that notes nothing."""

    def register(self, server: str) -> Registration:  # noqa: ARG002
        return Registration("", 0, lambda _line: None, table())


_FIRST = "toolsight-run-1"
_ANNOUNCED, _STARTED, _ENDED, _KEPT = "announced", "started", "ended", "kept"


class Start(NamedTuple):
    """One start of a server. `pid` is 0 until it is known; `at` is in seconds since 1970, UTC.

    `name` is the server's as JSON. `has_ended` once nothing of its process group is left; `is_kept` after a
    person said to leave alone what runs of it.
    """

    number: int
    at: float
    name: str
    pid: int = 0
    started: str = ""
    has_ended: bool = False
    is_kept: bool = False


class Run(NamedTuple):
    """What is recorded of a run. Its id begins its servers' markers; `place` says what its pids mean."""

    id: str
    place: str
    starts: tuple[Start, ...] = ()

    @property
    def unknown(self) -> tuple[Start, ...]:
        """The starts of which nothing is known but that they were to be."""
        return tuple(start for start in self.starts if not (start.pid or start.has_ended))

    def marker(self, start: Start) -> str:
        """The marker that the server has in its environment."""
        return marker(self.id, start.number)


def marker(run: str, number: int) -> str:
    """The value of the environment variable for a run's start."""
    return f"{run}.{number}"


def opening(place: str) -> bytes:
    """The first line."""
    return _line(_FIRST, place)


def announced(number: int, at: float, name: str) -> bytes:
    """Written before the server is started; `name` is JSON, so it is on one line."""
    return _line(_ANNOUNCED, str(number), str(at), name)


def started(number: int, pid: int, start: str) -> bytes:
    """Written when the process is there."""
    return _line(_STARTED, str(number), str(pid), start)


def ended(number: int) -> bytes:
    """Written when nothing of the server's group is left."""
    return _line(_ENDED, str(number))


def kept(number: int) -> bytes:
    """Written when a person says to leave it alone."""
    return _line(_KEPT, str(number))


def read(path: Path) -> Run | None:
    """The record in a file; None if it is none. Raises OSError."""
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        lines = [line[:-1].split("\t") for line in file if line.endswith("\n")]
    if not lines or len(lines[0]) != 2 or lines[0][0] != _FIRST:
        return None
    return Run(path.name, lines[0][1], tuple(_starts(lines[1:])))


def _starts(lines: Iterable[list[str]]) -> list[Start]:
    found: dict[str, Start] = {}
    for line in lines:
        try:
            _read_line(found, *line)
        except (KeyError, TypeError, ValueError):
            # Not written by Toolsight: it says nothing of any process.
            continue
    return list(found.values())


def _read_line(found: dict[str, Start], kind: str, number: str, *rest: str) -> None:
    if kind == _ANNOUNCED:
        at, name = rest
        found[number] = Start(int(number), float(at), name)
    elif kind == _STARTED:
        pid, start = rest
        found[number] = found[number]._replace(pid=int(pid), started=start)
    elif kind == _ENDED:
        found[number] = found[number]._replace(has_ended=True)
    elif kind == _KEPT:
        found[number] = found[number]._replace(is_kept=True)


def _line(*fields: str) -> bytes:
    return ("\t".join(fields) + "\n").encode("utf-8", "backslashreplace")

"""The record of one run: which servers it started, the lock that says it lives, what still runs, and its end.

Lines are only appended, each in one write, so that a run may be killed at any moment. A line that was not
finished is not read.

Only what is certain to be the run's is ever signalled. A process is, if it has the start time that was noted
for its pid, or the run's marker in its environment; a group is, if its leader or any other member is.
"""

import os
import signal
import time
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from inspector.mcp.process.table import Process, Table
from inspector.store.lock import locked


def hold(path: Path) -> int:
    """Hold a record, to append to it, until the descriptor is closed. Raises OSError.

    The operating system drops the lock when its process ends, however it ends.
    """
    handle = os.open(path, os.O_RDWR | os.O_APPEND)
    # Where files cannot be locked, `is_held` says of every record that it is.
    locked(handle, exclusive=False)
    return handle


def is_held(handle: int) -> bool:
    """Whether the app or its reaper is alive, or that is unknown."""
    return not locked(handle, exclusive=True)


_FIRST = "toolsight-run-1"
Kind = Literal["announced", "started", "ended", "kept"]


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
        return f"{self.id}.{start.number}"


def opening(place: str) -> bytes:
    """The first line."""
    return f"{_FIRST}\t{place}\n".encode("utf-8", "backslashreplace")


def line(kind: Kind, number: int, *fields: object) -> bytes:
    """What becomes of a start.

    It is announced, with the time and its server's name as JSON, before its process is there; started, with
    pid and start time; ended when nothing of its group is left; kept if a person says to leave it alone.
    """
    return ("\t".join(map(str, (kind, number, *fields))) + "\n").encode("utf-8", "backslashreplace")


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
    if kind == "announced":
        at, name = rest
        found[number] = Start(int(number), float(at), name)
    elif kind == "started":
        pid, start = rest
        found[number] = found[number]._replace(pid=int(pid), started=start)
    elif kind == "ended":
        found[number] = found[number]._replace(has_ended=True)
    elif kind == "kept":
        found[number] = found[number]._replace(is_kept=True)


TERMINATED_GRACE = 2.0
KILLED_GRACE = 2.0
"""Seconds until the next signal, or until nothing more is waited for."""
_LOOK = 0.05


class Remains(NamedTuple):
    """What runs of one start: the server's process group, 0 if it is gone, and what left it for another.

    `members` and `detached` are pids.
    """

    start: Start
    group: int
    members: tuple[int, ...]
    detached: tuple[int, ...]


def remains(run: Run, table: Table) -> list[Remains]:
    """What still runs of each start that is not kept. Never this process, or what it descends from."""
    starts = [start for start in run.starts if not start.is_kept]
    if not starts:
        return []
    every = table.processes()
    ours = _line_of(os.getpid(), every)
    markers = table.marked(each for each in every if each.pid not in ours)
    own_groups = {each.group for each in every if each.pid in ours}
    others = [each for each in every if each.pid not in ours and not each.has_ended]
    found: list[Remains] = []
    for start in starts:
        marked = {pid for pid, marker in markers.items() if marker == run.marker(start)}
        group = _group(start, every, marked)
        group = 0 if group in own_groups else group
        members = tuple(each.pid for each in others if group and each.group == group)
        away = tuple(each.pid for each in others if each.pid in marked and each.pid not in members)
        if members or away:
            found.append(Remains(start, group, members, away))
    return found


def _group(start: Start, every: Iterable[Process], marked: Container[int]) -> int:
    """The process group of a start if it is certain, else 0."""
    if start.has_ended:
        return 0
    if not start.pid:
        # Killed between starting the server and noting its pid: every server leads a group of its own.
        return next((each.pid for each in every if each.pid == each.group and each.pid in marked), 0)
    leader = next((each for each in every if each.pid == start.pid), None)
    if leader is not None:
        return start.pid if leader.group == start.pid and leader.started == start.started else 0
    # The leader has ended, but a helper has not: then no other group can have got the number.
    return next((each.group for each in every if each.group == start.pid and each.pid in marked), 0)


def end(find: Callable[[], list[Remains]], *, detached: bool, first: float = 0.0) -> list[Remains]:
    """End what `find` finds, and return what is still there: SIGTERM, and SIGKILL for what ignores it.

    What has left its server's group is ended with `detached` only. `first` is how many seconds it all gets to
    end by itself before.
    """

    def left() -> list[Remains]:
        return [each for each in find() if each.members or detached]

    steps = ((None, first), (signal.SIGTERM, TERMINATED_GRACE), (signal.SIGKILL, KILLED_GRACE))
    for number, seconds in steps:
        running = left()
        if number is not None:
            for each in running:
                _signal(each, number, detached=detached)
        end_at = time.monotonic() + seconds
        while running and time.monotonic() < end_at:
            # Nobody tells when a process that is no child has ended.
            time.sleep(_LOOK)
            running = left()
        if not running:
            break
    return find()


def _signal(each: Remains, number: signal.Signals, *, detached: bool) -> None:
    if each.members:
        _send(os.killpg, each.group, number)
    for pid in each.detached if detached else ():
        _send(os.kill, pid, number)


def _send(send: Callable[[int, int], None], target: int, number: signal.Signals) -> None:
    # It may have ended meanwhile, or taken on the rights of another user.
    with suppress(OSError):
        send(target, number)


def _line_of(pid: int, processes: Iterable[Process]) -> set[int]:
    """A process and those that it descends from."""
    parents = {each.pid: each.parent for each in processes}
    line: set[int] = set()
    while pid and pid not in line:
        line.add(pid)
        pid = parents.get(pid, 0)
    return line

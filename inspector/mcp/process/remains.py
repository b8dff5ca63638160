"""What still runs of a run's servers, and its end.

Only what is certain to be the run's is ever signalled. A process is, if it has the start time that was noted
for its pid, or the run's marker in its environment; a group is, if its leader or any other member is.
"""

import os
import signal
import time
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from typing import NamedTuple

from inspector.mcp.process.record import Run, Start
from inspector.mcp.process.table import Process, Table

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
        group = _group(start, every, marked, table)
        group = 0 if group in own_groups else group
        members = tuple(each.pid for each in others if group and each.group == group)
        away = tuple(each.pid for each in others if each.pid in marked and each.pid not in members)
        if members or away:
            found.append(Remains(start, group, members, away))
    return found


def _group(start: Start, every: Iterable[Process], marked: Container[int], table: Table) -> int:
    """The process group of a start if it is certain, else 0."""
    if start.has_ended:
        return 0
    if not start.pid:
        # Killed between starting the server and noting its pid: every server leads a group of its own.
        return next((each.pid for each in every if each.pid == each.group and each.pid in marked), 0)
    leader = next((each for each in every if each.pid == start.pid), None)
    if leader is not None:
        return start.pid if leader.group == start.pid and table.is_same(start.started, leader) else 0
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

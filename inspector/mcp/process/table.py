"""The machine's processes, as far as it takes to be certain of one: a pid alone is used again by others.

Linux has all of it in /proc; elsewhere `ps` is asked.
"""

import calendar
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

MARKER = "TOOLSIGHT_RUN"
"""The environment variable that a server and what it starts inherit: the run's id, a dot, and a number."""

_PROC = Path("/proc")
# Counted from the state, which follows the name.
_START_TIME = 19
_ENDED = "ZX"
# `ps` tells the second of a start, which is noted a moment later.
_SAME_SECONDS = 2.0
_LSTART = "%a %b %d %H:%M:%S %Y"


class Process(NamedTuple):
    """One process. A zombie has ended.

    `started` distinguishes it from another with the same pid before or later.
    """

    pid: int
    parent: int
    group: int
    started: str
    has_ended: bool


class ProcTable:
    """Linux: a start is in ticks since the machine's, which no clock changes.

    What cannot be read is left out.
    """

    def processes(self) -> list[Process]:
        """This user's processes."""
        found = (self._process(path) for path in _PROC.iterdir() if path.name.isdecimal())
        return [process for process in found if process is not None]

    def marked(self, processes: Iterable[Process]) -> Mapping[int, str]:
        """The value of the marker by pid, of those that have one."""
        found = {process.pid: _marker(_PROC / str(process.pid)) for process in processes}
        return {pid: marker for pid, marker in found.items() if marker}

    def command(self, pid: int) -> list[str]:
        """The words of its command line."""
        words = _read(_PROC / str(pid) / "cmdline").split(b"\0")[:-1]
        return [word.decode("utf-8", "replace") for word in words]

    def started(self, pid: int) -> str:
        """When a child that was just started did so, for `is_same`; "" if it has ended already."""
        process = self._process(_PROC / str(pid))
        return process.started if process is not None else ""

    def is_same(self, noted: str, process: Process) -> bool:
        """Whether the process that has the pid now is the one that was noted."""
        return noted == process.started

    def _process(self, folder: Path) -> Process | None:
        try:
            is_ours = folder.stat().st_uid == os.geteuid()
        except OSError:
            return None
        # The name stands in parentheses, and may contain anything.
        fields = _read(folder / "stat").rpartition(b")")[2].decode().split()
        if not is_ours or len(fields) <= _START_TIME:
            return None
        state, parent, group = fields[:3]
        return Process(int(folder.name), int(parent), int(group), fields[_START_TIME], state in _ENDED)


class PsTable:
    """The same on macOS: a start is in seconds since 1970."""

    # A program that macOS itself protects shows its environment to nobody.
    _with_environment = ("-AEww",) if sys.platform == "darwin" else ("axeww",)

    def processes(self) -> list[Process]:
        user = str(os.geteuid())
        rows = [line.split() for line in _ps("-A", "-o", "uid=,pid=,ppid=,pgid=,stat=,lstart=")]
        return [_listed(row[1:]) for row in rows if len(row) == 10 and row[0] == user]

    def marked(self, processes: Iterable[Process]) -> Mapping[int, str]:
        wanted = {process.pid for process in processes}
        found: dict[int, str] = {}
        for line in _ps(*self._with_environment, "-o", "pid=,command="):
            pid, _, words = line.strip().partition(" ")
            marker = words.partition(f" {MARKER}=")[2].partition(" ")[0]
            if marker and int(pid) in wanted:
                found[int(pid)] = marker
        return found

    def command(self, pid: int) -> list[str]:
        return next((line.split() for line in _ps("-ww", "-o", "command=", "-p", str(pid))), [])

    def started(self, pid: int) -> str:  # noqa: ARG002
        return str(int(time.time()))

    def is_same(self, noted: str, process: Process) -> bool:
        return noted.isdecimal() and abs(int(noted) - int(process.started)) <= _SAME_SECONDS


Table = ProcTable | PsTable


def table() -> Table:
    """The table of this platform."""
    return ProcTable() if (_PROC / "self" / "stat").exists() else PsTable()


def place() -> str:
    """Names what pids belong to: this start of this machine, and the container in it.

    Elsewhere than on Linux it is the machine's name: starts there are told in the time of day.
    """
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {(_PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return os.uname().nodename


def _marker(folder: Path) -> str:
    start = f"{MARKER}=".encode()
    variables = _read(folder / "environ").split(b"\0")
    found = next((variable for variable in variables if variable.startswith(start)), b"")
    return found.removeprefix(start).decode("utf-8", "replace")


def _listed(row: list[str]) -> Process:
    pid, parent, group, state, *start = row
    started = calendar.timegm(time.strptime(" ".join(start), _LSTART))
    return Process(int(pid), int(parent), int(group), str(started), state[0] in _ENDED)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _ps(*arguments: str) -> list[str]:
    variables = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    variables.pop(MARKER, None)
    try:
        done = subprocess.run(["ps", *arguments], capture_output=True, env=variables, check=False, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.decode("utf-8", "replace").splitlines()

"""The machine's processes, as far as it takes to be certain of one: a pid alone is used again by others.

psutil is imported with the first question: no command that starts no server waits for it.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

MARKER = "TOOLSIGHT_RUN"
"""The environment variable that a server and what it starts inherit: the run's id, a dot, and a number."""

_READ = ("ppid", "status", "create_time", "uids")


class Process(NamedTuple):
    """One process. A zombie has ended.

    `started` distinguishes it from another with the same pid before or later.
    """

    pid: int
    parent: int
    group: int
    started: str
    has_ended: bool


class Table:
    """The processes of this machine. What cannot be read is left out."""

    def processes(self) -> list[Process]:
        """This user's processes."""
        import psutil

        ended = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        found: list[Process] = []
        for each in psutil.process_iter(_READ):
            read = each.info
            if read["uids"] is None or read["uids"].effective != os.geteuid() or not read["create_time"]:
                continue
            with suppress(OSError):
                group = os.getpgid(each.pid)
                started = _started(read["create_time"])
                found.append(Process(each.pid, read["ppid"], group, started, read["status"] in ended))
        return found

    def marked(self, processes: Iterable[Process]) -> Mapping[int, str]:
        """The value of the marker by pid, of those that have one."""
        found = {each.pid: _asked(each.pid, "environ", {}).get(MARKER, "") for each in processes}
        return {pid: marker for pid, marker in found.items() if marker}

    def command(self, pid: int) -> list[str]:
        """The words of its command line; none if it is gone."""
        words: list[str] = _asked(pid, "cmdline", [])
        return words

    def started(self, pid: int) -> str:
        """When a child that was just started did so, as `Process.started`; "" if it is gone."""
        at: float = _asked(pid, "create_time", 0.0)
        return _started(at) if at else ""


def place() -> str:
    """Names what pids belong to: this start of this machine, and the container in it.

    Elsewhere than on Linux it is the machine's name: starts there are told in the time of day.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return os.uname().nodename


def _asked(pid: int, what: str, unknown: Any) -> Any:
    """What psutil says of a process; `unknown` of one that is gone or shows it to nobody."""
    import psutil

    try:
        return getattr(psutil.Process(pid), what)()
    except (psutil.Error, OSError):
        return unknown


def _started(at: float) -> str:
    """A start in seconds since the machine's on Linux, which no clock changes; elsewhere since 1970."""
    import psutil

    return f"{at - (psutil.boot_time() if psutil.LINUX else 0.0):.2f}"

"""The reaper: ends the servers that a killed app leaves behind; and what is left of servers all the same.

A waiting shell is started with the first server, as it takes a megabyte where Python takes ten. The app holds
the other end of its input, which closes however the app ends. It has a session of its own, so that neither
Ctrl+C nor a closed terminal reaches it. Unless the app said that it is done, the shell becomes this program.

psutil is imported with the first question: no command that starts no server waits for it.
"""

import logging
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from psutil import Process

_LOG = logging.getLogger("toolsight.process")
MARKER = "TOOLSIGHT_RUN"
"""The environment variable that a server and what it starts inherit: the machine, and the app's pid."""
TERMINATED_GRACE = KILLED_GRACE = 2.0
"""Seconds until the next signal, or until nothing more is waited for."""
# Seconds that servers get to end by themselves, as their input has ended.
_BY_ITSELF = 0.5
_LOOK = 0.05
_WAITING = """trap '' HUP INT TERM
while read -r told; do [ "$told" = done ] && exit; set -- "$@" "$told"; done
exec "$@" """


def marker() -> str:
    """What the servers of this process have as their `MARKER`."""
    # With the machine's name: a container's processes may be seen from outside, with other pids.
    return f"{os.uname().nodename}.{os.getpid()}"


class Reaper:
    """Ends the servers of this process if it is killed. Any thread may use it.

    Nothing here keeps a server from starting: what goes wrong is logged.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Its process; 0 before the first server."""
        return self._process.pid if self._process is not None else 0

    def prepare(self) -> Mapping[str, str]:
        """Be there before a server is started; returns what the server's environment has to have."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                try:
                    self._process = _started()
                except OSError as error:
                    _LOG.warning("servers are started without a reaper: %s", error)
        return {MARKER: marker()}

    def watch(self, pid: int) -> None:
        """A server is there, and leads a process group of its own."""
        self._tell(str(pid))

    def close(self) -> None:
        """Nothing of any server is left."""
        self._tell("done")
        with self._lock:
            process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            process.wait()

    def _tell(self, line: str) -> None:
        with self._lock, suppress(OSError):
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(f"{line}\n".encode())


def _started() -> "subprocess.Popen[bytes]":
    # Only its own process imports it.
    packages = str(Path(getattr(find_spec("psutil"), "origin", "")).parents[1])
    program = (sys.executable, "-I", "-S", "-B", __file__, packages, marker())
    return subprocess.Popen(
        ["/bin/sh", "-c", _WAITING, "toolsight-reaper", *program],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != MARKER},
        cwd="/",
        start_new_session=True,
    )


def reap(mark: str, groups: Collection[int]) -> None:
    """End these process groups, as far as one in each has the mark: a pid alone is used again by others."""

    def left() -> list["Process"]:
        every = [(each, _group(each)) for each in _running()]
        ours = {group for each, group in every if group in groups and _given(each, MARKER) == mark}
        return [each for each, group in every if group in ours]

    if not _gone(left, _BY_ITSELF):
        end(left)


def end(find: Callable[[], list["Process"]]) -> list["Process"]:
    """End what `find` finds, and return what is still there: SIGTERM, and SIGKILL for what ignores it."""
    import psutil

    for number, seconds in ((signal.SIGTERM, TERMINATED_GRACE), (signal.SIGKILL, KILLED_GRACE)):
        for each in find():
            # It may have ended meanwhile, or taken on the rights of another user.
            with suppress(psutil.Error, OSError):
                each.send_signal(number)
        if _gone(find, seconds):
            break
    return find()


def end_with(variable: str, value: str) -> None:
    """End this user's processes that have the variable with this value, wherever they are; not this one."""
    end(lambda: [each for each in _running() if each.pid != os.getpid() and _given(each, variable) == value])


def _gone(find: Callable[[], list["Process"]], seconds: float) -> bool:
    """Whether nothing is left after so many seconds at most."""
    until = time.monotonic() + seconds
    while find():
        if time.monotonic() > until:
            return False
        # Nobody tells when a process that is no child has ended.
        time.sleep(_LOOK)
    return True


class Orphan(NamedTuple):
    """A process that a server of an app left which runs no more. `command` has no secrets."""

    pid: int
    command: str
    started: str


def orphans() -> list[Orphan]:
    """What is left of servers whose app has ended, oldest first."""
    import psutil

    from inspector.config.configuration import without_secrets

    found = []
    for each in _orphaned():
        with suppress(psutil.Error):
            started = f"{datetime.fromtimestamp(each.create_time(), UTC):%Y-%m-%d %H:%M} UTC"
            found.append(Orphan(each.pid, shlex.join(without_secrets(each.cmdline())), started))
    return sorted(found, key=lambda one: one.started)


def end_orphans() -> list[int]:
    """End what is left, and return the pids of what could not be ended."""
    return [each.pid for each in end(_orphaned)]


def _orphaned() -> list["Process"]:
    import psutil

    # Never this process, nor what it descends from: a server may have opened the terminal that this runs in.
    me = psutil.Process()
    spared = {me.pid, *(each.pid for each in me.parents())}
    return [each for each in _running() if each.pid not in spared and not _has_app(each)]


def _has_app(process: "Process") -> bool:
    """Whether it is none of a server's, or the app that started the server runs."""
    import psutil

    machine, _, pid = _given(process, MARKER).rpartition(".")
    if machine != os.uname().nodename or not pid.isdecimal():
        return True
    with suppress(psutil.Error):
        # A later process may have got the app's pid.
        return bool(psutil.Process(int(pid)).create_time() <= process.create_time())
    return False


def _running() -> list["Process"]:
    """This user's processes. A zombie has ended."""
    import psutil

    ended = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    every = psutil.process_iter(("uids", "status"))
    return [
        each
        for each in every
        if each.info["uids"]
        and each.info["uids"].effective == os.geteuid()
        and each.info["status"] not in ended
    ]


def _group(process: "Process") -> int:
    """Its process group; 0 if it is gone."""
    with suppress(OSError):
        return os.getpgid(process.pid)
    return 0


def _given(process: "Process", variable: str) -> str:
    """The value with which a process was started; "" without it, and if that may not be read."""
    import psutil

    try:
        return str(process.environ().get(variable, ""))
    except (psutil.Error, OSError):
        return ""


if __name__ == "__main__":
    # Started as a file, by an interpreter that looks for packages where it is told to alone.
    sys.path[:0] = [sys.argv[1]]
    reap(sys.argv[2], frozenset(map(int, sys.argv[3:])))

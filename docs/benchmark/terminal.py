"""A program in a pseudo-terminal, and how long it takes to show something."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHAT = b"\x1bOP"
"""F1, which goes to the chat from anywhere."""
_LIMIT_SECONDS = 120.0
_REAPER = b"toolsight-reaper"
_QUIET = 0.3


class Terminal:
    """The side of the person: keys in, drawn bytes out."""

    def __init__(self, ours: int, pid: int) -> None:
        self._ours = ours
        self.pid = pid

    def press(self, key: bytes) -> None:
        """Press a key, and go on."""
        os.write(self._ours, key)

    def seconds_until(self, key: bytes, shown: bytes) -> float:
        """Seconds from a press until some bytes have reached the terminal; then it is quiet again."""
        started = time.perf_counter()
        os.write(self._ours, key)
        self.read_until(shown)
        taken = time.perf_counter() - started
        self.settle()
        return taken

    def read_until(self, shown: bytes) -> bytes:
        """Read until some bytes have come, and return what has come. Raises TimeoutError."""
        seen, end = b"", time.perf_counter() + _LIMIT_SECONDS
        while shown not in seen:
            if time.perf_counter() > end:
                raise TimeoutError(f"{shown!r} not shown in {_LIMIT_SECONDS:.0f} s: {seen[-300:]!r}")
            if select.select([self._ours], [], [], 1.0)[0]:
                seen += os.read(self._ours, 65536)
        return seen

    def read_for(self, seconds: float) -> bytes:
        """Read what comes in that time."""
        seen, end = b"", time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self._ours], [], [], left)[0]:
                seen += os.read(self._ours, 65536)
        return seen

    def settle(self) -> None:
        """Read until nothing more comes, so that the next key is measured alone."""
        end = time.perf_counter() + _LIMIT_SECONDS
        while select.select([self._ours], [], [], _QUIET)[0] and time.perf_counter() < end:
            os.read(self._ours, 65536)


@contextmanager
def terminal(argv: list[str], environment: dict[str, str], rows: int = 32) -> Iterator[Terminal]:
    """Run a program in a terminal of 120 columns until the block ends."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 120, 0, 0))
    process = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    try:
        yield Terminal(ours, process.pid)
    finally:
        _end(process)
        os.close(ours)


@contextmanager
def app(database: Path, *arguments: str, rows: int = 36, **variables: str) -> Iterator[Terminal]:
    """Run the app on a database until the block ends."""
    own = {"TERM": "xterm-256color", "TOOLSIGHT_DB": str(database), **variables}
    with terminal([sys.executable, "-m", "inspector", *arguments], {**os.environ, **own}, rows) as opened:
        yield opened


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the app and the servers it is starting, which would slow down what is measured next."""
    of_threads = Path(f"/proc/{process.pid}/task").glob("*/children")
    children = [pid for each in of_threads for pid in each.read_text().split()]
    process.kill()
    process.wait()
    for pid in children:
        # The reaper ends what servers have started in their turn.
        with contextlib.suppress(OSError):
            if _REAPER not in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(int(pid), signal.SIGKILL)

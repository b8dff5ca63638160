"""Kills the app at random moments while a server runs that ignores every polite request; counts what is left.

`python -m docs.hard.orphans [KILLS]`. The app runs in a pseudo-terminal. A moment is anything from when the
server's process is there, which is before Toolsight can have noted it, to a second and a half later. Servers
are found by their command line, so that what Toolsight notes plays no part in the count.
"""

import os
import pty
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from tests.support import clinging_server

KILLS = 30
BEFORE = "30 of 30"
_LATEST = 1.5
# Seconds until the server is there, and until everything has to be gone: there are 2 s between two signals.
_START, _GONE = 60.0, 6.0
_LOOK = 0.002


def running(token: str) -> list[int]:
    """The processes that have a text in their command line, other than the app and its reaper."""
    # A zombie has no command line.
    listed = ((one.pid, " ".join(one.info["cmdline"] or ())) for one in psutil.process_iter(["cmdline"]))
    script = clinging_server.__file__
    return [
        pid
        for pid, command in listed
        if token in command and script in command and "inspector" not in command
    ]


def wait(condition: Callable[[], bool], seconds: float) -> bool:
    """Look until the condition holds; False if it never does."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        # Nobody tells when a process that is no child starts, ends or has stored something.
        time.sleep(_LOOK)
    return True


def killed_once(after: float, *more: str) -> int:
    """Start the app, kill it so many seconds after its server is there, and count the servers left."""
    with tempfile.TemporaryDirectory(prefix="toolsight-orphans-") as folder:
        ours, theirs = pty.openpty()
        server = [sys.executable, clinging_server.__file__, folder, *more]
        app = subprocess.Popen(
            [sys.executable, "-m", "inspector", "--", *server],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TOOLSIGHT_DB": str(Path(folder) / "t.db"), "TERM": "xterm-256color"},
            start_new_session=True,
        )
        os.close(theirs)
        threading.Thread(target=_drain, args=(ours,), daemon=True).start()
        try:
            assert wait(lambda: bool(running(folder)), _START), "the server never started"
            # The random moment of the kill, which is what is measured.
            time.sleep(after)
        finally:
            app.kill()
            app.wait()
        wait(lambda: not running(folder), _GONE)
        left = running(folder)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.close(ours)
        return len(left)


def _drain(terminal: int) -> None:
    with suppress(OSError):
        while os.read(terminal, 1 << 16):
            pass


def main() -> int:
    """Print how many kills left a server; the exit code is 1 if any did."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    moments = random.Random(13)
    left = sum(killed_once(moments.choice((0.0, moments.uniform(0, _LATEST)))) > 0 for _ in range(kills))
    sys.stdout.write(f"orphans after {kills} kills: {left} of {kills} (before: {BEFORE})\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())

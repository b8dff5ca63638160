"""How long until the first frame, beside a bare Textual app, in one run: `make bench`.

Both are started in a pseudo-terminal, in turns, so that a busy machine slows both; the number that counts is
the ratio of the medians. The clock stops when the app's title is on the screen; for Toolsight it is read once
more when the session page, with its prompt, has replaced the first frame.
"""

import contextlib
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

ROUNDS = 9
LIMIT_SECONDS = 30.0
BARE = """
from textual.app import App, ComposeResult
from textual.widgets import Footer, Header, Static
class Bare(App[None]):
    TITLE = "Toolsight"
    def compose(self) -> ComposeResult:
        yield Header()
        yield Static("bare")
        yield Footer()
Bare().run()
"""
TARGET_RATIO = 1.5


def seconds_until(text: bytes, argv: list[str], environment: dict[str, str]) -> float:
    """Seconds from starting the process until a text has reached the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 32, 120, 0, 0))
    started = time.perf_counter()
    process = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    try:
        while text not in seen:
            if time.perf_counter() - started > LIMIT_SECONDS:
                raise TimeoutError(f"not shown in {LIMIT_SECONDS:.0f} s: {seen[-300:]!r}")
            if select.select([ours], [], [], 1.0)[0]:
                seen += os.read(ours, 65536)
        return time.perf_counter() - started
    finally:
        _end(process)
        os.close(ours)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the app and the servers it is starting, which would slow down what is measured next."""
    started = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    servers = started.read_text().split() if started.exists() else []
    process.kill()
    process.wait()
    for server in servers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(server), signal.SIGKILL)


def main() -> int:
    """Print both medians and their ratio; the exit code is 1 above the target."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "TOOLSIGHT_DB": str(Path(folder) / "bench.db"),
        }
        demo = [sys.executable, "-m", "inspector", "demo"]
        bare, ours, page = [], [], []
        for _ in range(ROUNDS):
            bare.append(seconds_until(b"Toolsight", [sys.executable, "-c", BARE], environment))
            ours.append(seconds_until(b"Toolsight", demo, environment))
            page.append(seconds_until(b"Conversation", demo, environment))
    ratio = statistics.median(ours) / statistics.median(bare)
    sys.stdout.write(
        f"first frame, median of {ROUNDS}: bare Textual app {statistics.median(bare) * 1000:.0f} ms, "
        f"Toolsight {statistics.median(ours) * 1000:.0f} ms, ratio {ratio:.2f} (target {TARGET_RATIO}); "
        f"session page {statistics.median(page) * 1000:.0f} ms\n"
    )
    return 0 if ratio <= TARGET_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())

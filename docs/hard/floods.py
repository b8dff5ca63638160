"""Floods from a server: `python -m docs.hard.floods [SECONDS] [FLOOD...]`, a row for each.

The app runs in a pseudo-terminal with a server that, once it has listed its tools, sends the same thing
without an end for SECONDS (120). Meanwhile letters are typed into the prompt, each from the press until it
reaches the terminal; then ctrl+q is pressed. The exit code is 1 if the process took `MEGABYTES` more than
before the flood, a key `KEY` seconds, quitting `QUIT` seconds, or a log more than its cap.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from msgspec import Struct, field

from docs.benchmark import say
from docs.benchmark.terminal import CHAT, Terminal, app
from docs.hard.load import letters
from tests.support.mcp_case import SUPPORT

MEGABYTES, KEY, QUIT = 300, 1.0, 3.0
LOG_BYTES = 1_000_000
FLOODS = (
    "",
    "notifications",
    "progress",
    "log",
    "requests",
    "answers",
    "garbage",
    "line",
    "stderr",
    "stderr_line",
    "http:notifications",
    "http:log",
    "http:requests",
    "http:answers",
)
_SERVER = str(SUPPORT / "mcp_raw_server.py")
_PAUSE = 0.1


class Row(Struct):
    """What a flood cost: megabytes above the start, seconds of each key and of quitting, bytes of stderr."""

    flood: str
    start: float = 0.0
    most: float = 0.0
    keys: list[float] = field(default_factory=list)
    quit: float = 0.0
    log: int = 0

    @property
    def is_good(self) -> bool:
        is_small = self.most - self.start < MEGABYTES and self.log <= LOG_BYTES
        return is_small and max(self.keys) < KEY and self.quit < QUIT


def flooded(flood: str, seconds: float) -> Row:
    """Start the app on a server that floods, type for a while, and quit."""
    row = Row(flood)
    with tempfile.TemporaryDirectory() as folder, _server(flood) as server:
        here = Path(folder)
        configuration = here / "servers.json"
        configuration.write_text(json.dumps({"mcpServers": {"raw": server}}), encoding="utf-8")
        argv = ["--config", str(configuration), "--approve", "--set", "discovery.embedding_model=none"]
        with app(here / "t.db", *argv, XDG_STATE_HOME=str(here), HOME=str(here)) as opened:
            opened.read_until(b"1/1 up")
            opened.seconds_until(CHAT, b"[1 Chat")
            row.start = row.most = memory(opened.pid)
            _type(opened, seconds, row)
            began = time.perf_counter()
            opened.press(b"\x11")
            # A terminal that its program has closed cannot be read.
            with suppress(OSError):
                while time.perf_counter() - began < 10 * QUIT:
                    opened.read_for(0.02)
            row.quit = time.perf_counter() - began
        row.log = max((file.stat().st_size for file in here.rglob("*.stderr.log")), default=0)
    return row


def _type(opened: Terminal, seconds: float, row: Row) -> None:
    end = time.perf_counter() + seconds
    for taken, _drawn in letters(opened, _PAUSE):
        row.keys.append(taken)
        row.most = max(row.most, memory(opened.pid))
        if time.perf_counter() > end:
            return


def memory(pid: int) -> float:
    """The megabytes of a process."""
    return float(psutil.Process(pid).memory_info().rss / 1_000_000)


@contextmanager
def _server(flood: str) -> Iterator[dict[str, object]]:
    transport, _, what = flood.rpartition(":")
    environment = {**os.environ, "FLOOD": what}
    if not transport:
        yield {"command": sys.executable, "args": [_SERVER], "env": {"FLOOD": what}}
        return
    argv = [sys.executable, _SERVER, "--http", "sse"]
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as served:
        assert served.stdout is not None
        try:
            yield {"url": served.stdout.readline().decode().strip()}
        finally:
            served.kill()


def main() -> int:
    """Print a row for each flood."""
    seconds = float(sys.argv[1]) if sys.argv[1:] else 120.0
    say(f"{seconds:g} s each")
    say("| flood | memory at the start | most above it | keys | slowest key | quit | stderr log |")
    say("|---|--:|--:|--:|--:|--:|--:|")
    rows = []
    for flood in sys.argv[2:] or FLOODS:
        row = flooded(flood, seconds)
        rows.append(row)
        cells = (
            f"{row.start:.0f} MB",
            f"{row.most - row.start:.0f} MB",
            str(len(row.keys)),
            f"{max(row.keys) * 1000:.0f} ms",
            f"{row.quit:.2f} s",
            f"{row.log / 1000:.0f} KB",
        )
        say(f"| {flood or 'none'} | {' | '.join(cells)} |{'' if row.is_good else ' ✗'}")
    return 0 if all(row.is_good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

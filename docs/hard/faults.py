"""Keys while a server misbehaves: `python -m docs.hard.faults [FAULT...]`, a row for each fault.

The app runs in a pseudo-terminal with a healthy server and one that has the fault. Letters are typed into
the prompt while the fault goes on, each from the press until it reaches the terminal. A fault of calls begins
with a message, which a scripted model answers by calling the faulty server; one of the start with the app.
The first row of each kind has no fault. The exit code is 1 if the 95th percentile of a row is above `LIMIT`.
"""

import json
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from itertools import takewhile
from pathlib import Path

from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.terminal import CHAT, Terminal, app
from docs.hard.load import letters, memory_of
from tests.support.mcp_case import SERVERS

LIMIT = 0.1
SECONDS, PAUSE = 5.0, 0.03
# The app's own start, in which it imports what it needs, is measured by `docs.benchmark.startup`.
_STARTED = 2.5
OF_CALLS = (
    "",
    "slow:1",
    "hang",
    "half_line",
    "die_on_call",
    "errors:1",
    "rate_limit:30:0",
    "garbage",
    "giant_result:50",
    "wrong_output",
    "grandchildren",
    "storm:100",
    "empty_storm:100",
    "breaking",
    "removed",
)
OF_STARTS = (
    "",
    "hang_on_start",
    "crash_on_start",
    "noise",
    "giant_schema:5",
    "giant_schema:19",
    "endless_pages",
    "repeat_cursor",
    "never_closes",
)
# One message of the user is enough: each answer calls the faulty server once more.
SCRIPT = """
title: Calls the faulty server
turns:
  - user: Go.
    steps:
      - calls: [{tool: "faulty:echo", arguments: {text: hello}}]
      - calls: [{tool: "faulty:echo", arguments: {text: once more}}]
      - say: Done.
"""


class Row(Struct, frozen=True):
    """What the keys took during a fault, in seconds, and the app's memory after it."""

    fault: str
    keys: list[float]
    memory: str

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.keys, n=20)[-1]


def during(fault: str, *, at_start: bool) -> Row:
    """Start the app, begin the fault, and type for `SECONDS`."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        switch = here / "fault"
        switch.write_text(fault if at_start else "", encoding="utf-8")
        (here / "script.yaml").write_text(SCRIPT, encoding="utf-8")
        configuration = here / "servers.json"
        configuration.write_text(json.dumps({"mcpServers": _servers(switch)}), encoding="utf-8")
        argv = ["--config", str(configuration), "--approve", "--model", f"demo/script:{here / 'script.yaml'}"]
        argv += ["--set", "discovery.embedding_model=none", "--set", "discovery.enabled=false"]
        with app(here / "t.db", *argv) as opened:
            if at_start:
                opened.read_until(b"Toolsight")
                opened.press(CHAT)
                opened.read_for(_STARTED)
            else:
                opened.read_until(b"2/2 up")
                opened.seconds_until(CHAT, b"[1 Chat")
                opened.settle()
                switch.write_text(fault, encoding="utf-8")
                opened.press(b"Go.\r")
                opened.read_for(PAUSE)
            keys = typed(opened)
            assert at_start or _has_called(here / "t.db"), f"{fault}: nothing called the faulty server"
            return Row(fault, keys, memory_of(opened.pid))


def typed(opened: Terminal) -> list[float]:
    """Type letters for a while; seconds of each."""
    end = time.perf_counter() + SECONDS
    typing = takewhile(lambda _: time.perf_counter() < end, letters(opened, PAUSE))
    return [taken for taken, _drawn in typing]


def _has_called(database: Path) -> bool:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        called = connection.execute("select count(*) from event where kind = 'call'").fetchone()
    return bool(called[0])


def _servers(switch: Path) -> dict[str, object]:
    command = {"command": sys.executable, "args": [str(SERVERS / "faulty.py")], "trust_annotations": True}
    return {
        "healthy": {**command, "env": {}},
        "faulty": {**command, "env": {"FAULT_FILE": str(switch)}, "call_timeout": 3, "connect_timeout": 4},
    }


def main() -> int:
    """Print a row for each fault."""
    chosen = sys.argv[1:]
    rows: list[Row] = []
    say("| fault | keys | p50 | p95 | slowest | memory |")
    say("|---|--:|--:|--:|--:|---|")
    runs = [(fault, False) for fault in OF_CALLS] + [(fault, True) for fault in OF_STARTS]
    for fault, at_start in runs:
        if chosen and fault not in chosen:
            continue
        row = during(fault, at_start=at_start)
        rows.append(row)
        milliseconds = [round(one * 1000) for one in (statistics.median(row.keys), row.p95, max(row.keys))]
        cells = (
            fault or ("none, at the start" if at_start else "none"),
            len(row.keys),
            *(f"{one} ms" for one in milliseconds),
            row.memory,
        )
        say(f"| {' | '.join(map(str, cells))} |")
    return 1 if max(row.p95 for row in rows) > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())

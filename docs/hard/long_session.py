"""A recorded session of 100,000 events, opened in the app: `python -m docs.hard.long_session`.

Its events are those of the demo's session, again and again, with model calls that count on. The app is in a
pseudo-terminal and opens it in Trace. Measured are the seconds until its calls are shown, the steps from call
to call, and letters typed into the prompt while it is replayed; beside letters in a bare Textual app.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from docs.benchmark import say
from docs.benchmark.terminal import app
from docs.hard.load import LETTERS, bare_keys, memory_of, told

EVENTS = 100_000
STEPS = 60
ID = "a-long-session"
TRACE, CHAT = b"\x1b[15~", b"\x1bOP"
RIGHT, DOWN, ENTER = b"\x1b[C", b"\x1b[B", b"\r"
_SESSION = "INSERT INTO session (id, started_at, ended_at, config, model) VALUES (?, ?, ?, ?, ?)"
_COLUMNS = "kind, server, tool, payload, definitions, kept"
_INSERT = f"INSERT INTO event (session, seq, at, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def lengthened(database: Path) -> None:
    """Record the demo, and make a session of EVENTS events of it."""
    demo = [sys.executable, "-m", "inspector", "demo", "--headless", "--db", str(database)]
    subprocess.run(demo, check=True, capture_output=True)
    with closing(sqlite3.connect(database)) as connection, connection:
        rows = connection.execute(f"SELECT {_COLUMNS} FROM event ORDER BY seq").fetchall()
        [(config, model, at)] = connection.execute("SELECT config, model, started_at FROM session")
        first = next(place for place, row in enumerate(rows) if row[0] == "user")
        turns = [row for row in rows[first:] if row[0] != "stopped"]
        calls = max(json.loads(row[3])["call"] for row in turns if row[0] == "request")
        events = [*rows[:first]]
        while len(events) < EVENTS:
            number = (len(events) - first) // len(turns)
            events += [_later(row, number * calls) for row in turns]
        # Older than the session of the demo, so that it is below it in the list.
        connection.execute(_SESSION, (ID, at - 9, at - 1, config, model))
        numbered = ((ID, seq, at - 9, *row) for seq, row in enumerate(events[:EVENTS], 1))
        connection.executemany(_INSERT, numbered)


def _later(row: tuple[Any, ...], calls: int) -> tuple[Any, ...]:
    """The event, so many model calls later."""
    payload = json.loads(row[3])
    if isinstance(payload.get("call"), int):
        payload["call"] += calls
    return (*row[:3], json.dumps(payload), *row[4:])


def main() -> int:
    """Print what was measured."""
    told("keys in a bare Textual app", bare_keys(200))
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "long.db"
        lengthened(database)
        with app(database, "demo") as opened:
            opened.read_until(b"9/9 up")
            opened.settle()
            opened.seconds_until(TRACE, b"[timeline]")
            opened.seconds_until(b"o", b"Replay a session")
            opened.press(DOWN + DOWN)
            opened.settle()
            say(f"before it is opened: {memory_of(opened.pid)}")
            began = time.perf_counter()
            opened.press(ENTER)
            opened.read_until(b"REPLAY")
            say(f"{EVENTS:,} events: their calls are shown after {time.perf_counter() - began:.1f} s")
            opened.settle()
            told("  steps from call to call", [opened.seconds_until(RIGHT, b"REPLAY") for _ in range(STEPS)])
            opened.seconds_until(CHAT, b"[1 Chat")
            letters = [letter.encode() for letter in LETTERS]
            told("  letters in the prompt", [opened.seconds_until(letter, letter) for letter in letters])
            say(f"  {memory_of(opened.pid)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A recorded session of 100,000 events, opened in the app: `python -m docs.hard.long_session`.

Its events are those of the demo's session, again and again, with model calls that count on. The app is in a
pseudo-terminal and opens it in Trace. Measured are the seconds until its calls are shown, the steps from call
to call, and letters typed into the prompt while it is replayed; beside letters in a bare Textual app.

`python -m docs.hard.long_session turns [COUNT]` asks the demo's stand-in COUNT times in the app instead: the
processor time of the last turns beside the first, and the memory that each turn of the second half left.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from docs.benchmark import say
from docs.benchmark.terminal import app
from docs.hard.load import LETTERS, Progress, bare_keys, memory_of, processor_of, resident, told

EVENTS = 100_000
STEPS = 60
QUESTIONS = (b"Which orders are late?", b"What is the weather in Oslo?", b"Convert 20 USD to EUR")
# Turns until all has been drawn once, and how many are compared.
WARM, SOME = 3, 12
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


def turns(count: int) -> None:
    """Print what the last of so many turns in the app take beside the first."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "turns.db"
        with app(database, "demo") as opened:
            is_ready = Progress(database, 9, embedding=True)
            while not is_ready(opened.read_for(0.5)):
                pass
            took, held = [], []
            for number in range(count):
                began = processor_of(opened.pid)
                opened.press(QUESTIONS[number % len(QUESTIONS)] + b"\r")
                while _ended(database) <= number:
                    opened.read_for(0.1)
                opened.settle()
                took.append(1000 * (processor_of(opened.pid) - began))
                held.append(resident(opened.pid))
    first, last = median(took[WARM : WARM + SOME]), median(took[-SOME:])
    # What grows in the first half are caches, too, and what is loaded in the background.
    later = held[count // 2 :]
    grown = (median(later[-SOME:]) - median(later[:SOME])) / (len(later) - SOME)
    say(f"{count} turns, ms each: the first {first:.0f}, the last {last:.0f}, ratio {last / first:.2f}")
    say(f"  {grown:+.0f} kB a turn, {held[-1] / 1024:.0f} MB at the end")


def _ended(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        [(number,)] = connection.execute("SELECT count(*) FROM event WHERE kind = 'end'")
        return int(number)


def main() -> int:
    """Print what was measured."""
    if sys.argv[1:2] == ["turns"]:
        turns(int(*sys.argv[2:] or ["120"]))
        return 0
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

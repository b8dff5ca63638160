"""Keys, time and memory: 107 servers, and 10,000 tools on one. `python -m docs.hard.load [FOLDER]`

In one run: a bare Textual app that gets the same keys; a script of the SDK that lists the same servers, all
at once, alone and beside the bare app; Toolsight in a pseudo-terminal that connects to them without vectors,
and once more while it embeds. Every key is a letter typed into the prompt, from the press until it reaches
the terminal. FOLDER holds what `capture` wrote.
"""

import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.keys import BARE
from docs.benchmark.terminal import CHAT, Terminal, app, terminal
from docs.hard.world import SERVERS, TOOLS, Catalog, catalogs, multiplied, together, written

LISTING = """
import asyncio, json, sys, time
from mcp import Client, StdioServerParameters
async def listed(server: dict) -> int:
    asked = StdioServerParameters(command=server["command"], args=server["args"])
    async with Client(asked, mode="legacy", read_timeout_seconds=120) as client:
        return len((await client.list_tools()).tools)
async def main() -> None:
    servers = json.load(open(sys.argv[1]))["mcpServers"].values()
    print(sum(await asyncio.gather(*map(listed, servers))), time.process_time(), flush=True)
asyncio.run(main())
"""
LETTERS = [chr(code) for code in (*range(0x430, 0x450), *range(0x561, 0x573))]
"""Letters of two alphabets: no escape sequence and no text of the app has them."""
BIG = 10_000
PAUSE = 0.03
CLEAR = b"\x15"
_LIMIT = 900.0


class Run(Struct, frozen=True):
    """What one start showed: seconds of each key, seconds until all servers were up, and what it took.

    `processor` is in seconds, `written` in bytes of the database.
    """

    keys: list[float]
    connected: float
    memory: str
    processor: float
    threads: int
    written: int


def typed(opened: Terminal, is_done: Callable[[bytes], bool]) -> list[float]:
    """Type letters until it is done by what the terminal has shown; seconds of each."""
    keys: list[float] = []
    end = time.perf_counter() + _LIMIT
    for taken, drawn in letters(opened):
        keys.append(taken)
        if is_done(drawn):
            return keys
        if time.perf_counter() > end:
            raise TimeoutError(f"not done in {_LIMIT:.0f} s: {drawn[-500:]!r}")
    raise AssertionError


def letters(opened: Terminal, pause: float = PAUSE) -> Iterator[tuple[float, bytes]]:
    """Type letters as long as they are asked for: the seconds of each, and what was drawn meanwhile."""
    for number in count():
        if number % len(LETTERS) == 0:
            opened.press(CLEAR)
            opened.read_for(pause)
        letter = LETTERS[number % len(LETTERS)].encode()
        began = time.perf_counter()
        opened.press(letter)
        drawn = opened.read_until(letter)
        yield time.perf_counter() - began, drawn + opened.read_for(pause)


class Progress:
    """Whether the app is done: all servers up on the screen and, with vectors, all texts embedded."""

    def __init__(self, database: Path, servers: int, *, embedding: bool) -> None:
        self.connected = 0.0
        self._database = database
        self._embedding = embedding
        self._up = f"{servers}/{servers} up".encode()
        self._looked = self._began = time.perf_counter()

    def __call__(self, drawn: bytes) -> bool:
        now = time.perf_counter()
        if not self.connected and self._up in drawn:
            self.connected = now - self._began
        if not self.connected or not self._embedding or now - self._looked < 1:
            return bool(self.connected) and not self._embedding
        self._looked = now
        return self._is_embedded()

    def _is_embedded(self) -> bool:
        with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as connection:
            rows = connection.execute(
                "select payload from event where kind = 'index' order by seq desc limit 1"
            )
            (data,) = rows.fetchone() or ("{}",)
        return bool(json.loads(data).get("index", {}).get("phase") == "ready")


def memory_of(pid: int) -> str:
    """The memory that a process has resident, and the most that it had."""
    now, most = (resident(pid, key) // 1024 for key in ("VmRSS", "VmHWM"))
    return f"{now} MB, at most {most} MB"


def resident(pid: int, key: str = "VmRSS") -> int:
    """The kB that a process has resident."""
    return int(re.findall(rf"{key}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[0])


def processor_of(pid: int) -> float:
    """The processor seconds of a process, without those of its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def size_of(database: Path) -> int:
    """The bytes of a database, also of those that are still in its log."""
    with closing(sqlite3.connect(database)) as connection:
        sizes = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")]
    return int(sizes[0] * sizes[1])


def toolsight(configuration: Path, servers: int, *, embedding: bool) -> Run:
    """Start the app on the servers with an empty database, and type until it is done."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "hard.db"
        words = () if embedding else ("--set", "discovery.embedding_model=none")
        progress = Progress(database, servers, embedding=embedding)
        with app(database, "--config", str(configuration), "--approve", *words) as opened:
            opened.press(CHAT)
            opened.read_until(b"Conversation")
            keys = typed(opened, progress)
            tasks, processor = Path(f"/proc/{opened.pid}/task"), processor_of(opened.pid)
            memory = memory_of(opened.pid)
            threads = len(list(tasks.iterdir()))
            return Run(keys, progress.connected, memory, processor, threads, size_of(database))


def bare_keys(count: int) -> list[float]:
    """Type that many letters into a bare Textual app."""
    left = iter(range(count))
    with terminal([sys.executable, "-c", BARE], {**os.environ, "TERM": "xterm-256color"}, rows=36) as opened:
        opened.read_until(b"Toolsight")
        opened.settle()
        return typed(opened, lambda _: next(left, None) is None)


def listing_script(configuration: Path) -> subprocess.Popen[str]:
    """The script of the SDK, started."""
    argv = [sys.executable, "-c", LISTING, str(configuration)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def bare_listing(configuration: Path, tools: int) -> tuple[float, float]:
    """Seconds until a script of the SDK has listed all servers, and its processor seconds."""
    began = time.perf_counter()
    script = listing_script(configuration)
    assert script.stdout is not None
    line = script.stdout.readline()
    taken = time.perf_counter() - began
    script.communicate()
    listed, processor = line.split()
    assert int(listed) == tools, line
    return taken, float(processor)


def bare_keys_beside(configuration: Path) -> list[float]:
    """Type into a bare Textual app while the script lists the servers: what this machine can do at best."""
    with terminal([sys.executable, "-c", BARE], {**os.environ, "TERM": "xterm-256color"}, rows=36) as opened:
        opened.read_until(b"Toolsight")
        opened.settle()
        with listing_script(configuration) as script:
            return typed(opened, lambda _: script.poll() is not None)


def told(what: str, keys: list[float]) -> None:
    """Print how long keys took."""
    ordered = sorted(keys)
    share = sum(key <= 0.05 for key in keys) / len(keys)
    say(
        f"{what}: {len(keys)} keys, median {statistics.median(keys) * 1000:.0f} ms, "
        f"99 % within {ordered[int(len(ordered) * 0.99)] * 1000:.0f} ms, "
        f"at most {ordered[-1] * 1000:.0f} ms, "
        f"{share:.1%} within 50 ms"
    )


def measured(what: str, world: list[Catalog], *, embedding: tuple[bool, ...]) -> None:
    """Measure one world: the SDK's script, and the app without and with vectors."""
    tools = sum(map(len, world))
    with tempfile.TemporaryDirectory() as folder:
        configuration = written(Path(folder), world)
        characters = sum(len(json.dumps(tool)) for catalog in world for tool in catalog)
        say(f"{what}: {tools:,} tools, {characters:,} characters")
        listing, processor = bare_listing(configuration, tools)
        say(f"  a script of the SDK lists them in {listing:.1f} s, {processor:.1f} of the processor")
        told("  keys in a bare Textual app meanwhile", bare_keys_beside(configuration))
        for embeds in embedding:
            run = toolsight(configuration, len(world), embedding=embeds)
            told("  keys while it embeds" if embeds else "  keys without vectors", run.keys)
            ratio = run.connected / listing
            say(f"    all up after {run.connected:.1f} s, ratio {ratio:.2f}; {run.memory}")
            ratio = run.processor / processor
            say(f"    {run.processor:.1f} s of the processor, ratio {ratio:.2f}; {run.threads} threads")
            say(f"    the database has {run.written:,} bytes; the machine's load is {os.getloadavg()[0]:.1f}")


def main() -> int:
    """Print what was measured."""
    found = catalogs(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    told("keys in a bare Textual app", bare_keys(200))
    measured(f"{SERVERS} servers", multiplied(found, SERVERS, TOOLS), embedding=(False, True))
    measured("one server", [together(found, BIG)], embedding=(False,))
    return 0


if __name__ == "__main__":
    sys.exit(main())

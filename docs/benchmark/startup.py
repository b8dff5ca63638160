"""What a start costs beside the least it could cost, in one run: `make bench`.

The app against a bare Textual app, in a pseudo-terminal: the clock stops when the title is on the screen, and
once more when the session page, with its prompt, has replaced the first frame. `toolsight servers` against a
script of the SDK that lists the same server: the processor seconds of the one process, without the server's.
Commands that only read against a click program that prints its help.

All are started in turns, so that a busy machine slows all; what counts are the ratios of the medians.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from docs.benchmark.terminal import terminal

ROUNDS = 9
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
LISTING = """
import asyncio, sys
from mcp import Client, StdioServerParameters
async def main() -> None:
    server = StdioServerParameters(command=sys.executable, args=[sys.argv[1]])
    async with Client(server, mode="legacy") as client:
        print([tool.name for tool in (await client.list_tools()).tools])
asyncio.run(main())
"""
SERVERS = "from inspector.cli import main; main()"
_TELL_CPU = "import atexit, sys, time; atexit.register(lambda: print(time.process_time(), file=sys.stderr))\n"
SERVER = Path(__file__).parents[2] / "fixtures" / "servers" / "calc.py"
CLICK = """
import click
@click.group()
def program() -> None: ...
@program.command()
def one() -> None: ...
program(["--help"])
"""
FRAME_TARGET, PAGE_TARGET, SERVERS_TARGET = 1.1, 3.0, 1.15
COMMANDS = {"--help": 3.0, "sessions": 5.0, "sessions metrics": 5.0, "clients": 5.0, "config settings": 5.0}


def seconds_until(text: bytes, argv: list[str], environment: dict[str, str]) -> float:
    """Seconds from starting the process until a text has reached the terminal."""
    started = time.perf_counter()
    with terminal(argv, environment) as shown:
        shown.read_until(text)
        return time.perf_counter() - started


def processor_seconds(code: str, arguments: list[str], environment: dict[str, str]) -> float:
    """What a Python program takes of the processor, by itself: its servers are not counted."""
    argv = [sys.executable, "-c", _TELL_CPU + code, *arguments]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    return float(done.stderr.split()[-1])


def main() -> int:
    """Print the medians and their ratios; the exit code is 1 where one is above its target."""
    with tempfile.TemporaryDirectory() as folder:
        database, configuration = Path(folder) / "bench.db", Path(folder) / "one.json"
        environment = {**os.environ, "TERM": "xterm-256color", "TOOLSIGHT_DB": str(database)}
        server = {"command": sys.executable, "args": [str(SERVER)]}
        configuration.write_text(json.dumps({"mcpServers": {"calc": server}}))
        command = ["servers", "--config", str(configuration), "--approve"]
        demo = [sys.executable, "-m", "inspector", "demo"]
        bare, frame, page, listing, servers, click = [], [], [], [], [], []
        commands: dict[str, list[float]] = {words: [] for words in COMMANDS}
        for _ in range(ROUNDS):
            bare.append(seconds_until(b"Toolsight", [sys.executable, "-c", BARE], environment))
            frame.append(seconds_until(b"Toolsight", demo, environment))
            page.append(seconds_until(b"Conversation", demo, environment))
            listing.append(processor_seconds(LISTING, [str(SERVER)], environment))
            servers.append(processor_seconds(SERVERS, command, environment))
            click.append(processor_seconds(CLICK, [], environment))
            for words, taken in commands.items():
                taken.append(processor_seconds(SERVERS, words.split(), environment))
    told = (
        _told("first frame", frame, "a bare Textual app", bare, FRAME_TARGET),
        _told("session page", page, "a bare Textual app", bare, PAGE_TARGET),
        _told("toolsight servers, CPU", servers, "a script of the SDK", listing, SERVERS_TARGET),
        *(
            _told(f"toolsight {words}, CPU", taken, "a bare click program", click, COMMANDS[words])
            for words, taken in commands.items()
        ),
    )
    return 0 if all(told) else 1


def _told(what: str, ours: list[float], beside: str, theirs: list[float], target: float) -> bool:
    """Print one comparison; whether it is within its target."""
    mine, other = statistics.median(ours), statistics.median(theirs)
    sys.stdout.write(
        f"{what}, median of {ROUNDS}: {mine * 1000:.0f} ms, {beside} {other * 1000:.0f} ms, "
        f"ratio {mine / other:.2f} (target {target})\n"
    )
    return mine / other <= target


if __name__ == "__main__":
    sys.exit(main())

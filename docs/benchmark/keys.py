"""What a key costs beside the least it could cost, in one run: `make bench`.

In a pseudo-terminal, from the press until what it shows reaches the terminal: a letter typed into the prompt,
beside one typed into a bare Textual app; the cursor of the list of events; the other places, on the first
visit, when the page is made, and on later ones. The app has the demo's servers, all of them connected.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from docs.benchmark.terminal import Terminal, terminal

LETTERS = "абвгдежзиклмнопрстуфхцчшщэюя"
"""Letters that no escape sequence has."""
PLACES = {
    b"\x1bOQ": b"[2 Tools",
    b"\x1bOR": b"[3 Search",
    b"\x1bOS": b"[4 Cost",
    b"\x1b[15~": b"[5 Trace",
    b"\x1b[17~": b"[6 Lab",
    b"\x1bOP": b"[1 Chat",
}
"""F2 to F6 and F1, and what the first line says then."""
TARGET = 2.0
BARE = """
from textual.app import App, ComposeResult
from textual.widgets import Footer, Header, Input
class Bare(App[None]):
    TITLE = "Toolsight"
    def compose(self) -> ComposeResult:
        yield Header()
        yield Input()
        yield Footer()
Bare().run()
"""


@contextmanager
def started(argv: list[str], environment: dict[str, str], shown: bytes) -> Iterator[Terminal]:
    """Run a program until the block ends, from when it shows some bytes and is quiet."""
    with terminal(argv, environment, rows=36) as opened:
        opened.read_until(shown)
        opened.settle()
        yield opened


def typed(shown: Terminal) -> list[float]:
    """Type every letter, one after the other."""
    return [shown.seconds_until(letter.encode(), letter.encode()) for letter in LETTERS]


def visited(shown: Terminal) -> list[float]:
    """Go round the places."""
    return [shown.seconds_until(key, title) for key, title in PLACES.items()]


def main() -> int:
    """Print the medians; the exit code is 1 where a letter is above its target."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "TOOLSIGHT_DB": str(Path(folder) / "bench.db"),
        }
        with started([sys.executable, "-c", BARE], environment, b"Toolsight") as shown:
            bare = typed(shown)
        with started([sys.executable, "-m", "inspector", "demo"], environment, b"9/9 up") as shown:
            ours = typed(shown)
            first = visited(shown)
            again = visited(shown) + visited(shown)
            for title in (b"[5 Trace", b"[events]"):
                shown.seconds_until(b"\x1b[15~", title)
            moved = [shown.seconds_until(b"k", "▌".encode()) for _ in range(20)]
    ratio = statistics.median(ours) / statistics.median(bare)
    sys.stdout.write(
        f"a letter typed, median of {len(ours)}: {_ms(ours)}, a bare Textual app {_ms(bare)}, "
        f"ratio {ratio:.2f} (target {TARGET})\n"
        f"the cursor of a list moved: {_ms(moved)}\n"
        f"another place: {_ms(again)}, the first visit {_ms(first)}, at most {max(first) * 1000:.0f} ms\n"
    )
    return 0 if ratio <= TARGET else 1


def _ms(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())

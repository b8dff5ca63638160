"""Random keys for hours: `python -m docs.hard.random_keys MINUTES [FOLDER] [--seed N]`.

The app runs in a pseudo-terminal with nine servers, which repeat what real ones listed (FOLDER is what
`capture` wrote; without it those of published pools), and a tenth one that restarts every `RESTART` seconds,
as its file is touched and the app watches it. Keys come at random. Every `PROBE` keys the app goes to Tools
and changes its theme, from the press until it begins to draw. Compared are the medians of these and the
memory of the last sixth of the time with those of the second, since the first is warming up. The exit code
is 1 if the app has ended or one of them grew by more than a tenth.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.terminal import Terminal, app
from docs.hard.load import processor_of, resident
from docs.hard.world import catalogs, written

SERVERS, RESTART, PROBE, THEMES, PAUSE = 9, 30.0, 200, 12, 0.05
PARTS = 6
_ESC, _THEME = b"\x1b", b"\x0c"
# Every key of the app but those that end it, also from the palette, or write a file.
KEYS = (
    *(b"1", b"2", b"3", b"4", b"5", b"6", b"\x1bOP", b"\x1b[15~"),
    *(b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[5~", b"\x1b[6~", b"\x1b[H", b"\x1b[F"),
    *(b"\r", b"\r", b"\t", b"\x1b[Z", _ESC, _ESC, b" ", b"/", b"?", b"\x0c", b"\x0f"),
    *(bytes([code]) for code in b"abcdefghijklmnoprstuvwyz=WMIU"),
)
_WORDS = (b"late orders", b"weather", b"create an issue", b"zzz")


class Part(Struct):
    """What one part of the time showed: seconds of each theme, kB in memory, and processor seconds."""

    themes: list[float]
    memory: list[int]
    processor: float = 0.0

    @property
    def told(self) -> str:
        drawn = f"a theme {median(self.themes) * 1000:.1f} ms (of {len(self.themes)})"
        return f"{drawn}, {median(self.memory) / 1024:.0f} MB, {self.processor:.0f} CPU s"


def probe(opened: Terminal) -> list[float]:
    """Seconds until the app begins to draw another theme, on the same page each time."""
    for _ in range(8):
        # Out of fields, dialogs and pages.
        opened.press(_ESC)
        opened.read_for(0.1)
    opened.press(b"2")
    opened.settle()
    return [opened.seconds_until(_THEME, _ESC) for _ in range(THEMES)]


def played(opened: Terminal, seconds: float, restarting: Path, chance: random.Random) -> list[Part]:
    """Press keys that long."""
    began = restarted = time.monotonic()
    parts = [Part([], []) for _ in range(PARTS)]
    number, before = 0, processor_of(opened.pid)
    while (gone := time.monotonic() - began) < seconds:
        part = parts[int(gone / seconds * PARTS)]
        opened.press(chance.choice(_WORDS) if chance.random() < 0.02 else chance.choice(KEYS))
        opened.read_for(PAUSE)
        number += 1
        if time.monotonic() - restarted > RESTART:
            restarted = time.monotonic()
            restarting.touch()
        if number % PROBE == 0:
            part.themes += probe(opened)
            part.memory.append(resident(opened.pid))
            now = processor_of(opened.pid)
            part.processor, before = part.processor + now - before, now
    say(f"{number:,} keys")
    return parts


def main() -> int:
    """Print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("minutes", type=float)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = catalogs(given.folder)[: SERVERS + 1]
        config = written(folder, world)
        restarting = sorted(folder.glob("said*.json"))[-1]
        os.chdir(folder)
        with app(folder / "keys.db", "--config", str(config), "--approve", "--watch") as opened:
            opened.read_until(f"{len(world)}/{len(world)} up".encode())
            try:
                parts = played(opened, given.minutes * 60, restarting, random.Random(given.seed))
            except (OSError, TimeoutError) as error:
                say(f"the app has ended or hangs: {error}")
                return 1
    for part in parts:
        say(part.told)
    first, last = parts[1], parts[-1]
    ratios = median(last.themes) / median(first.themes), median(last.memory) / median(first.memory)
    say(f"the last beside the second: a theme {ratios[0]:.2f}, memory {ratios[1]:.2f} (bar 1.1)")
    return max(ratios) > 1.1


if __name__ == "__main__":
    sys.exit(main())

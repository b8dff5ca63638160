"""A race on a terminal, drawn call by call or printed at its end, and as JSON."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from textwrap import fill
from typing import Any

import click

from inspector.app.pages.chat.race import outcome
from inspector.app.pages.chat.race.cast import Line, ansi_line, drawn
from inspector.cli.render import say, say_raw, say_table
from inspector.cli.scenario.command import Played, terminal_width
from inspector.engine.scenario.race import Race, RaceFrame
from inspector.engine.scenario.racer import Racer
from widgets.big_number import big, size_for

_WIDEST = 110
_UP = "\x1b[{}F"
# Seconds between checks of a run in progress when the pace is 0.
_WAIT = 0.05
# Lines below the large figures: what was measured, in a narrow terminal.
_BELOW = 8
_CLEAR_LINE, _CLEAR_BELOW, _CLEAR_SCREEN = "\x1b[K", "\x1b[J", "\x1b[H\x1b[2J"


class RaceDrawing:
    """Redraws a race in place, model call by model call."""

    def __init__(self, race: Race, pace: float) -> None:
        self._race = race
        self._pace = pace
        self._lines = 0

    async def follow(self) -> None:
        """Draw each frame as it comes, until the race is over and drawn."""
        index = 0
        while not (self._race.is_over and index == len(self._race.frames())):
            if index < len(self._race.frames()):
                self._draw(index)
                index += 1
            await asyncio.sleep(self._pace or _WAIT)
        self._draw(index - 1, end=True)

    def _draw(self, index: int, *, end: bool = False) -> None:
        size = shutil.get_terminal_size()
        width = min(size.columns - 1, _WIDEST)
        most = max(racer.tokens for racer in self._race.racers)
        verdict = self._race.verdict if end else None
        lines = drawn(self._race.scenario.title, self._race.frames()[index], verdict, width, most)
        if not end:
            # A line that has scrolled off the screen cannot be redrawn; the last frame need not be.
            lines = lines[: size.lines - 1]
        text = "".join(f"{_shown(line, width)}{_CLEAR_LINE}\n" for line in lines)
        say_raw(f"{_UP.format(self._lines) if self._lines else ''}{text}{_CLEAR_BELOW}")
        self._lines = len(lines)


class RacePresentation(RaceDrawing):
    """Draws a race on a whole screen, a model call for each key, and its result in large figures."""

    def __init__(self, race: Race) -> None:
        super().__init__(race, 0)

    async def follow(self) -> None:
        """Draw each frame once a key is pressed, until the race is over and drawn."""
        index = 0
        while not (self._race.is_over and index == len(self._race.frames())):
            if index < len(self._race.frames()):
                self._clear()
                self._draw(index)
                index += 1
                await asyncio.to_thread(self._wait, "press any key for the next model call")
            else:
                await asyncio.sleep(_WAIT)
        self._clear()
        self._say_result()

    def _clear(self) -> None:
        self._lines = 0
        say_raw(_CLEAR_SCREEN)

    def _say_result(self) -> None:
        """Print the share saved as large as the screen allows, and what was measured."""
        verdict = self._race.verdict
        assert verdict is not None
        share, size = outcome.big_share(verdict), shutil.get_terminal_size()
        for line in big(share, size_for(share, size.columns - 1, size.lines - _BELOW)):
            say(line)
        say()
        say(outcome.headline(verdict).plain)
        say(fill(outcome.measured(self._race.scenario.title, verdict), size.columns - 1))

    @staticmethod
    def _wait(hint: str) -> None:
        say(hint)
        click.getchar()


def _shown(line: Line, width: int) -> str:
    return ansi_line(line, width, colored="NO_COLOR" not in os.environ)


def print_race(race: Race) -> None:
    """Print the end of the race, and the tokens of every model call."""
    width, frames = min(terminal_width(), _WIDEST), race.frames()
    for line in drawn(race.scenario.title, frames[-1], race.verdict, width):
        say(ansi_line(line, width, colored=False))
    say()
    say("Tool tokens per model call")
    heads = ("call", *(head for profile in race.profiles for head in (profile, "total")))
    say_table(heads, [_row(frame) for frame in frames[1:]], right=frozenset(range(len(heads))))


def _row(frame: RaceFrame) -> list[str]:
    cells = [str(frame.call)]
    for racer in frame.racers:
        present = f"{racer.present:,}" if racer.calls == frame.call else "–"
        cells += [present, f"{racer.tokens:,}"]
    return cells


def _lane_json(racer: Racer) -> dict[str, Any]:
    return {
        **asdict(racer),
        "tokens": racer.tokens,
        "solved": racer.solved.count,
        "dollars_per_step": racer.dollars_per_step,
    }


def race_json(race: Race, played: Sequence[Played], *, asked: bool) -> dict[str, Any]:
    """A race that is over, for programs; `asked` says that it was one of a question."""
    verdict = race.verdict
    assert verdict is not None
    return {
        "title": race.scenario.title,
        "question": asked,
        "scripted": race.scripted,
        "sessions": [one.session for one in played],
        "lanes": [_lane_json(racer) for racer in verdict.racers],
        "shortfall": verdict.shortfall,
        "saved": verdict.saved,
        "input_saved": verdict.input_saved,
        "billed_saved": verdict.billed_saved,
        "prices": asdict(verdict.prices) if verdict.prices is not None else None,
        "notes": list(verdict.notes),
        "frames": [
            {
                "call": frame.call,
                "lanes": [{"tokens": racer.tokens, "present": racer.present} for racer in frame.racers],
            }
            for frame in race.frames()
        ],
    }

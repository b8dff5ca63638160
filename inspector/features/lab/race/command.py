"""`toolsight race`: a question or a scenario with static binding and with discovery, drawn on a terminal."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill, wrap

import click
from rich.cells import cell_len

from inspector.app.draw.line import joined
from inspector.cli.configuration import read_configuration
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.run import run
from inspector.cli.table import is_json, say, say_raw, show, terminal_width
from inspector.config.file import is_file
from inspector.config.profile import DEFAULT_PROFILE
from inspector.core.error import ConfigError
from inspector.core.number import count, money, tokens
from inspector.core.report import NOTHING, Table
from inspector.features.lab import open_lab as lab
from inspector.features.lab.comparison import STATIC, ScenarioResult
from inspector.features.lab.ground import Ground, question, require_fit, require_own_mind
from inspector.features.lab.open_lab import NamedScenario, Played, names_model, require_answers
from inspector.features.lab.race.facts import (
    answered,
    big_share,
    headline,
    measured,
    race_json,
    racer_title,
    result,
    so_far,
)
from inspector.features.lab.race.race import SECONDS_A_CALL, Race, RaceFrame, Racer, Side, Verdict, run_race
from inspector.features.lab.race.race_text import SEARCHES, bar
from inspector.features.lab.scenario import Scenario
from widgets import plain, shorten, visible
from widgets.meter import big, size_for

# Text and its ANSI style codes, "" for none.
Piece = tuple[str, str]
Line = tuple[Piece, ...]
_BOLD, _DIM, _GOOD = "1", "2", "1;32"
_STYLES = ("37", "94")
_LONGEST = 400
# Cells for a racer's total.
_TOTAL = 9
_WIDEST = 110
_UP = "\x1b[{}F"
# Seconds between checks of a run in progress.
_WAIT = 0.05
# Lines below the large figures: what was measured, in a narrow terminal.
_BELOW = 8
_CLEAR_LINE, _CLEAR_BELOW, _CLEAR_SCREEN = "\x1b[K", "\x1b[J", "\x1b[H\x1b[2J"


def drawn(
    title: str, frame: RaceFrame, verdict: Verdict | None, width: int, most: int | None = None
) -> list[Line]:
    """Return a moment of the race as lines of at most `width` cells, or its end if there is a verdict.

    `most` is the number of tokens of a full bar, by default those of the larger racer so far.
    """
    longest = most if most is not None else max(racer.discovery_tokens for racer in frame.racers)
    lines = list(_title_lines(title, frame, width))
    for side, racer in enumerate(frame.racers):
        state = answered(racer).plain if verdict is not None else ""
        lines += [(), *_racer(racer, state, _STYLES[side], longest, width)]
    lines.append(())
    summary = result(verdict) if verdict is not None else so_far(frame)
    for number, text in enumerate(summary.plain.splitlines()):
        style = (_BOLD if verdict.shortfall else _GOOD) if verdict is not None and not number else ""
        lines += [
            ((part, style),)
            for part in (wrap(text, width, subsequent_indent="  ", break_on_hyphens=False) or [""])
        ]
    return lines


def _title_lines(title: str, frame: RaceFrame, width: int) -> Iterator[Line]:
    racer = frame.racers[1]
    yield (("Race  ", _DIM), (visible(title, limit=_LONGEST, newlines=False), _BOLD))
    facts = [racer.tokenizer, racer.model, f"call {frame.call}" if frame.call else "getting ready"]
    pieces = [plain(fact, limit=_LONGEST, newlines=False) for fact in facts if fact]
    yield ((joined(pieces, width).plain, _DIM),)


def _racer(racer: Racer, state: str, color: str, most: int, width: int) -> Iterator[Line]:
    name = racer_title(racer.profile).plain
    yield ((name, f"1;{color}"), (f"   {state}" if state else "", ""))
    yield ((f"{racer.discovery_tokens:>{_TOTAL},}", f"1;{color}"), (_facts(racer, width - _TOTAL - 1), ""))
    yield ((bar(racer, most, width, "").plain, color),)
    call = f"{racer.model_calls:>3} {tokens(racer.present):>6}  {racer.last}" if racer.model_calls else ""
    yield ((visible(call, limit=_LONGEST, newlines=False), ""),)


def _facts(racer: Racer, width: int) -> str:
    """Return as many facts as fit whole."""
    searches = f" ({SEARCHES} {tokens(racer.search_tokens)} searches)" if racer.search_tokens else ""
    facts = [
        f" tokens for tools{searches}",
        count(racer.model_calls, "model call"),
        f"all input {tokens(racer.input_tokens)}",
        *([money(racer.dollars)] if racer.dollars is not None else []),
        f"{count(racer.bound, 'tool')} bound",
    ]
    return joined([plain(fact) for fact in facts], width).plain


def ansi_line(line: Line, width: int, *, colored: bool = True) -> str:
    """Return the line with its styles, cut at `width` cells and free of any other control sequence."""
    room, pieces = width, []
    for text, style in line:
        shown = shorten(plain(text, limit=_LONGEST, newlines=False), room).plain
        room -= cell_len(shown)
        pieces.append(f"\x1b[{style}m{shown}\x1b[0m" if colored and style and shown else shown)
    return "".join(pieces)


class RaceDrawing:
    """Redraws a race in place, model call by model call."""

    def __init__(self, race: Race) -> None:
        self._race = race
        self._lines = 0

    async def follow(self) -> None:
        """Draw each frame as it comes, until the race is over and drawn."""
        index = 0
        while not (self._race.is_over and index == len(self._race.frames())):
            if index < len(self._race.frames()):
                self._draw(index)
                index += 1
            await asyncio.sleep(SECONDS_A_CALL)
        self._draw(index - 1, end=True)

    def _draw(self, index: int, *, end: bool = False) -> None:
        size = shutil.get_terminal_size()
        width = min(size.columns - 1, _WIDEST)
        most = max(racer.discovery_tokens for racer in self._race.racers)
        verdict = self._race.verdict if end else None
        lines = drawn(self._race.scenario.title, self._race.frames()[index], verdict, width, most)
        if not end:
            # A line that has scrolled off the screen cannot be redrawn; the last frame need not be.
            lines = lines[: size.lines - 1]
        colored = "NO_COLOR" not in os.environ
        text = "".join(f"{ansi_line(line, width, colored=colored)}{_CLEAR_LINE}\n" for line in lines)
        say_raw(f"{_UP.format(self._lines) if self._lines else ''}{text}{_CLEAR_BELOW}")
        self._lines = len(lines)


class RacePresentation(RaceDrawing):
    """Draws a race on a whole screen, a model call for each key, and its result in large figures."""

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
        share, size = big_share(verdict), shutil.get_terminal_size()
        for line in big(share, size_for(share, size.columns - 1, size.lines - _BELOW)):
            say(line)
        say()
        say(headline(verdict).plain)
        say(fill(measured(self._race.scenario.title, verdict), size.columns - 1))

    @staticmethod
    def _wait(hint: str) -> None:
        say(hint)
        click.getchar()


def _ended(race: Race) -> Iterator[str | Table]:
    """The end of the race, and the tokens of every model call."""
    width, frames = min(terminal_width(), _WIDEST), race.frames()
    for line in drawn(race.scenario.title, frames[-1], race.verdict, width):
        yield ansi_line(line, width, colored=False)
    heads = ("call", *(head for profile in race.profiles for head in (profile, "total")))
    rows = tuple(map(_row, frames[1:]))
    yield Table("Tool tokens per model call", heads, rows, frozenset(range(len(heads))))


def _row(frame: RaceFrame) -> tuple[str, ...]:
    cells = [str(frame.call)]
    for racer in frame.racers:
        present = f"{racer.present:,}" if racer.model_calls == frame.call else NOTHING
        cells += [present, f"{racer.discovery_tokens:,}"]
    return tuple(cells)


@session_command(takes=COMMON)
@click.argument("name", metavar="[QUESTION|FILE|NAME]", default="demo")
@click.option(
    "--present",
    is_flag=True,
    help="For presentations: a key press per model call, and the result in large figures.",
)
@as_json
@click.pass_context
def race(context: click.Context, /, name: str, present: bool, chosen: Options) -> None:
    """Ask once with all tools bound and once with discovery.

    A scenario's script answers unless you pass --model; static binding plays it without the searches. The
    other side uses --profile, or else the profile of the scenario or the configuration. Calls that may change
    something are skipped, because they would run twice, unless you pass --yes or use the demo's servers.

    \b
    toolsight race "Which orders are late?" server.py
    """
    if present and (is_json() or not _is_terminal()):
        raise click.UsageError("--present needs a terminal and cannot be used with --json.")
    one = _entry(name, chosen, names_model=names_model(context))
    race = _race(one, chosen)
    screen: RaceDrawing | None = None
    if _is_terminal() and not is_json():
        screen = RacePresentation(race) if present else RaceDrawing(race)
    played = run(_run(one, chosen, race, screen))
    if is_json() or screen is None:
        assert race.verdict is not None
        sessions = [one.session for one in played]
        show(race_json(race, race.verdict, sessions, asked=one.path is None), _ended(race))
    require_answers(played)


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is raced: a question, or the scenario of a file. The ground is None for the demo's servers."""

    name: str
    scenario: Scenario
    path: Path | None
    ground: Ground | None
    scripted: bool


def _entry(name: str, setup: Options, *, names_model: bool) -> _Entry:
    """A question is what no file is called and has more than one word. Raises ConfigError."""
    if len(name.split()) > 1 and not is_file(Path(name)):
        require_own_mind(setup.model)
        return _Entry(name, question(name), None, _ground(setup), scripted=False)
    is_named = setup.config is not None or setup.server
    one = NamedScenario.find(name)
    own = _ground(setup) if is_named else None
    return _Entry(name, one.scenario, one.path, own, scripted=not names_model)


def _ground(setup: Options) -> Ground:
    return Ground(read_configuration(setup).unrestricted, setup.model, setup.toolset)


def _race(one: _Entry, setup: Options) -> Race:
    own = one.ground.configuration.profile if one.path is None and one.ground is not None else ""
    other = setup.profile or one.scenario.profile or (own if own != STATIC else "") or DEFAULT_PROFILE
    if other == STATIC:
        hint = "Choose another profile with --profile; see `toolsight config settings --profiles`."
        raise ConfigError("static binding cannot race against itself", hint=hint)
    return Race(one.scenario, (STATIC, other), scripted=one.scripted)


async def _run(one: _Entry, setup: Options, race: Race, screen: "RaceDrawing | None") -> list[Played]:
    """Run both sides at once, and draw them."""
    played: dict[int, Played] = {}

    async def play(side: Side) -> ScenarioResult:
        mine = replace(setup, model=side.model or setup.model, values=side.values)
        session = lab.open_lab(side.scenario, mine, side.profile, tell=side.listen, ground=one.ground)
        async with session as opened:
            if one.ground is not None:
                require_fit(one.scenario, opened.bench.catalog)
            race.prices = opened.bench.accounting.prices()
            result = await opened.run.run()
            played[side.number] = Played(one.name, opened.bench.session_id, result)
        return result

    drawing = asyncio.ensure_future(screen.follow()) if screen is not None else None
    try:
        await run_race(race, setup.values, one.path, play)
        if drawing is not None:
            await drawing
    finally:
        if drawing is not None:
            drawing.cancel()
    return [played[number] for number in sorted(played)]


def _is_terminal() -> bool:
    return sys.stdout.isatty()

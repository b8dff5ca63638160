"""A race between static binding and discovery: a question, or a scenario; drawn on a terminal or as files."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from inspector.cli.configuration import read_configuration
from inspector.cli.launch import ask_about_leftovers
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.run import run
from inspector.cli.table import is_json, say, say_raw, show, terminal_width, write_file
from inspector.config.file import is_file
from inspector.config.profile import DEFAULT_PROFILE
from inspector.core.error import ConfigError
from inspector.core.report import NOTHING, Table, selected
from inspector.features.lab import open_lab as lab
from inspector.features.lab.comparison import STATIC, ScenarioResult
from inspector.features.lab.ground import Ground, question, require_fit, require_own_mind
from inspector.features.lab.open_lab import NamedScenario, Played, names_model, require_answers
from inspector.features.lab.race import race_text as outcome
from inspector.features.lab.race.picture import FORMATS, ansi_line, drawn, exported
from inspector.features.lab.race.race import SECONDS_A_CALL, Race, RaceFrame, Side, run_race
from inspector.features.lab.scenario import Scenario
from widgets.meter import big, size_for

# A race on a terminal, drawn call by call or printed at its end, and as JSON.

_WIDEST = 110
_UP = "\x1b[{}F"
# Seconds between checks of a run in progress.
_WAIT = 0.05
# Lines below the large figures: what was measured, in a narrow terminal.
_BELOW = 8
_CLEAR_LINE, _CLEAR_BELOW, _CLEAR_SCREEN = "\x1b[K", "\x1b[J", "\x1b[H\x1b[2J"


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


_LANE = (
    "profile model tokenizer message calls:model_calls searches bound present tool_tokens search_tokens "
    "input_tokens billed dollars last outcome is_over refused failed solved:steps tokens:discovery_tokens "
    "dollars_per_step"
)
_PRICES = "{model input output cache_read cache_write cache_write_hour cache_minimum source date}"


def _race_json(race: Race, played: Sequence[Played], *, asked: bool) -> dict[str, Any]:
    """A race that is over, for programs; `asked` says that it was one of a question."""
    verdict = race.verdict
    assert verdict is not None
    keys = f"lanes:racers{{{_LANE}}} shortfall saved input_saved billed_saved prices{_PRICES} notes"
    return {
        **selected(race, "title:scenario.title scripted"),
        "question": asked,
        "sessions": [one.session for one in played],
        **selected(verdict, keys),
        "frames": selected(race.frames(), "call lanes:racers{tokens:discovery_tokens present}"),
    }


@session_command(takes=COMMON)
@click.argument("name", metavar="[QUESTION|FILE|NAME]", default="demo")
@click.option(
    "--export",
    "exports",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a slide (.svg) or a page (.md, .html). May be repeated.",
)
@click.option(
    "--present",
    is_flag=True,
    help="For presentations: a key press per model call, and the result in large figures.",
)
@as_json
@click.pass_context
def race(
    context: click.Context, /, name: str, exports: tuple[Path, ...], present: bool, chosen: Options
) -> None:
    """Ask once with all tools bound and once with discovery.

    A scenario's script answers unless you pass --model; static binding plays it without the searches. The
    other side uses --profile, or else the profile of the scenario or the configuration. Calls that may change
    something are skipped, because they would run twice, unless you pass --yes or use the demo's servers.

    \b
    toolsight race "Which orders are late?" server.py
    """
    _require_formats(exports)
    if present and (is_json() or not _is_terminal()):
        raise click.UsageError("--present needs a terminal and cannot be used with --json.")
    one = _entry(name, chosen, names_model=names_model(context))
    race = _race(one, chosen)
    ask_about_leftovers(chosen)
    screen: RaceDrawing | None = None
    if _is_terminal() and not is_json():
        screen = RacePresentation(race) if present else RaceDrawing(race)
    played = run(_run(one, chosen, race, screen))
    for path in exports:
        write_file(path, exported(race, path))
        say(f"written to {path}", err=True)
    if is_json() or screen is None:
        show(_race_json(race, played, asked=one.path is None), _ended(race))
    require_answers(played)


def _require_formats(paths: Sequence[Path]) -> None:
    for path in paths:
        if path.suffix not in FORMATS:
            raise click.UsageError(f"{path} must end in one of {', '.join(FORMATS)}.")


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

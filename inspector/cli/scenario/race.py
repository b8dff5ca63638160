"""A race between static binding and discovery: a question, or a scenario; drawn on a terminal or as files."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from inspector.adapters.files.content import is_file
from inspector.app.pages.chat.race.export import FORMATS, exported
from inspector.app.pages.chat.race.job import both, static_file
from inspector.app.scenario_job import ScenarioFile
from inspector.cli import composition
from inspector.cli.doctor.orphans import ask_about_leftovers
from inspector.cli.options import Options, as_json, options, shared
from inspector.cli.render import say, say_json
from inspector.cli.run import run
from inspector.cli.scenario import opening
from inspector.cli.scenario.command import (
    NamedScenario,
    Played,
    names_model,
    require_answers,
)
from inspector.cli.scenario.race_report import RaceDrawing, RacePresentation, print_race, race_json
from inspector.domain.error import ConfigError
from inspector.domain.profile import DEFAULT_PROFILE
from inspector.domain.scenario import Scenario
from inspector.engine.scenario.ground import Ground, question, require_fit, require_own_mind
from inspector.engine.scenario.profile_comparison import STATIC
from inspector.engine.scenario.race import SECONDS_A_CALL, Race
from inspector.engine.scenario.static_script import static_settings
from inspector.engine.sink import write


@click.command()
@click.argument("name", metavar="[QUESTION|FILE|NAME]", default="demo")
@click.option(
    "--export",
    "exports",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a slide (.svg), a page (.md, .html) or an asciinema recording (.cast). May be repeated.",
)
@click.option(
    "--present",
    is_flag=True,
    help="For presentations: a key press per model call, and the result in large figures.",
)
@click.option(
    "--pace",
    type=click.FloatRange(0, 60),
    default=SECONDS_A_CALL,
    show_default=True,
    metavar="SECONDS",
    help="How long to show each model call on a terminal.",
)
@shared
@as_json
@click.pass_context
def race(
    context: click.Context,
    /,
    name: str,
    exports: tuple[Path, ...],
    present: bool,
    pace: float,
    as_json: bool,
    **values: Any,
) -> None:
    """Ask once with all tools bound and once with discovery.

    A scenario's script answers unless you pass --model; static binding plays it without the searches. The
    other side uses --profile, or else the profile of the scenario or the configuration. Calls that may change
    something are skipped, because they would run twice, unless you pass --yes or use the demo's servers.

    \b
    toolsight race "Which orders are late?" server.py
    """
    _require_formats(exports)
    if present and (as_json or not _is_terminal()):
        raise click.UsageError("--present needs a terminal and cannot be used with --json.")
    setup = options(**values)
    one = _entry(name, setup, names_model=names_model(context))
    race = _race(one, setup)
    if not setup.names_viewer:
        ask_about_leftovers(composition.open_leftovers(setup))
    screen: RaceDrawing | None = None
    if _is_terminal() and not as_json:
        screen = RacePresentation(race) if present else RaceDrawing(race, pace)
    played = run(_run(one, setup, race, screen))
    for path in exports:
        _write(path, exported(race, path))
    if as_json:
        say_json(race_json(race, played, asked=one.path is None))
    elif screen is None:
        print_race(race)
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

    def file(self, static: ScenarioFile, side: int) -> ScenarioFile:
        """The scenario as one side plays it."""
        return static if side == 0 else ScenarioFile(self.path or static.path, self.scenario)


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
    return Ground(composition.read_configuration(setup).unrestricted, setup.model, setup.toolset)


def _race(one: _Entry, setup: Options) -> Race:
    own = one.ground.configuration.profile if one.path is None and one.ground is not None else ""
    other = setup.profile or one.scenario.profile or (own if own != STATIC else "") or DEFAULT_PROFILE
    if other == STATIC:
        hint = "Choose another profile with --profile; see `toolsight config settings --profiles`."
        raise ConfigError("static binding cannot race against itself", hint=hint)
    return Race(one.scenario, (STATIC, other), scripted=one.scripted)


async def _run(one: _Entry, setup: Options, race: Race, screen: "RaceDrawing | None") -> list[Played]:
    """Run both sides at once, and draw them."""
    with static_file(one.scenario) as static:
        drawing = asyncio.ensure_future(screen.follow()) if screen is not None else None
        try:
            played = await both(*(_play(one, static, setup, race, side) for side in (0, 1)))
            if drawing is not None:
                await drawing
        finally:
            if drawing is not None:
                drawing.cancel()
        return played


async def _play(one: _Entry, static: ScenarioFile, setup: Options, race: Race, side: int) -> Played:
    file = one.file(static, side)
    assert file.scenario is not None
    mine = replace(setup, model=f"demo/script:{file.path}") if race.scripted else setup
    if race.profiles[side] == STATIC:
        mine = replace(mine, values=static_settings(mine.values))
    profile, listen = race.profiles[side], race.listener(side)
    session = opening.open_lab(file.scenario, mine, profile, tell=listen, ground=one.ground)
    async with session as lab:
        if one.ground is not None:
            require_fit(one.scenario, lab.bench.catalog)
        race.prices = lab.bench.accounting.prices()
        played = Played(one.name, lab.bench.session_id, await lab.run.run())
    race.end(side, played.result)
    return played


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _write(path: Path, text: str) -> None:
    try:
        write(path, text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
    say(f"written to {path}", err=True)

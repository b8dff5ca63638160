"""Lists scenarios, plays them on real servers, and checks what is expected of them."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from inspector.cli import composition, location
from inspector.cli.doctor.models import ask_about_leftovers
from inspector.cli.group import CommandGroup
from inspector.cli.model_failure import model_failure
from inspector.cli.options import Options, as_json, options, shared
from inspector.cli.outcome import Exit
from inspector.cli.run import run
from inspector.cli.scenario import opening
from inspector.cli.scenario.report import (
    finding_lines,
    listing,
    listing_json,
    record_line,
    result_json,
    totals_lines,
)
from inspector.cli.table import say, say_json
from inspector.core.error import ConfigError
from inspector.core.events import Failed, Record
from inspector.core.number import count
from inspector.core.stream import Listener
from inspector.scenario.comparison import ScenarioResult, compare_profiles
from inspector.scenario.scenario import Scenario, load_scenario

_NO_TERMINAL = (200, 24)


@dataclass(frozen=True, slots=True)
class NamedScenario:
    """A scenario, the name it was asked for by, and its file."""

    name: str
    path: Path
    scenario: Scenario

    @classmethod
    def find(cls, name: str) -> "NamedScenario":
        """Find a shipped scenario by name, or read any file. Raises ConfigError."""
        path = location.scenario_path(name)
        return cls(name, path, load_scenario(path))

    @property
    def script(self) -> str:
        """The name of the model that plays it."""
        return f"demo/script:{self.path}"


@dataclass(frozen=True, slots=True)
class Played:
    """A scenario's result, and the session that recorded it."""

    name: str
    session: str
    result: ScenarioResult


def play(chosen: NamedScenario, setup: Options, *, profile: str = "", tell: Listener | None = None) -> Played:
    """Play a scenario in its own session, on its own servers. Raises ToolsightError."""

    async def played() -> Played:
        async with opening.open_lab(chosen.scenario, setup, profile, tell=tell) as lab:
            return Played(chosen.name, lab.bench.session_id, await lab.run.run())

    return run(played())


def names_model(context: click.Context) -> bool:
    """Whether the user named a model, even the default one."""
    return context.get_parameter_source("model") is not ParameterSource.DEFAULT


def require_answers(played: Sequence[Played]) -> None:
    """Raise ModelError if the model failed, so that no table hides it."""
    for one in played:
        failed = [record.event for record in one.result.records if isinstance(record.event, Failed)]
        if one.result.totals.outcome == "failed" and failed:
            raise model_failure(failed[-1], one.session)


def terminal_width() -> int:
    return shutil.get_terminal_size(_NO_TERMINAL).columns


@click.group(
    cls=CommandGroup,
    modules={"run": "scenario.command:run_scenarios", "compare": "scenario.compare"},
    invoke_without_command=True,
)
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also list the scenarios in this folder.",
)
@as_json
@click.pass_context
def scenario(context: click.Context, /, folders: tuple[Path, ...], as_json: bool) -> None:
    """List scripted conversations, and what each expects.

    \b
    toolsight scenario run guard --check
    """
    if context.invoked_subcommand is None:
        _list(folders, as_json=as_json)


def _list(folders: Sequence[Path], *, as_json: bool) -> None:
    """Print the scenarios that come with Toolsight, and those in each folder."""
    found = [NamedScenario.find(path.stem) for path in location.shipped_scenarios()]
    problems = []
    for path in (path for folder in folders for path in _files(folder)):
        try:
            found.append(NamedScenario(str(path), path, load_scenario(path)))
        except ConfigError as error:
            problems.append(error.message)
    if as_json:
        say_json([listing_json(one.name, str(one.path), one.scenario) for one in found])
    else:
        for number, one in enumerate(found):
            if number:
                say()
            _say_lines(listing(one.name, one.scenario, terminal_width()))
    for problem in problems:
        say(f"unreadable: {problem}", err=True)


@click.command("run")
@click.argument("names", nargs=-1, metavar="[FILE|NAME]...")
@click.option("--all", "is_all", is_flag=True, help="Play every scenario that comes with Toolsight.")
@click.option("--check", is_flag=True, help="Exit with 3 if an expectation is not met.")
@shared
@as_json
@click.pass_context
def run_scenarios(
    context: click.Context, /, names: tuple[str, ...], is_all: bool, check: bool, as_json: bool, **values: Any
) -> None:
    """Play scenarios, each in its own session with fresh data.

    They run on the demo servers, or on --config. Each scenario's script answers as the model; with --model,
    that model gets the same messages and answers instead.

    \b
    toolsight scenario run guard redundant --check
    """
    shipped = [path.stem for path in location.shipped_scenarios()] if is_all else []
    wanted = [NamedScenario.find(name) for name in dict.fromkeys((*shipped, *names))]
    if not wanted:
        raise click.UsageError("Pass a scenario, or --all. `toolsight scenario` lists them.")
    setup = options(**values)
    if not setup.names_viewer:
        ask_about_leftovers(composition.open_leftovers(setup))
    played: list[Played] = []
    try:
        for one in wanted:
            model = setup.model if names_model(context) else one.script
            mine = replace(setup, model=model)
            played.append(play(one, mine) if as_json else _played_aloud(one, mine, check=check))
    except KeyboardInterrupt as error:
        say(f"{len(played)} of {count(len(wanted), 'scenario')} played", err=True)
        raise click.Abort from error
    finally:
        if as_json:
            say_json([result_json(one.name, one.session, one.result) for one in played])
    if check:
        _judge(played, quiet=as_json)
    require_answers(played)


def play_named(name: str, setup: Options, *, as_json: bool) -> None:
    """Play one scenario with its script, and say what was expected of it."""
    one = NamedScenario.find(name)
    mine = replace(setup, model=one.script)
    played = play(one, mine) if as_json else _played_aloud(one, mine, check=True)
    if as_json:
        say_json(result_json(one.name, played.session, played.result))
    require_answers([played])


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder")
    return sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))


def _played_aloud(one: NamedScenario, setup: Options, *, check: bool) -> Played:
    """Play a scenario; print a line for each record that matters, then the totals."""
    width = terminal_width()
    say(f"\n{one.scenario.title}   {one.name}")
    played = play(one, setup, tell=_teller(width))
    result = played.result
    say()
    (row,) = compare_profiles([result], scripted=False).rows
    _say_lines(totals_lines(row, result.prices))
    if check:
        say()
        _say_lines(finding_lines(result.findings, result.records, width))
    say(f"session {played.session} in {location.database_path(setup)}")
    return played


def _teller(width: int) -> Callable[[Record], None]:
    def tell(record: Record) -> None:
        line = record_line(record, width)
        if line is not None:
            say(line)

    return tell


def _judge(played: Sequence[Played], *, quiet: bool) -> None:
    """Exit with 3 if a scenario did not pass, naming each one that did not."""
    failed = [one.name for one in played if not one.result.passed]
    if not quiet:
        rest = f"; failed: {', '.join(failed)}" if failed else ""
        say(f"\n{len(played) - len(failed)} of {len(played)} scenarios passed{rest}")
    if failed:
        sys.exit(Exit.GATE)


def _say_lines(lines: Iterator[str]) -> None:
    for line in lines:
        say(line)

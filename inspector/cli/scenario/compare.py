"""One scenario under several profiles, each in its own session, with the totals side by side."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector.app.scenario_job import ScenarioFile
from inspector.cli import composition
from inspector.cli.doctor.models import ask_about_leftovers
from inspector.cli.location import shipped_scenarios
from inspector.cli.options import Options, as_json, options, shared
from inspector.cli.progress import Progress
from inspector.cli.scenario.command import (
    NamedScenario,
    Played,
    names_model,
    play,
    require_answers,
    terminal_width,
)
from inspector.cli.scenario.opening import open_lab
from inspector.cli.scenario.report import comparison_json, comparison_markdown, comparison_text
from inspector.cli.table import say, say_json
from inspector.config.setting import PROFILES, find_profile
from inspector.core.error import ConfigError
from inspector.core.events import ModelRequested, Record
from inspector.core.ports import SystemClock
from inspector.scenario.comparison import STATIC, compare_profiles
from inspector.scenario.scenario import Scenario

if TYPE_CHECKING:
    from inspector.scenario.comparison import ScenarioResult
    from inspector.scenario.ground import Ground


_ONE_PROFILE = "profile"


class _CompareCommand(click.Command):
    """Takes the shared options, except the single profile that other commands take."""

    def __init__(self, *, params: Iterable[click.Parameter] = (), **extra: Any) -> None:
        super().__init__(params=[param for param in params if param.name != _ONE_PROFILE], **extra)


def _profiles(_context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(find_profile(name).name for name in names))


@click.command(cls=_CompareCommand)
@click.argument("name", metavar="FILE|NAME")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    callback=_profiles,
    help="Compare this profile; see `toolsight config settings --profiles`. May be repeated.",
)
@click.option("--all-profiles", is_flag=True, help="Compare every profile.")
@click.option(
    "--script", is_flag=True, help="Let the scenario's script answer, identically under each profile."
)
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@shared
@as_json
@click.pass_context
def compare(
    context: click.Context,
    /,
    name: str,
    profiles: list[str],
    all_profiles: bool,
    script: bool,
    markdown: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Play a scenario under several profiles, side by side.

    The model answers the scenario's user, so it can act on what each profile offers.

    \b
    toolsight scenario compare demo --script --profile toolsight --profile static
    """
    if script and names_model(context):
        raise click.UsageError("--script and --model cannot be used together.")
    if markdown and as_json:
        raise click.UsageError("--markdown and --json cannot be used together.")
    wanted = _in_order(list(PROFILES) if all_profiles else profiles)
    if len(wanted) < 2:
        raise click.UsageError("Pass --profile two or more times, or use --all-profiles.")
    one = NamedScenario.find(name)
    setup = options(**values)
    if not setup.names_viewer:
        ask_about_leftovers(composition.open_leftovers(setup))
    played: list[Played] = []
    try:
        _play_each(one, replace(setup, model=one.script) if script else setup, wanted, played)
    except KeyboardInterrupt as error:
        say(f"{len(played)} of {len(wanted)} profiles played", err=True)
        raise click.Abort from error
    finally:
        if played:
            _say(played, scripted=script, markdown=markdown, as_json=as_json)
    require_answers(played)


def _in_order(profiles: Sequence[str]) -> list[str]:
    """The profiles in the given order, but static first: if the run stops, the baseline is there."""
    return sorted(profiles, key=lambda name: name != STATIC)


def _play_each(one: NamedScenario, setup: Options, profiles: Sequence[str], played: list[Played]) -> None:
    """Play the scenario under each profile; results are added to `played`, so that a failure keeps them."""
    progress = Progress(SystemClock())
    try:
        for number, profile in enumerate(profiles):

            def tell(record: Record, what: str = f"{number + 1} of {len(profiles)}: {profile}") -> None:
                call = record.event.call if isinstance(record.event, ModelRequested) else 0
                progress(f"{what}, model call {call}" if call else what, 0, 0)

            played.append(play(one, setup, profile=profile, tell=tell))
    finally:
        progress.clear()


def _say(played: Sequence[Played], *, scripted: bool, markdown: bool, as_json: bool) -> None:
    compared = compare_profiles([one.result for one in played], scripted=scripted)
    if as_json:
        say_json(comparison_json(compared, [one.session for one in played]))
        return
    if markdown:
        lines = comparison_markdown(compared)
    else:
        say(compared.title)
        lines = comparison_text(compared, terminal_width())
    for line in lines:
        say(line)


class ShippedLab:
    """A `Lab`. It records sessions where the options say; the servers of `run` are always the demo's."""

    def __init__(self, options: Options) -> None:
        self._options = replace(
            options, config=None, server=(), demo=False, toolset="", profile="", values={}
        )

    def scenarios(self) -> Sequence[ScenarioFile]:
        """See `Lab`; a file that cannot be read has its problem instead."""
        return [_read(path) for path in shipped_scenarios()]

    async def run(
        self, file: ScenarioFile, profile: str, values: Mapping[str, Any], tell: Callable[[Record], None]
    ) -> "ScenarioResult":
        """See `Lab`. The run is recorded as a session like any other."""
        if file.scenario is None:
            raise ConfigError(file.problem)
        options = replace(self._options, model=f"demo/script:{file.path}", values=values)
        async with open_lab(file.scenario, options, profile, tell=tell) as lab:
            return await lab.run.run()

    async def race(
        self,
        scenario: Scenario,
        ground: "Ground",
        profile: str,
        values: Mapping[str, Any],
        tell: Callable[[Record], None],
    ) -> "ScenarioResult":
        """See `Lab`. On the demo's servers every side has data of its own, so it may change them."""
        options = replace(
            self._options,
            model=ground.model,
            api_base=ground.api_base,
            window=ground.window or None,
            toolset=ground.toolset,
            values=values,
        )
        async with open_lab(scenario, options, profile, tell=tell, ground=ground) as lab:
            return await lab.run.run()


def _read(path: Path) -> ScenarioFile:
    from inspector.scenario.scenario import load_scenario

    try:
        return ScenarioFile(path, load_scenario(path))
    except ConfigError as error:
        return ScenarioFile(path, problem=error.message)

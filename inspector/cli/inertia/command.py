"""`toolsight inertia`: what is called after what, by whom, and how sure that is."""

from collections.abc import Sequence
from pathlib import Path

import click

from inspector.adapters.clock import SystemClock
from inspector.cli.agents.option import database_options
from inspector.cli.composition import load_seeds
from inspector.cli.inertia.library import RecordedFlows
from inspector.cli.inertia.report import say_flow, say_personas
from inspector.cli.inertia.score import score
from inspector.cli.options import as_json as json_option, database as database_option
from inspector.cli.render import say, say_json
from inspector.domain.closest import closest
from inspector.domain.composition_settings import InertiaSettings
from inspector.domain.error import ConfigError
from inspector.domain.inertia import Aging
from inspector.engine.composition.flow import Flow, exported, flows

_DEFAULTS = InertiaSettings()
_persona = click.option("--persona", default="", help="Whose habits: an agent, a toolset or a name.")
_half_life = click.option(
    "--half-life",
    type=click.FloatRange(min=0),
    default=_DEFAULTS.half_life_days,
    show_default=True,
    help="Days after which a call counts half; 0 counts old calls in full.",
)
_EMPTY = (
    "No call has been recorded yet. `toolsight sessions import --agent NAME` reads those of real agents, and "
    "`toolsight inertia seed FILE` checks a file of transitions."
)


@click.group(invoke_without_command=True)
@database_option
@click.pass_context
def inertia(context: click.Context, database: Path | None) -> None:
    """Show which tool is called after which in recorded sessions, and how sure that is."""
    if context.invoked_subcommand is None:
        context.invoke(show, database=database)


@inertia.command()
@_persona
@_half_life
@json_option
@database_option
def show(persona: str, half_life: float, as_json: bool, database: Path | None) -> None:
    """Print what follows what, for the persona that is known best or the one that is named."""
    found = _recorded(database, half_life)
    if as_json:
        say_json([exported(one) for one in _chosen(found, persona)])
    elif not found:
        say(_EMPTY)
    else:
        say_personas(found)
        say_flow(_chosen(found, persona)[0])


@inertia.command()
@_persona
@_half_life
@database_option
def export(persona: str, half_life: float, database: Path | None) -> None:
    """Print the transitions as JSON that `inertia.seed` reads again elsewhere."""
    say_json({"personas": [exported(one) for one in _chosen(_recorded(database, half_life), persona)]})


@inertia.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def seed(file: Path, as_json: bool) -> None:
    """Check a file of transitions, JSON or YAML, and print what it says; nothing is stored."""
    found = flows(load_seeds(file), Aging(0.0))
    if as_json:
        say_json([exported(one) for one in found])
        return
    for one in found:
        say_flow(one)
    say(f"\nIt is read where a session has it: --set inertia.enabled=true --set inertia.seed={file}")


inertia.add_command(score)


def _recorded(database: Path | None, half_life: float) -> tuple[Flow, ...]:
    graphs = RecordedFlows(database_options(database)).graphs()
    return flows(graphs, Aging(SystemClock().now(), half_life))


def _chosen(found: Sequence[Flow], persona: str) -> Sequence[Flow]:
    """The flow of that persona; all of them without a name. Raises ConfigError, with the nearest names."""
    chosen = [one for one in found if persona in ("", one.persona)]
    if not chosen and persona:
        names = [one.persona for one in found]
        near = closest(persona, names) or tuple(names) or ("none",)
        raise ConfigError(f"there is no persona '{persona}'", hint=f"Recorded are: {', '.join(near)}.")
    return chosen

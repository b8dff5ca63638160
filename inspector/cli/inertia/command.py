"""`toolsight sessions next`: what is called after what, by whom, and how sure that is."""

from collections.abc import Sequence
from pathlib import Path

import click

from inspector.adapters.clock import SystemClock
from inspector.cli.composition import load_seeds
from inspector.cli.inertia.library import RecordedFlows
from inspector.cli.inertia.report import say_flow, say_personas
from inspector.cli.inertia.score import say_score
from inspector.cli.options import Options, as_json as json_option, database as database_option
from inspector.cli.render import say, say_json
from inspector.domain.closest import closest
from inspector.domain.composition_settings import InertiaSettings
from inspector.domain.error import ConfigError
from inspector.domain.inertia import Aging
from inspector.engine.composition.flow import Flow, exported, flows

_DEFAULTS = InertiaSettings()
_EMPTY = (
    "No calls recorded yet. Import real agents' calls with `toolsight sessions import --agent NAME`, or "
    "check a file of transitions with `toolsight sessions next --check FILE`."
)


@click.command("next")
@click.option("--persona", default="", help="Whose habits to show: an agent, a toolset or a name.")
@click.option(
    "--half-life",
    type=click.FloatRange(min=0),
    default=_DEFAULTS.half_life_days,
    show_default=True,
    help="Days after which a call counts half; 0 counts old calls in full.",
)
@click.option("--export", "exports", is_flag=True, help="Print JSON for the setting inertia.seed.")
@click.option(
    "--check",
    "seed",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Check a file of transitions (JSON or YAML) and print its contents.",
)
@click.option(
    "--score",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Measure how predictable the runs in FOLDER are (formats as in `bench runs`).",
)
@json_option
@database_option
def next_tools(
    persona: str,
    half_life: float,
    exports: bool,
    seed: Path | None,
    folder: Path | None,
    as_json: bool,
    database: Path | None,
) -> None:
    """Show which tools are called next, and how likely.

    \b
    toolsight sessions next --persona claude-code
    """
    if sum((exports, seed is not None, folder is not None)) > 1:
        raise click.UsageError("use only one of --export, --check and --score")
    if folder is not None:
        say_score(folder, as_json=as_json)
    elif seed is not None:
        _check(seed, as_json=as_json)
    elif exports:
        say_json({"personas": [exported(one) for one in _chosen(_recorded(database, half_life), persona)]})
    else:
        _show(_recorded(database, half_life), persona, as_json=as_json)


def _show(found: Sequence[Flow], persona: str, *, as_json: bool) -> None:
    """Print what follows what, for the persona that is known best or the one that is named."""
    if as_json:
        say_json([exported(one) for one in _chosen(found, persona)])
    elif not found:
        say(_EMPTY)
    else:
        say_personas(found)
        say_flow(_chosen(found, persona)[0])


def _check(seed: Path, *, as_json: bool) -> None:
    """Print what a file of transitions says; nothing is stored."""
    found = flows(load_seeds(seed), Aging(0.0))
    if as_json:
        say_json([exported(one) for one in found])
        return
    for one in found:
        say_flow(one)
    say(f"\nTo use it in a session, add --set inertia.enabled=true --set inertia.seed={seed}")


def _recorded(database: Path | None, half_life: float) -> tuple[Flow, ...]:
    graphs = RecordedFlows(Options(database=database)).graphs()
    return flows(graphs, Aging(SystemClock().now(), half_life))


def _chosen(found: Sequence[Flow], persona: str) -> Sequence[Flow]:
    """The flow of that persona; all of them without a name. Raises ConfigError, with the nearest names."""
    chosen = [one for one in found if persona in ("", one.persona)]
    if not chosen and persona:
        names = [one.persona for one in found]
        near = closest(persona, names) or tuple(names) or ("none",)
        raise ConfigError(f"there is no persona '{persona}'", hint=f"Recorded personas: {', '.join(near)}.")
    return chosen

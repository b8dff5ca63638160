"""Plays recorded runs of agents again, and prints what each setup would have found, missed and cost."""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from inspector.cli.bench.runs_report import Told, tell
from inspector.cli.composition import make_embedder, make_prices, make_static_embedder, open_vectors
from inspector.cli.models import counter_for, model_for
from inspector.cli.options import Options, as_json as json_option, database, set_values
from inspector.cli.outcome import Exit
from inspector.cli.progress import Progress, cancellation
from inspector.cli.table import say
from inspector.config.setting import DEFAULT_PROFILE, find_knob, find_profile, parse_value
from inspector.core.error import ConfigError
from inspector.core.ports import SystemClock
from inspector.core.settings import BudgetSettings
from inspector.mcp.tool_file import read_definitions
from inspector.scenario.comparison import STATIC
from inspector.scenario.recorded_agent import KnownRuns, known_runs
from inspector.scenario.recorded_batch import play_batch, setups
from inspector.scenario.recorded_run import Allowed
from inspector.scenario.recording import Recordings, read_runs
from inspector.session.assembly import Ports


def recorded_ports(database: Path | None) -> Ports:
    """The adapters for playing recorded runs; only vectors are stored, because they take long to compute."""
    from inspector.mcp.recorded_link import RecordedServers
    from inspector.store.memory import MemoryServerMemory, MemoryStore

    counters = cache(counter_for)
    return Ports(
        connector=RecordedServers(()),
        store=MemoryStore(),
        memory=MemoryServerMemory(),
        clock=SystemClock(),
        approver=Allowed(),
        model_for=model_for,
        counter_for=counters,
        embedder_for=make_embedder,
        static=make_static_embedder(),
        vectors=open_vectors(Options(database=database)),
        prices=make_prices(),
    )


def _profiles(_context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(find_profile(name).name for name in names)) or [DEFAULT_PROFILE, STATIC]


def _varied(
    _context: click.Context, _parameter: click.Parameter, pairs: tuple[str, ...]
) -> dict[str, list[Any]]:
    """The values of each varied setting, by path."""
    varied = {}
    for pair in pairs:
        path, sign, text = pair.partition("=")
        knob = find_knob(path.strip())
        if not sign or not text.strip():
            raise ConfigError(f"--vary {pair} has no values", hint=f"Use --vary {knob.path}=A,B.")
        varied[knob.path] = [knob.check(parse_value(knob, one)) for one in text.split(",")]
    return varied


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option(
    "--tools",
    "tool_files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file or folder of tool definitions (tools/list as JSON). May be repeated.",
)
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    callback=_profiles,
    help=f"Replay the runs in this profile. Default: {DEFAULT_PROFILE} and {STATIC}. May be repeated.",
)
@set_values
@click.option(
    "--vary",
    "varied",
    multiple=True,
    metavar="PATH=A,B",
    callback=_varied,
    help="Replay the runs with each of these values of a setting. Repeat to try every combination.",
)
@click.option("--limit", type=click.IntRange(1), help="Replay at most this many runs, evenly spread.")
@click.option("--own-servers", is_flag=True, help="Give each run only the servers that it called.")
@click.option(
    "--model",
    default=BudgetSettings().priced_as,
    show_default=True,
    help="Count and price tokens as this litellm model.",
)
@database
@json_option
def runs(
    folder: Path,
    tool_files: Sequence[Path],
    profiles: list[str],
    values: dict[str, Any],
    varied: dict[str, list[Any]],
    limit: int | None,
    own_servers: bool,
    model: str,
    database: Path | None,
    as_json: bool,
) -> None:
    """Replay recorded agent runs in several setups.

    Prints what each setup would have found, missed and cost. FOLDER holds recordings in one of the formats
    in docs/papers/recorded-runs.md. The agent repeats its recorded calls, but searches before calling a tool
    it does not have. Costs are compared with those of the first setup.

    \b
    toolsight bench runs RECORDINGS --tools tools.json --profile toolsight --profile static
    """
    progress = Progress(SystemClock())
    try:
        tools = read_definitions(tool_files)
        found = read_runs(folder, progress)
        known = _known(found, limit, known_runs(found.sampled(limit), tools))
        with cancellation() as stopped:
            batch = play_batch(
                known,
                tools,
                setups(profiles, values, varied),
                recorded_ports(database),
                model=model,
                own_servers=own_servers,
                progress=progress,
                stopped=stopped,
            )
    finally:
        progress.clear()
    told = Told(found, known, len(tools), batch, model, folder.name)
    tell(told, as_json=as_json)
    if stopped():
        say("cancelled: the figures cover only the runs replayed so far", err=True)
        sys.exit(Exit.INTERRUPTED)


def _known(found: Recordings, limit: int | None, known: KnownRuns) -> KnownRuns:
    """The runs that can be played. Raises ConfigError if there are none."""
    if known.runs:
        return known
    names = ", ".join(list(known.without)[:5])
    of = f" (limit {limit})" if limit is not None else ""
    raise ConfigError(
        f"none of the tools called by the {len(found.runs)} runs{of} has a definition",
        hint=f"Pass their definitions with --tools. Tools called: {names}.",
    )

"""Plays recorded runs of agents again, and prints what each setup would have found, missed and cost."""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from inspector.cli.composition import (
    counter_for,
    make_embedder,
    make_static_embedder,
    model_for,
    open_vectors,
)
from inspector.cli.location import shipped_recording
from inspector.cli.options import DATABASE, SET, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import Progress, cancellation, say, show
from inspector.config.profile import DEFAULT_PROFILE, find_profile
from inspector.config.setting import find_knob, parse_value
from inspector.core.error import ConfigError
from inspector.core.ports import SystemClock
from inspector.core.settings import BudgetSettings
from inspector.features.lab.comparison import STATIC
from inspector.features.lab.runs.facts import play_again, report, told_json
from inspector.features.lab.runs.recorded_batch import setups
from inspector.features.lab.runs.recorded_run import Allowed
from inspector.features.lab.runs.recording import read_runs
from inspector.mcp.recorded_link import read_definitions
from inspector.session.assembly import Ports
from inspector.store.server_memory import MemoryServerMemory
from inspector.store.store import MemoryStore
from inspector.tokens.accounting import LitellmPrices


def recorded_ports(chosen: Options) -> Ports:
    """The adapters for playing recorded runs; only vectors are stored, because they take long to compute."""
    from inspector.mcp.recorded_link import RecordedServers

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
        vectors=open_vectors(chosen),
        prices=LitellmPrices(),
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


@session_command(takes=(SET, DATABASE))
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option(
    "--tools",
    "tool_files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file or folder of tool definitions (tools/list as JSON), for recordings without their own. "
    "May be repeated.",
)
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    callback=_profiles,
    help=f"Replay the runs in this profile. Default: {DEFAULT_PROFILE} and {STATIC}. May be repeated.",
)
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
@as_json
def runs(
    folder: Path,
    tool_files: Sequence[Path],
    profiles: list[str],
    varied: dict[str, list[Any]],
    limit: int | None,
    own_servers: bool,
    model: str,
    chosen: Options,
) -> None:
    """Replay recorded agent runs in several setups.

    Prints what each setup would have found, missed and cost. FOLDER is a recording or holds some: sessions of
    Toolsight's, or imported ones, as `toolsight sessions show --as events --json` prints them. The agent
    repeats its recorded calls, but searches before calling a tool it does not have. Costs are compared with
    those of the first setup.

    \b
    toolsight sessions show ID --as events --json > session.json; toolsight bench runs session.json
    toolsight bench runs RECORDINGS --tools tools.json --profile toolsight --profile static
    """
    with Progress() as progress:
        tools = read_definitions(tool_files) if tool_files else ()
        found = read_runs(folder, progress)
        with cancellation() as stopped:
            told = play_again(
                found,
                tools,
                setups(profiles, chosen.values, varied),
                recorded_ports(chosen),
                model=model,
                source=folder.name,
                shipped=folder.resolve() == shipped_recording().resolve(),
                limit=limit,
                own_servers=own_servers,
                progress=progress,
                stopped=stopped,
            )
    show(told_json(told), report(told))
    if stopped():
        say("cancelled: the figures cover only the runs replayed so far", err=True)
        sys.exit(Exit.INTERRUPTED)

"""`toolsight sessions next`: what is called after what, by whom, and how sure that is."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from inspector.cli.configuration import load_seeds
from inspector.cli.location import database_path
from inspector.cli.options import Options, as_json, database as database_option
from inspector.cli.table import Progress, is_json, say, say_json, show
from inspector.core.error import ConfigError
from inspector.core.inertia import Aging, InertiaGraph
from inspector.core.number import count, percent
from inspector.core.ports import SystemClock
from inspector.core.report import COUNT, Column, Table, selected
from inspector.core.settings import InertiaSettings
from inspector.core.text import closest
from inspector.mcp.recorded_link import RecordedRun
from inspector.measure.bootstrap import Estimate
from inspector.measure.inertia_score import (
    CUTS,
    PERSONAS,
    RULES,
    InertiaScore,
    RunFacts,
    facts,
    score as scored,
)
from inspector.reliability.flow import Flow, exported, flows, following, warmth
from inspector.scenario.recording import read_runs
from inspector.store.call_history import SqliteCallHistory


class RecordedFlows:
    """A FlowLibrary over the database."""

    def __init__(self, options: Options) -> None:
        self._history = SqliteCallHistory(database_path(options))

    def graphs(self, seed: str = "", stopped: Callable[[], bool] = lambda: False) -> dict[str, InertiaGraph]:
        """See `FlowLibrary`; if it is stopped, what was read so far. Raises ConfigError and StoreError."""
        graphs = load_seeds(seed) if seed else {}
        for task in self._history.tasks():
            if stopped():
                break
            graphs.setdefault(task.persona, InertiaGraph()).add(task)
        return graphs


# `toolsight sessions next --score`: how well recorded runs of agents could have been predicted.


def _score(folder: Path) -> None:
    """Print how well predictions do on recorded runs, which `bench runs` reads in the same formats.

    A run is predicted by what the others called: without the run, or without every attempt at its task. Only
    first uses of a tool count, and beside the graph stand the rules that it has to beat.
    """
    with Progress() as progress:
        found = read_runs(folder, progress)
        scores = _scores(found.runs, progress)
    told = facts(found.runs)
    data = {"source": folder.name, "facts": selected(told, _FACTS), "scores": selected(scores, _SCORE)}
    show(data, _scored(folder.name, told, scores))


def _scores(runs: tuple[RecordedRun, ...], progress: Progress) -> list[InertiaScore]:
    """Every way to choose personas that separates the runs, for repeated runs and for new tasks."""
    told_apart = [
        name
        for name, persona in PERSONAS.items()
        if name == next(iter(PERSONAS)) or len({persona(run) for run in runs}) > 1
    ]
    ways = [(name, by_task) for name in told_apart for by_task in (False, True)]
    scores = []
    for number, (name, by_task) in enumerate(ways):
        progress("scoring predictions", number, len(ways))
        scores.append(scored(runs, name, by_task=by_task))
    return scores


def _scored(source: str, told: RunFacts, scores: list[InertiaScore]) -> Iterator[str | Table]:
    runs, tasks = count(told.runs, "recorded run"), count(told.tasks, "task")
    calls, moves = count(told.calls, "call"), count(told.transitions, "transition")
    yield f"{source}: {runs} of {tasks}, {calls} to {count(told.tools, 'tool')}; not shipped with Toolsight."
    yield (
        f"{moves} between calls: {_share(told.same)} stay on the same tool, {_share(told.first)} go to a "
        f"tool the run had not called before ({told.first_uses:,} first uses)."
    )
    hits = (Column(f"{rule}, top {cut}", partial(_hit, rule, cut)) for rule in RULES for cut in CUTS)
    learned = (Column("learned from", "persona"), Column("left out", "left_out"))
    yield Table.of((*learned, *hits), scores, "First uses predicted in the top one and the top three")
    title = "Bound ahead after a call, each tool once per run and never one already called"
    headers = ("learned from", "left out", "from", "bound", "not next", "never called", "covers")
    yield Table(title, headers, tuple(row for one in scores for row in _ahead(one)), frozenset({3}))
    yield (
        "\nBrackets are 95 % bootstrap intervals over tasks. order 1: what follows the last call, among "
        "tools not called yet; order 1 unfiltered: among all tools; most used, same server: the most-called "
        "tools overall, and on the last call's server. covers: the share of first uses already bound ahead. "
        "share: of the calls after that tool; at least: the lower end of that share's 95 % interval."
    )


def _hit(rule: str, cut: int, one: InertiaScore) -> str:
    return _share(one.hits[rule][cut])


def _ahead(one: InertiaScore) -> list[tuple[Any, ...]]:
    return [
        (
            one.persona,
            one.left_out,
            f"{ahead.by} {ahead.level:g}",
            f"{ahead.bound:,}",
            _share(ahead.unused_next),
            _share(ahead.unused),
            _share(ahead.covered),
        )
        for ahead in one.ahead
    ]


def _share(value: Estimate | None) -> str:
    if value is None:
        return "–"
    return f"{percent(value.mean, 1)} [{value.low * 100:.0f}, {value.high * 100:.0f}]"


_ESTIMATE = "{mean low high clusters}"
_FACTS = f"runs tasks tools calls transitions first_uses same{_ESTIMATE} first{_ESTIMATE}"
_BOUND = f"by level bound unused_next{_ESTIMATE} unused{_ESTIMATE} covered{_ESTIMATE}"
_SCORE = f"persona left_out hits{_ESTIMATE} ahead{{{_BOUND}}}"
_PERSONAS = (
    Column("persona"),
    Column("tasks", lambda one: warmth(one.tasks, InertiaSettings().warm_up)),
    Column("calls", kind=COUNT),
    Column("tools", lambda one: len(one.tools), COUNT),
)


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
@as_json
@database_option
def next_tools(
    persona: str,
    half_life: float,
    exports: bool,
    seed: Path | None,
    folder: Path | None,
    database: Path | None,
) -> None:
    """Show which tools are called next, and how likely each is.

    \b
    toolsight sessions next --persona claude-code
    """
    if sum((exports, seed is not None, folder is not None)) > 1:
        raise click.UsageError("use only one of --export, --check and --score")
    if folder is not None:
        _score(folder)
    elif seed is not None:
        _check(seed)
    elif exports:
        say_json({"personas": [exported(one) for one in _chosen(_recorded(database, half_life), persona)]})
    else:
        _show(_recorded(database, half_life), persona)


def _show(found: Sequence[Flow], persona: str) -> None:
    """Print what follows what, for the persona that is known best or the one that is named."""
    if not found and not is_json():
        say(_EMPTY)
        return
    chosen = _chosen(found, persona)
    show(list(map(exported, chosen)), (Table.of(_PERSONAS, found), following(chosen[0])) if found else ())


def _check(seed: Path) -> None:
    """Print what a file of transitions says; nothing is stored."""
    found = flows(load_seeds(str(seed)), Aging(0.0))
    use = f"\nTo use it in a session, add --set inertia.enabled=true --set inertia.seed={seed}"
    show(list(map(exported, found)), [*map(following, found), use])


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

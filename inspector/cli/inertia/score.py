"""`toolsight sessions next --score`: how well recorded runs of agents could have been predicted."""

from pathlib import Path
from typing import Any

from inspector.adapters.clock import SystemClock
from inspector.adapters.files.recording import read_runs
from inspector.cli.progress import Progress
from inspector.cli.render import say, say_json, say_table
from inspector.domain.number import count, percent
from inspector.domain.recorded_run import RecordedRun
from inspector.engine.composition.inertia_score import (
    CUTS,
    PERSONAS,
    RULES,
    InertiaScore,
    score as scored,
)
from inspector.engine.composition.transition import RunFacts, facts
from inspector.engine.measure.bootstrap import Estimate


def say_score(folder: Path, *, as_json: bool) -> None:
    """Print how well predictions do on recorded runs, which `bench runs` reads in the same formats.

    A run is predicted by what the others called: without the run, or without every attempt at its task. Only
    first uses of a tool count, and beside the graph stand the rules that it has to beat.
    """
    progress = Progress(SystemClock())
    try:
        found = read_runs(folder, progress)
        scores = _scores(found.runs, progress)
    finally:
        progress.clear()
    told = facts(found.runs)
    if as_json:
        say_json({"source": folder.name, "facts": told, "scores": scores})
    else:
        _say(folder.name, told, scores)


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


def _say(source: str, told: RunFacts, scores: list[InertiaScore]) -> None:
    runs, tasks = count(told.runs, "recorded run"), count(told.tasks, "task")
    calls, moves = count(told.calls, "call"), count(told.transitions, "transition")
    say(f"{source}: {runs} of {tasks}, {calls} to {count(told.tools, 'tool')}; not shipped with Toolsight.")
    say(
        f"{moves} between calls: {_share(told.same)} stay on the same tool, {_share(told.first)} go to a "
        f"tool the run had not called before ({told.first_uses:,} first uses)."
    )
    say("\nFirst uses predicted in the top one and the top three")
    headers = ("learned from", "left out", *(f"{rule}, top {cut}" for rule in RULES for cut in CUTS))
    rows = [
        (one.persona, one.left_out, *(_share(one.hits[rule][cut]) for rule in RULES for cut in CUTS))
        for one in scores
    ]
    say_table(headers, rows)
    say("\nBound ahead after a call, each tool once per run and never one already called")
    headers = ("learned from", "left out", "from", "bound", "not next", "never called", "covers")
    say_table(headers, [row for one in scores for row in _ahead(one)], right=frozenset({3}))
    say(
        "\nBrackets are 95 % bootstrap intervals over tasks. order 1: what follows the last call, among "
        "tools not called yet; order 1 unfiltered: among all tools; most used, same server: the most-called "
        "tools overall, and on the last call's server. covers: the share of first uses bound ahead by then. "
        "share: of the calls after that tool; at least: the lower end of that share's 95 % interval."
    )


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

"""Plays many recorded runs in several setups, and sums them up."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from inspector.core.tool import Tool
from inspector.mcp.recorded_run import RecordedRun
from inspector.measure.bootstrap import Estimate
from inspector.scenario.recorded.known import KnownRuns
from inspector.scenario.recorded.others import OtherRuns
from inspector.scenario.recorded.outcome import PlayedRun
from inspector.scenario.recorded.play import Kept, RunSetup, play
from inspector.scenario.recorded.summary import SetupSummary, bill, summarize
from inspector.session.ports import Ports

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Batch:
    """What was played. `bills` has the provider's input tokens over ours, by setup, where both are known."""

    summaries: tuple[SetupSummary, ...]
    bills: Mapping[str, Estimate]
    played: Mapping[str, Sequence[PlayedRun]]
    tokenizer: str


def setups(
    profiles: Sequence[str], values: Mapping[str, Any], varied: Mapping[str, Sequence[Any]]
) -> tuple[RunSetup, ...]:
    """Every profile with every combination of the varied values; `values` apply to all of them."""
    made = []
    for profile in profiles:
        for chosen in product(*varied.values()):
            own = dict(zip(varied, chosen, strict=True))
            shown = (f"{path.rpartition('.')[2]} {value}" for path, value in own.items())
            made.append(RunSetup(" ".join([profile, *shown]), profile, {**values, **own}))
    return tuple(made)


def play_batch(
    known: KnownRuns,
    tools: Sequence[Tool],
    chosen: Sequence[RunSetup],
    ports: Ports,
    *,
    model: str,
    own_servers: bool = False,
    progress: Progress = lambda _what, _done, _total: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Batch:
    """Play every run in every setup; if it is stopped, the runs so far count.

    A run's predictions rest on what other runs called, but those of the same task. With `own_servers`, its
    catalog has only the servers that it called. Raises ToolsightError.
    """
    played: dict[str, list[PlayedRun]] = {setup.name: [] for setup in chosen}
    kept, ports = Kept(), replace(ports, history=OtherRuns(known.runs))
    for number, run in enumerate(known.runs):
        if stopped():
            break
        progress("runs played", number, len(known.runs))
        catalog = _of_servers(tools, run) if own_servers else tools
        for setup in chosen:
            played[setup.name].append(asyncio.run(play(run, setup, catalog, ports, kept, model=model)))
    return _batch(known.runs, chosen, played)


def _batch(
    runs: Sequence[RecordedRun], chosen: Sequence[RunSetup], played: Mapping[str, Sequence[PlayedRun]]
) -> Batch:
    first = played[chosen[0].name]
    bills = {setup.name: bill(runs[: len(first)], played[setup.name]) for setup in chosen}
    return Batch(
        tuple(summarize(setup, played[setup.name], first) for setup in chosen),
        {name: ratio for name, ratio in bills.items() if ratio is not None},
        played,
        first[0].tokenizer.label if first else "",
    )


def _of_servers(tools: Iterable[Tool], run: RecordedRun) -> tuple[Tool, ...]:
    used = {call.server for call in run.calls}
    return tuple(tool for tool in tools if tool.server in used)

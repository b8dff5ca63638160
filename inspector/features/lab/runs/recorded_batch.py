"""Plays runs in several setups and sums them up, with intervals that take attempts at one task together."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.ranking import Answer
from inspector.core.tool import Tool
from inspector.features.lab.comparison import STATIC
from inspector.features.lab.runs.recorded_agent import KnownRuns, OtherRuns, Reason
from inspector.features.lab.runs.recorded_run import Kept, Need, PlayedRun, RunSetup, play
from inspector.mcp.recorded_link import RecordedRun
from inspector.search.answer.metric import Estimate, estimate, ratio_estimate, share_estimate
from inspector.session.assembly import Ports

CUTS = (1, 2, 3, 5, 8, 10, 15, 20)
"""Ranks at which recall is reported."""
# As many searches at most does a session need, says semantic tool discovery (section 11.2).
FEW = 3
# After these shares of a run's model calls, in percent, its bound tools are counted.
QUARTERS = (25, 50, 75, 100)


class SetupSummary(Struct, frozen=True):
    """One setup over all runs.

    `recall` is the share of the called tools that the searches before their first call ranked up to there,
    `returned` the share that they returned, `reached` the share that was not looked up by name. `used` is
    the share of the tools that searches returned which were called (equation 4 over all runs). `evicted`
    counts calls of evicted tools by cause, `loops_solved` the interventions in runs that were solved: false
    alarms. Tokens are those of a model call. Costs are US dollars of all runs for each solved run, and
    `…_reached` for each solved run that reached everything by searching: what a search misses is not free.
    If none of the runs is `judged`, so that nobody knows which were solved, costs are those of a run.
    `cost_ratio` and `uncached_ratio` compare the costs of all runs with the first setup's. `whole` is the
    share of solved runs that reached everything by searching. `call_ratio` compares the model calls. `ahead`
    counts the tools bound ahead, `ahead_unused` is the share that no call used without a search for them.
    `searches_a_run` leaves out those by name, `few` is the share of runs with at most `FEW`; `bound` is the
    mean number of bound tools after each of `QUARTERS`; `recovered` is the share of `refused` calls whose
    tool was called again in the same run, and was bound.
    Whatever has no cases is None.
    """

    setup: RunSetup
    runs: int
    tasks: int
    judged: int
    solved: int
    model_calls: int
    calls: int
    searches: Mapping[Reason, int]
    answers: Mapping[Answer, int]
    recall: Mapping[int, Estimate | None]
    returned: Estimate | None
    reached: Estimate | None
    used: Estimate | None
    whole: Estimate | None
    evicted: Mapping[str, int]
    rejected: int
    loops: int
    loops_solved: int
    redundant: int
    tool_tokens: Estimate | None
    search_tokens: Estimate | None
    input_tokens: Estimate | None
    cost: Estimate | None
    uncached: Estimate | None
    cost_reached: Estimate | None
    uncached_reached: Estimate | None
    cost_ratio: Estimate | None
    uncached_ratio: Estimate | None
    call_ratio: Estimate | None
    ahead: int
    ahead_unused: Estimate | None
    searches_a_run: Estimate
    few: Estimate
    bound: Mapping[int, Estimate]
    refused: int
    recovered: Estimate | None


def summarize(setup: RunSetup, runs: Sequence[PlayedRun], first: Sequence[PlayedRun]) -> SetupSummary:
    """Sum up a setup; `first` are the same runs in the first setup, with which costs are compared."""
    solved = [run for run in runs if run.solved]
    judged = sum(run.solved is not None for run in runs)

    def counts(run: PlayedRun) -> bool:
        return bool(run.solved) if judged else True

    searched = any(run.searches[reason] for run in runs for reason in Reason)
    needs = [(run.task, need) for run in runs for need in run.needs]
    found = needs if searched else []
    tasks = [run.task for run in runs]
    often = [sum(run.searches.values()) - run.searches[Reason.NAMED] for run in runs]
    return SetupSummary(
        setup=setup,
        runs=len(runs),
        tasks=len(set(tasks)),
        judged=judged,
        solved=len(solved),
        model_calls=sum(run.model_calls for run in runs),
        calls=sum(run.calls for run in runs),
        searches={reason: sum(run.searches[reason] for run in runs) for reason in Reason},
        answers={answer: sum(run.answers[answer] for run in runs) for answer in Answer},
        recall={cut: _needs_share(found, partial(_ranked, cut)) for cut in CUTS},
        returned=_needs_share(found, lambda need: need.returned),
        reached=_needs_share(needs, lambda need: need.reached),
        used=_per(runs, lambda run: run.used, lambda run: run.discovered),
        whole=_share([(run.task, run.whole) for run in solved]),
        evicted=dict(Counter(lack.cause for run in runs for lack in run.evicted)),
        rejected=sum(run.rejected for run in runs),
        loops=sum(run.loops for run in runs),
        loops_solved=sum(run.loops for run in solved),
        redundant=sum(run.redundant for run in runs),
        tool_tokens=_per(runs, lambda run: run.spent.tool_tokens, lambda run: run.model_calls),
        search_tokens=_per(runs, lambda run: run.spent.searches, lambda run: run.model_calls),
        input_tokens=_per(runs, lambda run: run.spent.input, lambda run: run.model_calls),
        cost=_per(runs, lambda run: run.spent.cost, counts),
        uncached=_per(runs, lambda run: run.spent.uncached, counts),
        cost_reached=_per(runs, lambda run: run.spent.cost, _reached),
        uncached_reached=_per(runs, lambda run: run.spent.uncached, _reached),
        cost_ratio=_ratio(runs, first, lambda run: run.spent.cost),
        uncached_ratio=_ratio(runs, first, lambda run: run.spent.uncached),
        call_ratio=_ratio(runs, first, lambda run: run.model_calls),
        ahead=sum(run.ahead for run in runs),
        ahead_unused=_per(runs, lambda run: run.ahead - run.ahead_used, lambda run: run.ahead),
        searches_a_run=estimate(often, tasks),
        few=share_estimate([number <= FEW for number in often], tasks),
        bound={quarter: estimate([_bound(run, quarter) for run in runs], tasks) for quarter in QUARTERS},
        refused=sum(len(run.refused) for run in runs),
        recovered=_share([(run.task, one.recovered) for run in runs for one in run.refused]),
    )


def bill(recorded: Sequence[RecordedRun], played: Sequence[PlayedRun]) -> Estimate | None:
    """The provider's input tokens over ours, over the runs with both; None if there are none.

    It tells something only where the recorded agent was sent what the setup sends.
    """
    return ratio_estimate(
        (run.task, float(run.input_tokens), float(ours.spent.input))
        for run, ours in zip(recorded, played, strict=True)
        if run.input_tokens
    )


def _bound(run: PlayedRun, percent: int) -> float:
    """How many tools were bound in the model call at this part of the run."""
    return run.bound[max(1, round(len(run.bound) * percent / 100)) - 1] if run.bound else 0.0


def _ranked(cut: int, need: Need) -> bool:
    return 0 < need.rank <= cut


def _needs_share(needs: Sequence[tuple[str, Need]], holds: Callable[[Need], bool]) -> Estimate | None:
    return _share([(task, holds(need)) for task, need in needs])


def _share(cases: Sequence[tuple[str, bool]]) -> Estimate | None:
    return share_estimate([holds for _, holds in cases], [task for task, _ in cases]) if cases else None


def _per(
    runs: Sequence[PlayedRun], amount: Callable[[PlayedRun], float], unit: Callable[[PlayedRun], float]
) -> Estimate | None:
    return ratio_estimate((run.task, float(amount(run)), float(unit(run))) for run in runs)


def _reached(run: PlayedRun) -> bool:
    return bool(run.solved) and run.whole


def _ratio(
    runs: Sequence[PlayedRun], first: Sequence[PlayedRun], cost: Callable[[PlayedRun], float]
) -> Estimate | None:
    """Both costs of a run belong together, so that what makes a run dear makes both dear."""

    def pairs() -> Iterator[tuple[str, float, float]]:
        for run, base in zip(runs, first, strict=True):
            yield run.task, cost(run), cost(base)

    return ratio_estimate(pairs())


Progress = Callable[[str, int, int], None]


class Batch(Struct, frozen=True):
    """What was played. `bills` has the provider's input tokens over ours, by setup, where both are known."""

    summaries: tuple[SetupSummary, ...]
    bills: Mapping[str, Estimate]
    played: Mapping[str, Sequence[PlayedRun]]
    tokenizer: str


def setups(
    profiles: Sequence[str], values: Mapping[str, Any], varied: Mapping[str, Sequence[Any]]
) -> tuple[RunSetup, ...]:
    """Every profile with every combination of the varied values; `values` apply to all of them.

    Static binding is played once: what is varied are settings of discovery.
    """
    made = []
    for profile in profiles:
        if profile == STATIC:
            made.append(RunSetup(profile, profile, values))
            continue
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
        progress("runs played", number, len(known.runs))
        catalog = run.tools or tools
        if own_servers:
            used = {call.server for call in run.calls}
            catalog = tuple(tool for tool in catalog if tool.server in used)
        made = []
        for setup in chosen:
            if stopped():
                # A run counts only if every setup has played it.
                return _batch(known.runs, chosen, played)
            made.append(asyncio.run(play(run, setup, catalog, ports, kept, model=model)))
        for setup, one in zip(chosen, made, strict=True):
            played[setup.name].append(one)
    return _batch(known.runs, chosen, played)


def _batch(
    runs: Sequence[RecordedRun], chosen: Sequence[RunSetup], played: Mapping[str, Sequence[PlayedRun]]
) -> Batch:
    first = played[chosen[0].name]
    if not first:
        return Batch((), {}, played, "")
    bills = {setup.name: bill(runs[: len(first)], played[setup.name]) for setup in chosen}
    return Batch(
        tuple(summarize(setup, played[setup.name], first) for setup in chosen),
        {name: ratio for name, ratio in bills.items() if ratio is not None},
        played,
        first[0].tokenizer.label,
    )

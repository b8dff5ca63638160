"""What playing recorded runs again came to: as page and command say it, and as programs read it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, to_builtins

from inspector.core.error import ConfigError
from inspector.core.number import count, money, money_decimals, percent, signed_percent
from inspector.core.ranking import Answer
from inspector.core.report import NOTHING, NUMBER, TEXT, Column, Table
from inspector.core.tool import Tool
from inspector.features.lab.comparison import STATIC
from inspector.features.lab.runs.recorded_agent import KnownRuns, Reason, known_runs
from inspector.features.lab.runs.recorded_batch import (
    CUTS,
    FEW,
    QUARTERS,
    Batch,
    Progress,
    SetupSummary,
    play_batch,
)
from inspector.features.lab.runs.recorded_run import LOOP, SECONDS_A_CALL, RunSetup
from inspector.features.lab.runs.recording import Recordings
from inspector.search.answer.metric import Estimate
from inspector.session.assembly import Ports

_NAMED, _AGENTS = 12, 3
Columns = Mapping[str, Callable[[SetupSummary], str]]


class Told(Struct, frozen=True):
    """What a report is about: what was read, what could be played, and what came of it.

    `shipped` says that the recording came with Toolsight.
    """

    found: Recordings
    known: KnownRuns
    tools: int
    batch: Batch
    model: str
    source: str
    shipped: bool

    @property
    def recorded(self) -> int:
        """How many runs were read."""
        return len(self.found.runs)

    @property
    def agents(self) -> tuple[str, ...]:
        """What the recorded agents ran on, as far as the recordings say."""
        return tuple(sorted({run.model for run in self.found.runs if run.model}))


def play_again(
    found: Recordings,
    tools: Sequence[Tool],
    chosen: Sequence[RunSetup],
    ports: Ports,
    *,
    model: str,
    source: str,
    shipped: bool = False,
    limit: int | None = None,
    own_servers: bool = False,
    progress: Progress = lambda _what, _done, _total: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Told:
    """Play what was read, at most `limit` runs of it, in every setup; see `play_batch`.

    Raises ConfigError if no tool that was called has a definition, ToolsightError.
    """
    known = known_runs(found.sampled(limit), tools)
    if not known.runs:
        names = ", ".join(list(known.without)[:5]) or "none"
        of = f" (limit {limit})" if limit is not None else ""
        raise ConfigError(
            f"none of the tools called by the {count(len(found.runs), 'run')}{of} has a definition",
            hint=f"Pass their definitions with --tools, or connect their servers. Tools called: {names}.",
        )
    batch = play_batch(
        known, tools, chosen, ports, model=model, own_servers=own_servers, progress=progress, stopped=stopped
    )
    had = {tool.id for run in known.runs for tool in run.tools or tools}
    return Told(found, known, len(had), batch, model, source, shipped)


SEARCHING: Columns = {
    "setup": lambda one: one.setup.name,
    "model calls": lambda one: f"{one.model_calls:,}",
    "its own searches": lambda one: f"{one.searches[Reason.OWN]:,}",
    "more": lambda one: f"{one.searches[Reason.FIRST]:,}",
    "again": lambda one: f"{one.searches[Reason.AGAIN]:,}",
    "by name": lambda one: f"{one.searches[Reason.NAMED]:,}",
    "found, closest, nothing": lambda one: ", ".join(f"{one.answers[answer]:,}" for answer in Answer),
    "returned": lambda one: _share(one.returned),
    "reached": lambda one: _share(one.reached),
    "used": lambda one: _share(one.used),
}
RECALL: Columns = {
    "setup": lambda one: one.setup.name,
    **{f"first {cut}": partial(lambda cut, one: _mean_share(one.recall[cut]), cut) for cut in CUTS},
}
SESSIONS: Columns = {
    "setup": lambda one: one.setup.name,
    "searches per run": lambda one: _interval(one.searches_a_run, ".1f"),
    f"runs with at most {FEW}": lambda one: _share(one.few),
    f"bound after {', '.join(map(str, QUARTERS))} %": lambda one: "  ".join(
        f"{value.mean:.1f}" for value in one.bound.values()
    ),
    "refused": lambda one: f"{one.refused:,}",
    "of them recovered": lambda one: _share(one.recovered),
}
CALLS: Columns = {
    "setup": lambda one: one.setup.name,
    "calls": lambda one: f"{one.calls:,}",
    "evicted": lambda one: f"{sum(one.evicted.values()) - one.evicted.get(LOOP, 0):,}",
    "by a guard": lambda one: f"{one.evicted.get(LOOP, 0):,}",
    "rejected": lambda one: f"{one.rejected:,}",
    "loops": lambda one: f"{one.loops:,}",
    "in solved runs": lambda one: f"{one.loops_solved:,}",
    "nothing new": lambda one: f"{one.redundant:,}",
    "bound ahead": lambda one: f"{one.ahead:,}",
    "of them unused": lambda one: _share(one.ahead_unused),
    "solved runs that reached all": lambda one: _share(one.whole),
}
MONEY: Columns = {
    "setup": lambda one: one.setup.name,
    "tools": lambda one: _number(one.tool_tokens),
    "searches": lambda one: _number(one.search_tokens),
    "all input": lambda one: _number(one.input_tokens),
    "with a prompt cache": lambda one: _dollars(one.cost),
    "all reached": lambda one: _mean(one.cost_reached),
    "vs the first": lambda one: _change(one.cost_ratio),
    "without": lambda one: _dollars(one.uncached),
    "all reached ": lambda one: _mean(one.uncached_reached),
    "vs the first ": lambda one: _change(one.uncached_ratio),
    "model calls vs the first": lambda one: _change(one.call_ratio),
}
TABLES: Mapping[str, Columns] = {
    "Searching": SEARCHING,
    "Recall: called tools ranked among the first": RECALL,
    "Calls": CALLS,
    "Sessions": SESSIONS,
    "Tokens per model call, dollars per {unit}": MONEY,
}
_WIDE = (
    "setup",
    "of them",
    "found,",
    "returned",
    "reached",
    "used",
    "searches per",
    "runs with",
    "bound after",
    "solved runs that",
    "with",
    "vs",
    "model calls vs",
)
"""Columns with intervals may wrap; numbers alone may not."""
_LEGEND = (
    "its own searches: those of the recorded agent; more: for a tool that was never bound; again: for an "
    "evicted tool; by name: for a tool that no search returned; found, closest, nothing: how all searches "
    "answered. returned and recall: the share of called tools that searches had returned, and ranked that "
    "high, before their first call. used: the share of tools returned by searches, except by name, that were "
    "called.",
    "evicted, by a guard: calls to a tool evicted to make room, or by the guard; loops: how often the guard "
    "stepped in, a false alarm in solved runs; nothing new: searches flagged as redundant; bound ahead: "
    "before any search, because likely next (inertia.preload).",
    "searches per run: without those by name. bound: tools bound after that share of a run's model calls. "
    "refused: calls of tools that were not bound; recovered: called again in the same run, and bound.",
    "Tokens are per model call. Dollars are the cost of all runs per solved run, then per solved run that "
    "reached all its tools by searching; per run if no recording says whether it was solved.",
)


def report(told: Told) -> Iterator[str | Table]:
    """What was played, a table each of searches, calls and money, and what their columns mean."""
    yield from heading(told)
    unit = "solved task" if any(one.judged for one in told.batch.summaries) else "task"
    for title, columns in TABLES.items():
        kinds = {name: TEXT if name.startswith(_WIDE) else NUMBER for name in columns}
        shown = [Column(name.strip(), cell, kinds[name]) for name, cell in columns.items()]
        yield Table.of(shown, told.batch.summaries, title.format(unit=unit))
    yield ""
    yield from _LEGEND
    for setup in (one.setup for one in told.batch.summaries if one.setup.profile == STATIC):
        if setup.name in told.batch.bills:
            ratio = _interval(told.batch.bills[setup.name], ".3f")
            yield f"\n{setup.name}: the provider counted {ratio} times our input tokens."


def heading(told: Told) -> Iterator[str]:
    """What was read and left out, and what the figures rest on."""
    batch, known = told.batch, told.known
    played = batch.summaries[0].runs if batch.summaries else 0
    formats = ", ".join(f"{name} {number:,}" for name, number in told.found.formats.items())
    recorded = count(len(told.found.runs), "recorded run")
    agents = f" of {_few(told.agents, _AGENTS)}" if told.agents else ""
    origin = "" if told.shipped else "; not shipped with Toolsight"
    yield f"{told.source}: {recorded} ({formats}){agents}{origin}."
    if told.shipped:
        yield "It follows rules, is no LLM, and calls what it found. Solved: it called its label's tools."
    tasks = batch.summaries[0].tasks if batch.summaries else 0
    yield f"Replayed {count(played, 'run')} of {count(tasks, 'task')} with {count(told.tools, 'tool')}."
    left, names = sum(known.without.values()), list(known.without)
    if left:
        tools = f"{count(len(names), 'tool')} without a definition ({_few(names, _NAMED)})"
        yield f"Left out: {left:,} of {known.calls:,} calls, to {tools}."
    if known.dropped:
        yield f"Left out: {count(known.dropped, 'run')} without a call that can be played."
    unknown = f": {_few(list(known.unknown), _NAMED)}" if known.unknown else ""
    yield (
        f"Wrong or made-up names: {sum(known.unknown.values()):,} of {known.calls:,} calls were answered as "
        f"calls of unknown tools{unknown}."
    )
    yield (
        f"Tokens: {batch.tokenizer}; prices of {told.model}; {SECONDS_A_CALL:g} s between model calls. "
        "Brackets are 95 % intervals over tasks."
    )


def _few(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _share(value: Estimate | None) -> str:
    if value is None:
        return NOTHING
    return f"{percent(value.mean)} [{value.low * 100:.0f}, {value.high * 100:.0f}]"


def _mean_share(value: Estimate | None) -> str:
    return NOTHING if value is None else percent(value.mean)


def _number(value: Estimate | None) -> str:
    return NOTHING if value is None else f"{value.mean:,.0f}"


def _dollars(value: Estimate | None) -> str:
    if value is None or not value.mean:
        return NOTHING
    digits = money_decimals((value.low, value.mean))
    return f"{money(value.mean, digits)} [{value.low:.{digits}f}, {value.high:.{digits}f}]"


def _mean(value: Estimate | None) -> str:
    return money(value.mean) if value is not None and value.mean else NOTHING


def _change(value: Estimate | None) -> str:
    if value is None:
        return NOTHING
    if value.low == value.high == 1:
        return "0"
    bounds = ", ".join(signed_percent(bound - 1, 1).removesuffix(" %") for bound in (value.low, value.high))
    return f"{signed_percent(value.mean - 1, 1)} [{bounds}]"


def _interval(value: Estimate, form: str) -> str:
    return f"{value.mean:{form}} [{value.low:{form}}, {value.high:{form}}]"


def told_json(told: Told) -> dict[str, Any]:
    """What programs read: what was played, every setup's figures, every run in it."""
    found, known, batch = told.found, told.known, told.batch
    return {
        "source": told.source,
        "shipped": told.shipped,
        "recorded": told.recorded,
        "agents": told.agents,
        "formats": found.formats,
        "other_files": found.others,
        "calls": known.calls,
        "left_out": known.without,
        "unknown": known.unknown,
        "dropped_runs": known.dropped,
        "tools": told.tools,
        "model": told.model,
        "tokenizer": batch.tokenizer,
        "bills": {name: to_builtins(one) for name, one in batch.bills.items()},
        "setups": list(map(to_builtins, batch.summaries)),
        "runs": {name: list(map(to_builtins, played)) for name, played in batch.played.items()},
        "seconds_a_call": SECONDS_A_CALL,
    }

"""Plays recorded runs of agents again, and prints what each setup would have found, missed and cost."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
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
from inspector.cli.options import Options, as_json, database, set_values
from inspector.cli.run import Exit
from inspector.cli.table import Progress, cancellation, say, show
from inspector.config.setting import DEFAULT_PROFILE, find_knob, find_profile, parse_value
from inspector.core.error import ConfigError
from inspector.core.number import count, money, money_decimals, percent, signed_percent
from inspector.core.ports import SystemClock
from inspector.core.ranking import Answer
from inspector.core.report import NOTHING, NUMBER, TEXT, Column, Table, selected
from inspector.core.settings import BudgetSettings
from inspector.mcp.tool_file import read_definitions
from inspector.measure.bootstrap import Estimate
from inspector.scenario.comparison import STATIC
from inspector.scenario.recorded_agent import KnownRuns, Reason, known_runs
from inspector.scenario.recorded_batch import (
    CUTS,
    FEW,
    QUARTERS,
    Batch,
    SetupSummary,
    play_batch,
    setups,
)
from inspector.scenario.recorded_run import LOOP, SECONDS_A_CALL, Allowed
from inspector.scenario.recording import Recordings, read_runs
from inspector.session.assembly import Ports
from inspector.tokens.accounting import LitellmPrices

_NAMED = 12
_Cell = Callable[[SetupSummary], str]
_Columns = Mapping[str, _Cell]


@dataclass(frozen=True, slots=True)
class Told:
    """What a report is about: what was read, what could be played, and what came of it."""

    found: Recordings
    known: KnownRuns
    tools: int
    batch: Batch
    model: str
    source: str

    @property
    def recorded(self) -> int:
        """How many runs were read."""
        return len(self.found.runs)


_SEARCHING: _Columns = {
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
_RECALL: _Columns = {
    "setup": lambda one: one.setup.name,
    **{f"first {cut}": partial(lambda cut, one: _mean_share(one.recall[cut]), cut) for cut in CUTS},
}
_SESSIONS: _Columns = {
    "setup": lambda one: one.setup.name,
    "searches per run": lambda one: _interval(one.searches_a_run, ".1f"),
    f"runs with at most {FEW}": lambda one: _share(one.few),
    f"bound after {', '.join(map(str, QUARTERS))} %": lambda one: "  ".join(
        f"{value.mean:.1f}" for value in one.bound.values()
    ),
    "refused": lambda one: f"{one.refused:,}",
    "of them recovered": lambda one: _share(one.recovered),
}
_CALLS: _Columns = {
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
_MONEY: _Columns = {
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
    "reached all its tools by searching.",
)


def _report(told: Told) -> Iterator[str | Table]:
    yield from _heading(told)
    for title, columns in (
        ("Searching", _SEARCHING),
        ("Recall: called tools ranked among the first", _RECALL),
        ("Calls", _CALLS),
        ("Sessions", _SESSIONS),
        ("Tokens per model call, dollars per solved task", _MONEY),
    ):
        kinds = {name: TEXT if name.startswith(_WIDE) else NUMBER for name in columns}
        shown = [Column(name.strip(), cell, kinds[name]) for name, cell in columns.items()]
        yield Table.of(shown, told.batch.summaries, title)
    yield ""
    yield from _LEGEND
    for setup in (one.setup for one in told.batch.summaries if one.setup.profile == STATIC):
        if setup.name in told.batch.bills:
            ratio = _interval(told.batch.bills[setup.name], ".3f")
            yield f"\n{setup.name}: the provider counted {ratio} times our input tokens."


def _heading(told: Told) -> Iterator[str]:
    """What was read and left out, and what the figures rest on."""
    batch = told.batch
    played = batch.summaries[0].runs if batch.summaries else 0
    formats = ", ".join(f"{name} {number:,}" for name, number in told.found.formats.items())
    recorded = count(len(told.found.runs), "recorded run")
    agents = {run.model for run in told.known.runs if run.model}
    by = f" of {', '.join(sorted(agents))}" if agents else ""
    yield f"{told.source}: {recorded} ({formats}){by}; not shipped with Toolsight."
    tasks = batch.summaries[0].tasks if batch.summaries else 0
    yield f"Replayed {count(played, 'run')} of {count(tasks, 'task')} with {count(told.tools, 'tool')}."
    left = sum(told.known.without.values())
    if left:
        names = list(told.known.without)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield (
            f"Left out: {left:,} of {told.known.calls:,} calls, to {count(len(names), 'tool')} without a "
            f"definition ({', '.join(names[:_NAMED])}{more}), and {count(told.known.dropped, 'run')} with "
            "no other calls."
        )
    unknown = told.known.unknown
    named = f": {', '.join(list(unknown)[:_NAMED])}" if unknown else ""
    yield (
        f"Wrong or made-up names: {sum(unknown.values()):,} of {told.known.calls:,} calls were answered as "
        f"calls of unknown tools{named}."
    )
    yield (
        f"Tokens: {batch.tokenizer}; prices of {told.model}; {SECONDS_A_CALL:g} s between model calls. "
        "Brackets are 95 % intervals over tasks."
    )


def _share(value: Estimate | None) -> str:
    if value is None:
        return NOTHING
    return f"{percent(value.mean)} [{value.low * 100:.0f}, {value.high * 100:.0f}]"


def _mean_share(value: Estimate | None) -> str:
    return percent(value.mean) if value else NOTHING


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


_ESTIMATE = "{mean low high clusters}"
_SETUP = f"""setup{{name profile values}} runs tasks solved model_calls calls searches answers
    recall{_ESTIMATE} returned{_ESTIMATE} reached{_ESTIMATE} used{_ESTIMATE} whole{_ESTIMATE} evicted
    rejected loops loops_solved redundant tool_tokens{_ESTIMATE} search_tokens{_ESTIMATE}
    input_tokens{_ESTIMATE} cost{_ESTIMATE} uncached{_ESTIMATE} cost_reached{_ESTIMATE}
    uncached_reached{_ESTIMATE} cost_ratio{_ESTIMATE} uncached_ratio{_ESTIMATE} call_ratio{_ESTIMATE}
    ahead ahead_unused{_ESTIMATE} searches_a_run{_ESTIMATE} few{_ESTIMATE} bound{_ESTIMATE} refused
    recovered{_ESTIMATE}"""
_RUN = """id task solved model_calls calls searches answers needs{tool rank returned reached} discovered
    used evicted{tool cause} rejected loops redundant spent{tool_tokens searches input output cost uncached}
    tokenizer{name exact} ahead ahead_used bound refused{name recovered}"""
_KEYS = f"""source recorded formats:found.formats other_files:found.others calls:known.calls
    left_out:known.without unknown:known.unknown dropped_runs:known.dropped tools model
    tokenizer:batch.tokenizer bills:batch.bills{_ESTIMATE}
    setups:batch.summaries{{{_SETUP}}} runs:batch.played{{{_RUN}}}"""


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
@as_json
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
) -> None:
    """Replay recorded agent runs in several setups.

    Prints what each setup would have found, missed and cost. FOLDER holds recordings in one of the formats
    in docs/papers/recorded-runs.md. The agent repeats its recorded calls, but searches before calling a tool
    it does not have. Costs are compared with those of the first setup.

    \b
    toolsight bench runs RECORDINGS --tools tools.json --profile toolsight --profile static
    """
    with Progress() as progress:
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
    told = Told(found, known, len(tools), batch, model, folder.name)
    show(selected(told, _KEYS) | {"shipped": False, "seconds_a_call": SECONDS_A_CALL}, _report(told))
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

"""What followed what in recorded runs, and how well rules that never saw a run predict its next call.

What a rule is asked is left out of what it learns: the run alone, as when tasks come back, or every attempt
at its task, as when each is new. Only first uses are scored: a tool that was called before is bound.
`python -m docs.benchmark.inertia FOLDER` prints the tables of "How well the next tool can be predicted" in
docs/papers/composition.md, from recordings in the formats of docs/benchmark/recordings.py.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from docs.benchmark.recordings import read_published
from inspector.cli.table import say_report
from inspector.core.inertia import Aging, InertiaGraph, Tally
from inspector.core.number import percent
from inspector.core.ports import TaskCalls
from inspector.core.report import NOTHING, Column, Table
from inspector.core.tool import server_of
from inspector.mcp.recorded_link import RecordedRun
from inspector.search.answer.metric import Estimate, ratio_estimate


class RunFacts(Struct, frozen=True):
    """What the runs are: `same` is the share of transitions to the tool called last, `first` to a new one."""

    runs: int
    tasks: int
    tools: int
    calls: int
    transitions: int
    first_uses: int
    same: Estimate | None
    first: Estimate | None


def named(run: RecordedRun) -> tuple[tuple[str, ...], ...]:
    """The ids of the tools that a run called, by message; the server is what a joined name begins with."""
    return tuple(
        tuple(_id(call.server, call.tool) for step in message.steps for call in step.calls)
        for message in run.messages
    )


def _id(server: str, tool: str) -> str:
    if server:
        return f"{server}:{tool}"
    first, sign, rest = tool.partition("-")
    return f"{first}:{rest}" if sign else tool


def facts(runs: Sequence[RecordedRun]) -> RunFacts:
    """Count the transitions of the runs."""
    moves = [(run.task, *move) for run in runs for move in transitions(named(run))]
    return RunFacts(
        runs=len(runs),
        tasks=len({run.task for run in runs}),
        tools=len({tool for run in runs for calls in named(run) for tool in calls}),
        calls=sum(len(calls) for run in runs for calls in named(run)),
        transitions=len(moves),
        first_uses=sum(is_new for *_, is_new in moves),
        same=ratio_estimate((task, float(before == tool), 1.0) for task, before, tool, _ in moves),
        first=ratio_estimate((task, float(is_new), 1.0) for task, *_, is_new in moves),
    )


def transitions(messages: Sequence[Sequence[str]]) -> Iterator[tuple[str, str, bool]]:
    """Every call after another one for the same message, and whether it is the tool's first of the run."""
    called: set[str] = set()
    for calls in messages:
        before = ""
        for tool in calls:
            if before:
                yield before, tool, tool not in called
            called.add(tool)
            before = tool


SHARE, AT_LEAST = "share", "at least"
LEVELS = ((SHARE, 0.1), (SHARE, 0.3), (SHARE, 0.5), (AT_LEAST, 0.1), (AT_LEAST, 0.2), (AT_LEAST, 0.25))
"""From where on tools are bound ahead: their share of the calls, or the lower end of its interval."""
RULES = ("order 1", "order 1 unfiltered", "most used", "same server")
CUTS = (1, 3)
_NOW = Aging(0.0)

Persona = Callable[[RecordedRun], str]
PERSONAS: Mapping[str, Persona] = {
    "all in one": lambda _run: "",
    "model": lambda run: run.model,
    "task group": lambda run: run.task.partition("__")[0] if "__" in run.task else "",
}
"""Ways to decide whose habits a run shows."""
ALL = next(iter(PERSONAS))


class Ahead(Struct, frozen=True):
    """Binding all unused tools ahead whose `by` is `level` or more after some call, each once a run.

    `unused_next` is the share that was not the next call, `unused` the share that was not called at all, and
    `covered` the share of first uses whose tool had been bound ahead.
    """

    by: str
    level: float
    bound: int
    unused_next: Estimate | None
    unused: Estimate | None
    covered: Estimate | None


class InertiaScore(Struct, frozen=True):
    """One way to learn and to leave out. `hits` is by rule and cut, over first uses that follow a call."""

    persona: str
    left_out: str
    hits: Mapping[str, Mapping[int, Estimate | None]]
    ahead: tuple[Ahead, ...]


class _Move(Struct, frozen=True):
    """A call after another one of the same message. `unused` is whether it is the tool's first of the run."""

    task: str
    before: str
    tool: str
    unused: bool
    hits: Mapping[str, int]


def score(runs: Sequence[RecordedRun], persona: str, *, by_task: bool) -> InertiaScore:
    """Score every run by the others of its persona, without those of its task if `by_task`."""
    groups: defaultdict[str, list[RecordedRun]] = defaultdict(list)
    for run in runs:
        groups[PERSONAS[persona](run)].append(run)
    moves: list[_Move] = []
    bound: dict[tuple[str, float], list[tuple[str, bool, bool]]] = {level: [] for level in LEVELS}
    covered: dict[tuple[str, float], list[tuple[str, float, float]]] = {level: [] for level in LEVELS}
    for group in groups.values():
        for graph, run in _left_out(group, by_task=by_task):
            moves += _moves(graph, run)
            for level in LEVELS:
                ahead = _bound_ahead(graph, run, level)
                bound[level] += [(run.task, is_next, is_used) for is_next, is_used, _ in ahead]
                new = sum(is_new for *_, is_new in transitions(named(run)))
                covered[level].append((run.task, float(sum(one[2] for one in ahead)), float(new)))
    firsts = [move for move in moves if move.unused]
    return InertiaScore(
        persona,
        "the task" if by_task else "the run",
        {rule: {cut: _hits(firsts, rule, cut) for cut in CUTS} for rule in RULES},
        tuple(_ahead(level, bound[level], covered[level]) for level in LEVELS),
    )


def _left_out(runs: Sequence[RecordedRun], *, by_task: bool) -> Iterator[tuple[InertiaGraph, RecordedRun]]:
    """Each run with what the others say."""
    graph, apart = InertiaGraph(), defaultdict[str, list[RecordedRun]](list)
    for run in runs:
        apart[run.task if by_task else run.id].append(run)
        for task in _tasks(run):
            graph.add(task)
    for group in apart.values():
        for run in group:
            for task in _tasks(run):
                _forget(graph, task)
        for run in group:
            yield graph, run
        for run in group:
            for task in _tasks(run):
                graph.add(task)


def _forget(graph: InertiaGraph, task: TaskCalls) -> None:
    """Take a task out of what was learned, all of it on the first day."""
    before, gone = "", Tally({0: -1})
    for tool, _ in task.calls:
        graph.used(tool, gone)
        if before:
            graph.follows(before, tool, gone)
        before = tool
    graph.tasks -= bool(task.calls)


def _tasks(run: RecordedRun) -> Iterator[TaskCalls]:
    for calls in named(run):
        if calls:
            yield TaskCalls("", tuple((tool, 0.0) for tool in calls))


def _moves(graph: InertiaGraph, run: RecordedRun) -> Iterator[_Move]:
    """The transitions of a run, each with the rank that every rule gave the tool, 0 if none."""
    called: set[str] = set()
    most = sorted(graph.calls, key=lambda tool: (-graph.calls[tool].weight(_NOW), tool))
    for calls in named(run):
        before = ""
        for tool in calls:
            is_new = tool not in called
            if before:
                ranks = _ranks(graph, before, called, most, tool) if is_new else {}
                yield _Move(run.task, before, tool, is_new, ranks)
            called.add(tool)
            before = tool


def _ranks(
    graph: InertiaGraph, before: str, called: set[str], most: Sequence[str], tool: str
) -> dict[str, int]:
    unused = [one for one in most if one not in called]
    server = server_of(before)
    after = [one.tool for one in graph.after(before, _NOW)]
    said = {
        "order 1": [one for one in after if one not in called],
        "order 1 unfiltered": after,
        "most used": unused,
        "same server": [one for one in unused if server_of(one) == server],
    }
    return {rule: ranked.index(tool) + 1 if tool in ranked else 0 for rule, ranked in said.items()}


def _bound_ahead(
    graph: InertiaGraph, run: RecordedRun, level: tuple[str, float]
) -> list[tuple[bool, bool, bool]]:
    """For each tool bound ahead: whether it was called next, at all, and first after another call."""
    found: list[tuple[bool, bool, bool]] = []
    messages = named(run)
    later = [tool for calls in messages for tool in calls]
    starts = _starts(messages)
    called, ahead, place = set[str](), set[str](), 0
    for calls in messages:
        for number, tool in enumerate(calls):
            called.add(tool)
            place += 1
            for one in graph.after(tool, _NOW):
                if (one.probability if level[0] == SHARE else one.low) >= level[
                    1
                ] and one.tool not in called | ahead:
                    ahead.add(one.tool)
                    is_next = number + 1 < len(calls) and calls[number + 1] == one.tool
                    is_used = one.tool in later[place:]
                    found.append((is_next, is_used, is_used and one.tool not in starts))
    return found


def _starts(messages: Sequence[Sequence[str]]) -> set[str]:
    """The tools whose first use is the first call of a message: no call predicts it."""
    called, starts = set[str](), set[str]()
    for calls in messages:
        if calls and calls[0] not in called:
            starts.add(calls[0])
        called.update(calls)
    return starts


def _hits(firsts: Sequence[_Move], rule: str, cut: int) -> Estimate | None:
    return ratio_estimate((move.task, float(0 < move.hits[rule] <= cut), 1.0) for move in firsts)


def _ahead(
    level: tuple[str, float],
    bound: Sequence[tuple[str, bool, bool]],
    covered: Sequence[tuple[str, float, float]],
) -> Ahead:
    return Ahead(
        *level,
        len(bound),
        ratio_estimate((task, float(not is_next), 1.0) for task, is_next, _ in bound),
        ratio_estimate((task, float(not is_used), 1.0) for task, _, is_used in bound),
        ratio_estimate(covered),
    )


def report(source: str, runs: Sequence[RecordedRun]) -> Iterator[str | Table]:
    """The facts, and what every rule predicts: with each way to choose personas that separates the runs."""
    told = facts(runs)
    yield f"{source}: {told.runs:,} runs, {told.tasks:,} tasks, {told.calls:,} calls of {told.tools:,} tools"
    yield f"{told.transitions:,} transitions: {_share(told.same)} stay, {_share(told.first)} go to a new tool"
    ways = [name for name, of in PERSONAS.items() if name == ALL or len({of(run) for run in runs}) > 1]
    scores = [score(runs, name, by_task=by_task) for name in ways for by_task in (False, True)]
    learned = (Column("learned from", "persona"), Column("left out", "left_out"))
    hits = (Column(f"{rule}, top {cut}", partial(_hit, rule, cut)) for rule in RULES for cut in CUTS)
    yield Table.of((*learned, *hits), scores, "First uses predicted in the top one and the top three")
    title = "Bound ahead after a call, each tool once per run and never one already called"
    headers = ("learned from", "left out", "from", "bound", "not next", "never called", "covers")
    yield Table(title, headers, tuple(row for one in scores for row in _wasted(one)))


def _hit(rule: str, cut: int, one: InertiaScore) -> str:
    return _share(one.hits[rule][cut])


def _wasted(one: InertiaScore) -> Iterator[tuple[Any, ...]]:
    for ahead in one.ahead:
        shares = map(_share, (ahead.unused_next, ahead.unused, ahead.covered))
        yield (one.persona, one.left_out, f"{ahead.by} {ahead.level:g}", f"{ahead.bound:,}", *shares)


def _share(value: Estimate | None) -> str:
    """A share and its 95 % bootstrap interval over tasks."""
    if value is None:
        return NOTHING
    return f"{percent(value.mean, 1)} [{value.low * 100:.0f}, {value.high * 100:.0f}]"


if __name__ == "__main__":
    say_report(report(sys.argv[1], read_published(Path(sys.argv[1])).runs))

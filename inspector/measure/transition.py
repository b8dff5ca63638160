"""The calls of recorded runs one after another: how many stay on a tool, and how many go to a new one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inspector.mcp.recorded_run import RecordedRun
from inspector.measure.bootstrap import Estimate, ratio_estimate


@dataclass(frozen=True, slots=True)
class RunFacts:
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

"""Finds the definitions of the tools that recorded runs called, and names those that have none."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from inspector.core.tool import Tool, wire_name
from inspector.mcp.recorded_run import RecordedCall, RecordedMessage, RecordedRun, RecordedStep


@dataclass(frozen=True, slots=True)
class KnownRuns:
    """Runs whose every call is of a tool with a definition, and what was left out to get there.

    `without` counts the calls of each tool without a definition, by the recording's name; `calls` counts all
    calls before. `dropped` are the runs that had no other calls. A run that lost a call has no reported
    tokens.
    """

    runs: tuple[RecordedRun, ...]
    without: Mapping[str, int]
    calls: int
    dropped: int


class ToolNames:
    """Resolves a recording's names: recorders join server and tool each in their own way."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._exact: dict[tuple[str, str], Tool] = {}
        self._joined: dict[str, Tool] = {}
        self._by_name: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in tools:
            self._exact[tool.server, tool.name] = tool
            self._by_name[tool.name].append(tool)
            for joint in ("-", "_", "__", ":", "/", "."):
                self._joined.setdefault(f"{tool.server}{joint}{tool.name}", tool)
            self._joined.setdefault(wire_name(tool.server, tool.name), tool)

    def find(self, call: RecordedCall) -> Tool | None:
        """The tool of a call, or None if it has no definition or its name could mean two."""
        if call.server:
            # Another server's tool of that name is another tool.
            return self._exact.get((call.server, call.tool))
        named = self._by_name.get(call.tool, ())
        return self._joined.get(call.tool) or (named[0] if len(named) == 1 else None)


def known_runs(runs: Sequence[RecordedRun], tools: Iterable[Tool]) -> KnownRuns:
    """The runs with each call renamed to its tool's server and name; other calls are left out."""
    names = ToolNames(tools)
    without: Counter[str] = Counter()
    kept, calls = [], 0
    for run in runs:
        calls += sum(1 for _ in run.calls)
        before = without.total()
        renamed = replace(run, messages=tuple(_message(one, names, without) for one in run.messages))
        if without.total() > before:
            # The provider counted calls that are left out here: its bill is for another run.
            renamed = replace(renamed, input_tokens=None, output_tokens=None)
        if any(True for _ in renamed.calls):
            kept.append(renamed)
    return KnownRuns(tuple(kept), dict(without.most_common()), calls, len(runs) - len(kept))


def _message(message: RecordedMessage, names: ToolNames, without: Counter[str]) -> RecordedMessage:
    """The message; a step that only made calls that are left out becomes part of the next one."""
    steps: list[RecordedStep] = []
    waiting: list[str] = []
    for number, step in enumerate(message.steps, start=1):
        calls = tuple(call for call in (_call(one, names, without) for one in step.calls) if call is not None)
        waiting += [step.text] if step.text else []
        if calls or step.searches or number == len(message.steps):
            steps.append(replace(step, text="\n\n".join(waiting), calls=calls))
            waiting = []
    return replace(message, steps=tuple(steps))


def _call(call: RecordedCall, names: ToolNames, without: Counter[str]) -> RecordedCall | None:
    tool = names.find(call)
    if tool is None:
        without["/".join(filter(None, (call.server, call.tool)))] += 1
        return None
    return replace(call, server=tool.server, tool=tool.name)

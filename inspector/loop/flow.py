"""What follows what: as rows to read, as an export, and read from a file, which may be an export."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct
from pydantic import AfterValidator, Field

from inspector.access.policy_file import load_yaml
from inspector.config.problem import NullAsAbsent, not_empty, refusal, validated
from inspector.core.inertia import Aging, InertiaGraph, Successor, Tally
from inspector.core.number import count, percent, shown_moment
from inspector.core.ports import OWN_PERSONA
from inspector.core.report import COUNT, Column, Table
from inspector.core.settings import InertiaSettings


class FlowTool(Struct, frozen=True):
    """A tool with what follows it; `at` is when it was called last, in seconds since 1970, 0 if never."""

    tool: str
    calls: int
    at: float
    successors: tuple[Successor, ...]


class Flow(Struct, frozen=True):
    """A persona's habits: its tools, the most called first; they rest on `tasks` messages of the user."""

    persona: str
    tasks: int
    tools: tuple[FlowTool, ...]

    @property
    def calls(self) -> int:
        """How many calls were seen."""
        return sum(tool.calls for tool in self.tools)


def flow(persona: str, graph: InertiaGraph, aging: Aging) -> Flow:
    """A graph as rows; a tool that is only known as what others come after is among them."""
    known = {*graph.calls, *(before for before, _, _ in graph.links)}
    tools = []
    for tool in known:
        tally = graph.calls.get(tool)
        calls, at = (tally.count, tally.at) if tally is not None else (0, 0.0)
        tools.append(FlowTool(tool, calls, at, graph.after(tool, aging)))
    return Flow(persona, graph.tasks, tuple(sorted(tools, key=lambda one: (-one.calls, one.tool))))


def flows(graphs: Mapping[str, InertiaGraph], aging: Aging) -> tuple[Flow, ...]:
    """The flow of every persona, the one that is known best first."""
    found = [flow(persona, graph, aging) for persona, graph in graphs.items()]
    return tuple(sorted(found, key=lambda one: (-one.tasks, one.persona)))


def warmth(tasks: int, warm_up: int) -> str:
    """How much was seen of what is needed before anything is predicted."""
    if tasks < warm_up:
        return f"{tasks:,} of {warm_up:,} tasks: still learning"
    return f"{tasks:,} {'task' if tasks == 1 else 'tasks'} seen, {warm_up:,} needed"


PERSONAS = (
    Column("persona"),
    Column("tasks", lambda one: warmth(one.tasks, InertiaSettings().warm_up)),
    Column("calls", kind=COUNT),
    Column("tools", lambda one: len(one.tools), COUNT),
)
# As many tools, and as many of what follows each, as a table has.
_TOOLS, _NEXT = 20, 3
_HEADERS = ("after", "calls", "next", "share", "at least", "times", "last (UTC)", "note")


def following(shown: Flow) -> Table:
    """What follows the tools that are called most."""
    title = f"{shown.persona}: what follows each tool, most-called tools first"
    left = len(shown.tools) - _TOOLS
    more = (
        (f"and {count(left, 'more tool')}; `toolsight sessions next --json` lists them all",)
        if left > 0
        else ()
    )
    told = "share: of the calls after that tool, by age; at least: the lower end of its 95 % interval."
    right, whole = frozenset({1, 3, 4, 5}), frozenset({0, 2, 6})
    return Table(title, _HEADERS, tuple(_rows(shown)), right, (*more, told), whole=whole)


def _rows(shown: Flow) -> Iterator[tuple[str, ...]]:
    for tool in shown.tools[:_TOOLS]:
        first = (tool.tool, f"{tool.calls:,}")
        if not tool.successors:
            yield (*first, "nothing", "", "", "", "", "")
        for one in tool.successors[:_NEXT]:
            last = shown_moment(one.at) if one.at else ""
            shares = (percent(one.probability), percent(one.low), f"{one.count:,}")
            yield (*first, one.tool, *shares, last, one.note)
            first = ("", "")


def exported(shown: Flow) -> dict[str, Any]:
    """A flow as a seed file has it; what is worked out of the counts is for readers."""
    return {
        "persona": shown.persona,
        "tasks": shown.tasks,
        "transitions": [
            {
                "after": tool.tool,
                "tool": one.tool,
                "count": one.count,
                "probability": round(one.probability, 4),
                "low": round(one.low, 4),
                **({"last": shown_moment(one.at)} if one.at else {}),
                **({"note": one.note} if one.note else {}),
            }
            for tool in shown.tools
            for one in tool.successors
        ],
    }


# Files of transitions, JSON or YAML: what a person expects to follow what, or an exported graph.

_MOST = 10**9


def _tool(value: str) -> str:
    server, colon, name = value.partition(":")
    if not (colon and server.strip() and name.strip()):
        raise refusal(f"is {value!r:.80}, not a tool id", "Write SERVER:TOOL.")
    return value


_ToolId = Annotated[str, AfterValidator(_tool), Field(description="Write SERVER:TOOL.")]
_Count = Annotated[int, Field(ge=1, le=_MOST, description="Write the count as a whole number, at least 1.")]
_Tasks = Annotated[int, Field(ge=0, le=_MOST, description="Write the number of tasks as a whole number.")]


class _Transition(NullAsAbsent):
    """One transition. What an export says besides is worked out of the counts again."""

    after: _ToolId
    tool: _ToolId
    count: _Count = 1
    note: str = ""
    probability: float = 0.0
    low: float = 0.0
    last: str = ""


class _Persona(NullAsAbsent):
    persona: Annotated[str, AfterValidator(not_empty), Field(description="Name the persona.")] = OWN_PERSONA
    tasks: _Tasks = 0
    transitions: Annotated[
        list[_Transition], Field(min_length=1, description="Write a list of objects with `after` and `tool`.")
    ]

    def graph(self) -> InertiaGraph:
        graph = InertiaGraph()
        graph.tasks = self.tasks
        for one in self.transitions:
            graph.follows(one.after, one.tool, Tally(seeded=one.count, note=one.note.strip()))
            graph.used(one.tool, Tally(seeded=one.count))
        return graph


class _File(NullAsAbsent):
    personas: Annotated[list[_Persona], Field(min_length=1, description="Write a list of personas.")]


def load_seeds(path: Path) -> dict[str, InertiaGraph]:
    """The graphs of a file by persona. Raises ConfigError that names the file, the line and the key.

    One persona may stand by itself; without a name it is that of Toolsight's own sessions.
    """
    data, place = load_yaml(path, "transitions")
    data = {"personas": data} if isinstance(data, list) else data
    if isinstance(data, dict) and "personas" in data:
        read = list(validated(_File, data, place).personas)
    else:
        read = [validated(_Persona, data, place)]
    graphs: dict[str, InertiaGraph] = {}
    for one in read:
        graphs.setdefault(one.persona, InertiaGraph()).take(one.graph())
    return graphs

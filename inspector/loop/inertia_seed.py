"""Reads files of transitions, JSON or YAML: what a person expects to follow what, or an exported graph."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from inspector.access.policy_file import load_yaml
from inspector.config.problem import NullAsAbsent, not_empty, refusal, validated
from inspector.core.inertia import InertiaGraph, Tally
from inspector.core.ports import OWN_PERSONA

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
    if isinstance(data, dict) and "personas" in data:
        read = list(validated(_File, data, place).personas)
    else:
        read = [validated(_Persona, data, place)]
    graphs: dict[str, InertiaGraph] = {}
    for one in read:
        graphs.setdefault(one.persona, InertiaGraph()).take(one.graph())
    return graphs

"""What can happen to a tool on its way to a client's model, the worst first."""

from dataclasses import dataclass
from enum import StrEnum

from inspector.clients.client import Topic


class Kind(StrEnum):
    """What becomes of tools, in words for several servers; those above `TASK` cost a tool altogether."""

    UNREACHED = "it cannot be reached"
    LOST = "definitions cannot be read"
    PAGE = "later pages are not read"
    NAME_REFUSED = "names are refused"
    SCHEMA_REFUSED = "tools are refused"
    TASK = "tools that run only as a task cannot be called"
    HIDDEN = "tools for a view alone are hidden"
    MOST = "not all tools can be on"
    TWIN = "names are equal"
    NAME_CUT = "names are shortened"
    INSTRUCTIONS_HIDDEN = "its instructions are not shown"
    INSTRUCTIONS_CUT = "instructions are cut"
    CUT = "descriptions are cut"
    SCHEMA = "schemas change"
    SILENT = "some tools have no description to be found by"
    SHOWN = "the model gets tools for a view alone"
    UNKNOWN = "what becomes of it is not known"
    RENAMED = "names are changed"
    SPARE = "schemas lose what no call needs"

    @property
    def topic(self) -> Topic:
        """What the rule behind it is about."""
        return _TOPICS.get(self, Topic.LISTING)


_TOPICS = {
    Kind.UNREACHED: Topic.PROTOCOL,
    Kind.NAME_REFUSED: Topic.NAMES,
    Kind.SCHEMA_REFUSED: Topic.SCHEMAS,
    Kind.TASK: Topic.TASKS,
    Kind.TWIN: Topic.NAMES,
    Kind.NAME_CUT: Topic.NAMES,
    Kind.INSTRUCTIONS_CUT: Topic.CUTS,
    Kind.CUT: Topic.CUTS,
    Kind.SCHEMA: Topic.SCHEMAS,
    Kind.SILENT: Topic.SEARCH,
    Kind.RENAMED: Topic.NAMES,
    Kind.SPARE: Topic.SCHEMAS,
}
KEEPS_OUT = frozenset({Kind.UNREACHED, Kind.LOST, Kind.PAGE, Kind.NAME_REFUSED, Kind.SCHEMA_REFUSED})
"""What keeps a tool from the model, although it is meant for one."""
HARMLESS = frozenset({Kind.HIDDEN, Kind.RENAMED, Kind.SPARE})
"""What takes nothing from a model."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a tool: in words, and where in its definition that lies (`inputSchema.required`).

    `source` and `date` are those of the rule, if it names its own.
    """

    kind: Kind
    says: str
    place: str = ""
    source: str = ""
    date: str = ""

    def __str__(self) -> str:
        return self.says

"""What reaches a client's model of each tool that a server lists, and why: the one verdict on both, in words.

Whatever is said elsewhere of a tool in a client is said from here; `deliver` finds it out.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from inspector.clients.client import HARMLESS, KEEPS_OUT, Client, Confidence, Fact, Kind, Topic
from inspector.clients.seen import SeenTool
from inspector.core.message import ToolResult
from inspector.core.number import count
from inspector.core.server import SkippedTool
from inspector.core.text import shortened
from inspector.core.tool import Tool, is_for_apps_alone
from inspector.schema.json_value import compact

NEEDED = {
    Topic.LISTING: "what it lists is not known",
    Topic.NAMES: "how it names tools is not known",
    Topic.SCHEMAS: "what it makes of schemas is not known",
    Topic.CUTS: "where it cuts texts is not known",
    Topic.RESULTS: "what it makes of results is not known",
}
"""What has to be known of a client before it can be said that a server works in it."""
# Characters of a tool's name in a line.
_LONGEST, _SCHEMA = 32, "schema: "


class Fate(StrEnum):
    """What becomes of a tool, the worst first."""

    LOST = "lost"
    REFUSED = "refused"
    CHANGED = "changed"
    WHOLE = "whole"


class Verdict(StrEnum):
    """What becomes of a server in a client, the worst first."""

    BLOCKED = "blocked"
    DEGRADED = "degraded"
    UNKNOWN = "unknown"
    WORKS = "works"


class Listed(Struct, frozen=True):
    """What a server lists: the tools that could be read, in order, what could not, and what else it says.

    `protocol` is the revision that was agreed upon; `refuses_older` as in `ServerInfo`. `results` are what
    calls gave, each with its tool's id. `list_kept` as in `ServerInfo`; `tells_changes` is whether the server
    says that it tells of a change of its list.
    """

    server: str
    tools: Sequence[Tool]
    skipped: Sequence[SkippedTool] = ()
    instructions: str = ""
    protocol: str = ""
    refuses_older: bool = False
    results: Sequence[tuple[str, ToolResult]] = ()
    noise: str = ""
    list_kept: float | None = None
    tells_changes: bool = False


class Reason(Struct, frozen=True):
    """Why a tool, or a server, does not reach a model as it is: what happens, in words, and by what rule.

    `place` is where in the definition it lies. `fact` is what the rule rests on, the weakest of its topic;
    None for a rule that is assumed.
    """

    kind: Kind
    says: str
    place: str
    confidence: Confidence
    fact: Fact | None = None
    topic: Topic = Topic.LISTING


class Delivery(Struct, frozen=True):
    """What becomes of one tool in a client. `seen` is what its model gets, None if the tool is lost.

    `tokens` are those of its definition there, 0 if it does not get it, or if they were not counted.
    """

    server: str
    tool: str
    fate: Fate
    reasons: tuple[Reason, ...] = ()
    seen: SeenTool | None = None
    tokens: int = 0

    @property
    def id(self) -> str:
        """The tool's id."""
        return f"{self.server}:{self.tool}"

    @property
    def reaches(self) -> bool:
        """Whether the model gets it."""
        return self.fate in (Fate.WHOLE, Fate.CHANGED)

    @property
    def is_as_good(self) -> bool:
        """Whether it is changed in nothing that a model is told or loses."""
        return self.fate is Fate.CHANGED and HARMLESS.issuperset(one.kind for one in self.reasons)


class ServerDelivery(Struct, frozen=True, dict=True):
    """What becomes of one server in a client: its tools, and what is said of the server as a whole."""

    client: Client
    listed: Listed
    tools: tuple[Delivery, ...]
    own: tuple[Reason, ...] = ()

    @cached_property
    def _meant(self) -> tuple[Delivery, ...]:
        """The tools that are meant for a model."""
        return tuple(one for one in self.tools if one.seen is None or not is_for_apps_alone(one.seen.tool))

    @cached_property
    def by_kind(self) -> Mapping[Kind, tuple[tuple[Delivery, Reason], ...]]:
        """The tools that are meant for a model, by what becomes of them, with why."""
        found: dict[Kind, list[tuple[Delivery, Reason]]] = {}
        for one in self._meant:
            for reason in one.reasons:
                found.setdefault(reason.kind, []).append((one, reason))
        # First those that are at fault themselves: others of the server are lost with them.
        return {
            kind: tuple(sorted(found[kind], key=lambda one: not one[1].place))
            for kind in Kind
            if kind in found
        }

    @property
    def shown(self) -> int:
        """How many tools the model gets."""
        return sum(one.reaches for one in self.tools)

    @property
    def is_reached(self) -> bool:
        """Whether the client speaks a revision that the server takes, as far as that is known."""
        return Kind.UNREACHED not in self.by_kind

    @property
    def is_short(self) -> bool:
        """Whether a tool that is meant for a model does not reach it."""
        return any(kind in KEEPS_OUT for kind in self.by_kind)

    @cached_property
    def worst(self) -> Reason | None:
        """The first thing that stands in the server's way; None if nothing does."""
        by_tool = {kind: found[0][1] for kind, found in self.by_kind.items()}
        of_server = {one.kind: one for one in reversed(self.own)}
        return next(
            (
                found
                for kind in Kind
                if (found := by_tool.get(kind) or of_server.get(kind)) and kind not in HARMLESS
            ),
            None,
        )

    @property
    def verdict(self) -> Verdict:
        """Whether the server works there."""
        if (worst := self.worst) is None:
            return Verdict.WORKS
        if worst.kind in (Kind.UNKNOWN, Kind.UNSURE):
            return Verdict.UNKNOWN
        unusable = {one.tool for kind in (*KEEPS_OUT, Kind.TASK) for one, _ in self.by_kind.get(kind, ())}
        return Verdict.BLOCKED if self._meant and len(unusable) == len(self._meant) else Verdict.DEGRADED

    @property
    def confidence(self) -> Confidence:
        """How sure the verdict is: as the rule behind it, or as the weakest of what had to be known."""
        if self.worst is not None:
            return self.worst.confidence
        sure = map(self.client.confidence, (*NEEDED, Topic.SEARCH))
        return max(sure, key=list(Confidence).index)

    @property
    def finding(self) -> str:
        """What stands in the server's way, with the first tool that shows it; "" if nothing does."""
        if (worst := self.worst) is None:
            return ""
        tools = self.by_kind.get(worst.kind, ())
        if not tools or worst.kind in (Kind.UNREACHED, Kind.UNKNOWN):
            return worst.says
        first, says = in_line(tools[0][0].tool), worst.says.removeprefix(_SCHEMA)
        # A tool can have several reasons of a kind.
        some = len({id(one) for one, _ in tools})
        return f"{part_of(worst.kind, some, len(self._meant))}, {first}: {says}"

    def _shown(self, reason: Reason) -> str:
        """What is at fault, as it stands in the definition if that is short: `required: null`."""
        key = reason.place.rpartition(".")[2]
        seen = self.by_kind[reason.kind][0][0].seen
        if seen is None or reason.place != f"inputSchema.{key}" or key not in seen.tool.input_schema:
            return reason.place or "what it lists"
        value = compact(seen.tool.input_schema[key])
        return f"`{key}: {value}`" if len(value) <= _LONGEST else reason.place

    def sentence(self, place: str = "") -> str:
        """It in a sentence for a person; `place` is where the first tool at fault stands in a file."""
        title, number, worst = self.client.title, len(self._meant), self.worst
        every, none = (f"{number:,} tools", f"shows none of your {number:,} tools")
        if number == 1:
            every, none = "tool", "does not show your tool"
        if worst is None:
            return f"{title} shows your {every}."
        if self.verdict is Verdict.UNKNOWN:
            verb = "works" if number == 1 else "work"
            return f"Whether your {every} {verb} in {title} is not known: {worst.says}."
        tools = self.by_kind.get(worst.kind, ())
        at = f" in {in_line(tools[0][0].tool)}{f' ({place})' if place else ''}" if tools else ""
        if worst.kind is Kind.UNREACHED:
            return f"{title} {none}, because {worst.says}."
        if worst.kind not in KEEPS_OUT or not tools:
            return f"{title} shows your {every}, but {self.finding}."
        shown = sum(one.reaches for one in self._meant)
        told = f"shows {shown:,} of your {every}" if shown else none
        return f"{title} {told}, because of {self._shown(worst)}{at}: {worst.says}."


_NOUNS = {
    Kind.LOST: ("tool", "lost"),
    Kind.PAGE: ("tool", "on later pages"),
    Kind.NAME_REFUSED: ("tool", "refused"),
    Kind.SCHEMA_REFUSED: ("tool", "refused"),
    Kind.TASK: ("tool", "cannot be called"),
    Kind.MISFIT: ("result", "lost"),
    Kind.TWIN: ("name", "equal"),
    Kind.NAME_CUT: ("name", "shortened"),
    Kind.CUT: ("description", "cut"),
    Kind.SCHEMA: ("schema", "changed"),
    Kind.SILENT: ("tool", "without a description"),
}


def part_of(kind: Kind, some: int, all_: int) -> str:
    """How many of them it happens to: `2 of 3 names equal`."""
    noun, what = _NOUNS.get(kind, ("tool", str(kind)))
    return f"{some:,} of {count(all_, noun)} {what}"


def in_line(name: str) -> str:
    """A name as long as a line can take."""
    return shortened(name, _LONGEST)

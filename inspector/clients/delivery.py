"""What reaches a client's model of each tool that a server lists, and why: the one verdict on both.

It is computed from a listing as it was read, with what was lost on the way. Whatever is said elsewhere of a
tool in a client is said from here.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial

from inspector.clients.client import HARMLESS, KEEPS_OUT, Change, Client, Confidence, Fact, Kind, Topic
from inspector.clients.seen import SeenTool, kept_of, misfits, see_all
from inspector.core.message import ToolResult
from inspector.core.number import count
from inspector.core.server import SkippedTool
from inspector.core.text import shortened
from inspector.core.tool import Tool, is_for_apps_alone
from inspector.schema.json_value import as_object, compact

# From this revision on, parameters marked so have to be sent as headers, too (SEP-2243).
_HEADERS_SINCE, _HEADER = "2026-07-28", "x-mcp-header"
# What has to be known of a client before it can be said that a server works in it.
_NEEDED = {
    Topic.LISTING: "what it lists is not known",
    Topic.NAMES: "how it names tools is not known",
    Topic.SCHEMAS: "what it makes of schemas is not known",
    Topic.CUTS: "where it cuts texts is not known",
    Topic.RESULTS: "what it makes of results is not known",
}
# Numbers, dates and keywords: what words of a rule and of the fact behind it have in common.
_COSTS, _OUTPUT = "all tools of its server", "outputSchema"
_TELLING = re.compile(r"\d[\d,.-]*\d|[a-z]+[A-Z]\w+|\$\w+|all tools of its server")
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


@dataclass(frozen=True, slots=True)
class Listed:
    """What a server lists: the tools that could be read, in order, what could not, and what else it says.

    `protocol` is the revision that was agreed upon; `refuses_older` as in `ServerInfo`. `results` are what
    calls gave, each with its tool's id.
    """

    server: str
    tools: Sequence[Tool]
    skipped: Sequence[SkippedTool] = ()
    instructions: str = ""
    protocol: str = ""
    refuses_older: bool = False
    results: Sequence[tuple[str, ToolResult]] = ()
    noise: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
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


@dataclass(frozen=True, slots=True)
class Delivery:
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


@dataclass(frozen=True)
class ServerDelivery:
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
        sure = map(self.client.confidence, (*_NEEDED, Topic.SEARCH))
        return max(sure, key=list(Confidence).index)

    @property
    def finding(self) -> str:
        """What stands in the server's way, with the first tool that shows it; "" if nothing does."""
        if (worst := self.worst) is None:
            return ""
        tools = self.by_kind.get(worst.kind, ())
        if not tools or worst.kind in (Kind.UNREACHED, Kind.UNKNOWN):
            return worst.says
        first, says = _name(tools[0][0].tool), worst.says.removeprefix(_SCHEMA)
        return f"{_part(worst.kind, len(tools), len(self._meant))}, {first}: {says}"

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
        at = f" in {_name(tools[0][0].tool)}{f' ({place})' if place else ''}" if tools else ""
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


def _part(kind: Kind, some: int, all_: int) -> str:
    noun, what = _NOUNS.get(kind, ("tool", str(kind)))
    return f"{some:,} of {count(all_, noun)} {what}"


def _name(name: str) -> str:
    return shortened(name, _LONGEST)


def deliver(
    client: Client, servers: Sequence[Listed], only: str = "", tokens: Callable[[SeenTool], int] | None = None
) -> tuple[ServerDelivery, ...]:
    """What becomes of servers in a client, or of one of them beside the others: names meet across servers.

    `tokens` counts those of a definition.
    """
    judge = _Judge(client, tokens)
    seen: dict[str, list[SeenTool]] = {}
    reached = (listed for listed in servers if judge.unreached(listed) is None)
    for one in see_all(client, [tool for listed in reached for tool in listed.tools], only):
        seen.setdefault(one.tool.server, []).append(one)
    wanted = (listed for listed in servers if only in ("", listed.server))
    return tuple(judge.server(listed, seen.get(listed.server, ())) for listed in wanted)


# Long because every rule that costs a tool is applied here, in order.
class _Judge:
    """Judges servers by one client's rules; what is known of each topic is looked up once."""

    def __init__(self, client: Client, tokens: Callable[[SeenTool], int] | None) -> None:
        self._client = client
        self._tokens = tokens
        self._behind = {topic: client.behind(topic) for topic in Topic}

    def _reason(self, kind: Kind, says: str, place: str = "", topic: Topic | None = None) -> Reason:
        fact = self._fact(topic or kind.topic, says)
        sure = Confidence.ASSUMED if fact is None else fact.confidence
        return Reason(kind, says, place, sure, fact, topic or kind.topic)

    def _fact(self, topic: Topic, says: str) -> Fact | None:
        """The fact that names most of what the words do, such as a number or a keyword, else the weakest."""
        named, best, most = frozenset(_TELLING.findall(says)), self._behind[topic], 0
        for one in self._client.facts:
            is_behind = one.topic is topic and not one.remark and one.confidence is not Confidence.ASSUMED
            if is_behind and (common := len(named.intersection(_TELLING.findall(one.says)))) > most:
                best, most = one, common
        return best

    def _changed(self, change: Change) -> Reason:
        topic = Topic.TASKS if change.kind is Kind.UNKNOWN else None
        found = self._reason(change.kind, change.says, change.place, topic)
        if change.costs_server and not change.source:
            return replace(found, fact=self._fact(found.topic, _COSTS))
        if change.source and found.fact:
            fact = replace(found.fact, says="", source=change.source, date=change.date)
            return replace(found, fact=fact)
        return found

    def server(self, listed: Listed, seen: Sequence[SeenTool]) -> ServerDelivery:
        """What becomes of one server."""
        name, unread = listed.server, [one for one in listed.skipped if one.kind == "tool"]
        if reason := self.unreached(listed) or self._costs(listed):
            names = (*(one.label for one in unread), *(one.name for one in listed.tools))
            lost = tuple(Delivery(name, one, Fate.LOST, (reason,)) for one in names)
            return ServerDelivery(self._client, listed, lost)
        known = (self._tool(one, listed) for one in seen)
        tools = (*map(partial(self._unread, name), unread), *known)
        return ServerDelivery(self._client, listed, tools, tuple(self._of_server(listed, seen)))

    def _costs(self, listed: Listed) -> Reason | None:
        """Why all tools of a server are lost: one of them is not valid, or a page, or what it prints."""
        unread, costs = self._client.schemas.unread, self._client.listing.costs
        for one in listed.skipped:
            is_tool = one.kind == "tool"
            is_costly = is_tool and (
                unread == "any" or (unread == "server" and not one.place.startswith(_OUTPUT))
            )
            kind = "cursor" if one.kind == "page" and one.place else one.kind
            if is_costly or kind in costs:
                says = f"{_COSTS} are lost with {_name(one.label)}: {one.reason}"
                return self._reason(Kind.LOST, says, one.place, Topic.SCHEMAS if is_tool else Topic.LISTING)
        if listed.noise and "noise" in costs:
            says = f"{_COSTS} are lost with what it prints to stdout: {shortened(listed.noise, _LONGEST)}"
            return self._reason(Kind.LOST, says, topic=Topic.LISTING)
        return None

    def unreached(self, listed: Listed) -> Reason | None:
        """Why the client gets no answer at all, if the server speaks newer revisions alone."""
        if not listed.refuses_older or not "" < self._client.protocol < _HEADERS_SINCE:
            return None
        says = f"it speaks {self._client.protocol} at most, and the server nothing before {_HEADERS_SINCE}"
        return self._reason(Kind.UNREACHED, says)

    def _unread(self, server: str, one: SkippedTool) -> Delivery:
        rule, is_schema = self._client.schemas.unread, "Schema" in one.place
        is_sent = rule == "sent" or (rule == "server" and one.place.startswith(_OUTPUT))
        if is_sent and is_schema and isinstance((one.definition or {}).get("inputSchema"), Mapping):
            return Delivery(server, one.label, Fate.WHOLE)
        # Whether the client is as strict as we are is not known.
        reason = Reason(Kind.LOST, one.reason, one.place, Confidence.ASSUMED)
        return Delivery(server, one.label, Fate.LOST, (reason,))

    def _tool(self, seen: SeenTool, listed: Listed) -> Delivery:
        server, name = seen.tool.server, seen.tool.name
        for end in listed.skipped if self._client.listing.empty_ends else ():
            if end.kind == "end" and seen.tool.page > end.number:
                reason = self._reason(Kind.PAGE, f"{end.label} is taken for the last: {end.reason}")
                return Delivery(server, name, Fate.REFUSED, (reason,), seen)
        if seen.refused is not None:
            return Delivery(server, name, Fate.REFUSED, (self._changed(seen.refused),), seen)
        mine = (result for tool, result in listed.results if tool == seen.tool.id)
        lost = (Change(Kind.MISFIT, one, "outputSchema") for one in misfits(self._client, seen.tool, mine))
        reasons = tuple(map(self._changed, (*seen.changes, *lost)))
        fate = Fate.CHANGED if reasons else Fate.WHOLE
        return Delivery(server, name, fate, reasons, seen, self._tokens(seen) if self._tokens else 0)

    def _page(self, page: SkippedTool) -> Reason | None:
        """What becomes of a page that cannot be read, in a client that does not lose all for it."""
        listing, says = self._client.listing, f"{page.label} cannot be read: {page.reason}"
        if page.kind == "endless" and not (listing.first_page or listing.ends):
            return self._reason(Kind.UNKNOWN, f"what it does is not known: {says}", topic=Topic.LISTING)
        if page.kind != "page":
            return None
        kind = Kind.UNKNOWN if listing.first_page else Kind.PAGE
        return self._reason(kind, says, topic=Topic.LISTING)

    def _of_server(self, listed: Listed, seen: Sequence[SeenTool]) -> Iterator[Reason]:
        """What becomes of the server as a whole."""
        client = self._client
        shown = [one for one in seen if not is_for_apps_alone(one.tool)]
        yield from filter(None, map(self._page, listed.skipped))
        if not seen and not listed.skipped:
            yield self._reason(Kind.UNKNOWN, "it has no tools")
        yield from self._protocol(listed, shown)
        if 0 < client.listing.most < len(shown):
            yield self._reason(
                Kind.MOST, f"of {count(len(shown), 'tool')} at most {client.listing.most:,} can be on"
            )
        yield from self._instructions(listed.instructions)
        if (private := len(seen) - len(shown)) and not client.listing.hides_app_tools:
            yield self._reason(Kind.SHOWN, f"the model gets {count(private, 'tool')} for its own view alone")
        deferred = client.listing.before != "definitions"
        silent = [one for one in shown if not one.tool.description.strip()]
        if deferred and silent:
            told = f"{_part(Kind.SILENT, len(silent), len(shown))} to be found by"
            yield self._reason(Kind.SILENT, told, "description")
        for topic, told in _NEEDED.items():
            if self._behind[topic] is None:
                yield self._reason(Kind.UNKNOWN, told, topic=topic)
        if deferred and client.search.none:
            yield self._reason(Kind.UNKNOWN, "how it finds tools cannot be followed", topic=Topic.SEARCH)

    def _protocol(self, listed: Listed, shown: Sequence[SeenTool]) -> Iterator[Reason]:
        protocol = self._client.protocol
        if listed.refuses_older and not protocol:
            told = f"the server speaks nothing before {_HEADERS_SINCE}; what the client speaks is not known"
            yield self._reason(Kind.UNSURE, told)
        is_silent = self._client.http.headers or "" < protocol < _HEADERS_SINCE
        if any(map(_wants_headers, shown)) and not is_silent:
            told = "whether it sends marked parameters as headers is not known"
            yield self._reason(Kind.UNKNOWN, told, topic=Topic.PROTOCOL)

    def _instructions(self, text: str) -> Iterator[Reason]:
        if text and not self._client.listing.instructions:
            yield self._reason(Kind.INSTRUCTIONS_HIDDEN, "its instructions are not shown", "instructions")
        elif (kept := kept_of(self._client.texts, text)).lost:
            told = f"instructions cut after {kept.kept:,} of {len(text):,} characters"
            yield self._reason(Kind.INSTRUCTIONS_CUT, told, "instructions")


def _wants_headers(seen: SeenTool) -> bool:
    properties = as_object(seen.tool.input_schema.get("properties"))
    return any(_HEADER in as_object(one) for one in properties.values())

"""Finds out what reaches a client's model, by that client's rules, of a listing as it was read.

What was lost while it was read counts too: clients are as strict as we are, or less, or more.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial

from msgspec.structs import replace

from inspector.clients.client import Change, Client, Confidence, Fact, Kind, Topic
from inspector.clients.delivery import (
    NEEDED,
    Delivery,
    Fate,
    Listed,
    Reason,
    ServerDelivery,
    in_line,
    part_of,
)
from inspector.clients.seen import SeenTool, kept_of, misfits, see_all
from inspector.core.number import count, duration
from inspector.core.server import SkippedTool
from inspector.core.tool import is_for_apps_alone
from inspector.schema.json_value import as_object

# From this revision on, parameters marked so have to be sent as headers, too (SEP-2243).
_HEADERS_SINCE, _HEADER = "2026-07-28", "x-mcp-header"
_COSTS, _OUTPUT = "all tools of its server", "outputSchema"
# Numbers, dates and keywords: what words of a rule and of the fact behind it have in common.
_TELLING = re.compile(r"\d[\d,.-]*\d|[a-z]+[A-Z]\w+|\$\w+|all tools of its server")


def deliver(
    client: Client, servers: Sequence[Listed], only: str = "", tokens: Callable[[SeenTool], int] | None = None
) -> tuple[ServerDelivery, ...]:
    """What becomes of servers in a client, or of one of them beside the others: names meet across servers.

    `tokens` counts those of a definition.
    """
    client = client.over(sum(len(one.tools) for one in servers))
    judge = _Judge(client, tokens)
    seen: dict[str, list[SeenTool]] = {}
    reached = (listed for listed in servers if judge.unreached(listed) is None)
    for one in see_all(client, [tool for listed in reached for tool in listed.tools], only):
        seen.setdefault(one.tool.server, []).append(one)
    wanted = (listed for listed in servers if only in ("", listed.server))
    return tuple(judge.server(listed, seen.get(listed.server, ())) for listed in wanted)


class _Judge:
    """Judges servers by one client's rules; what is known of each topic is looked up once."""

    def __init__(self, client: Client, tokens: Callable[[SeenTool], int] | None) -> None:
        self._client = client
        self._tokens = tokens
        self._behind = {topic: client.behind(topic) for topic in Topic}
        # Many tools of a catalog have the same reason.
        self._fact = cache(self._found)

    def _reason(self, kind: Kind, says: str, place: str = "", topic: Topic | None = None) -> Reason:
        fact = self._fact(topic or kind.topic, says)
        sure = Confidence.ASSUMED if fact is None else fact.confidence
        return Reason(kind, says, place, sure, fact, topic or kind.topic)

    def _found(self, topic: Topic, says: str) -> Fact | None:
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
                says = f"{_COSTS} are lost with {in_line(one.label)}: {one.reason}"
                return self._reason(Kind.LOST, says, one.place, Topic.SCHEMAS if is_tool else Topic.LISTING)
        if listed.noise and "noise" in costs:
            says = f"{_COSTS} are lost with what it prints to stdout: {in_line(listed.noise)}"
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
        yield from self._kept(listed)
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
            told = f"{part_of(Kind.SILENT, len(silent), len(shown))} to be found by"
            yield self._reason(Kind.SILENT, told, "description")
        for topic, told in NEEDED.items():
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

    def _kept(self, listed: Listed) -> Iterator[Reason]:
        client = self._client
        is_told = client.follows_changes and listed.tells_changes
        if listed.list_kept and client.keeps_lists and not is_told:
            may = f"its list may be kept for {duration(listed.list_kept)}"
            yield self._reason(Kind.KEPT, f"{may}; the client keeps it until it connects anew")

    def _instructions(self, text: str) -> Iterator[Reason]:
        if text and not self._client.listing.instructions:
            yield self._reason(Kind.INSTRUCTIONS_HIDDEN, "its instructions are not shown", "instructions")
        elif (kept := kept_of(self._client.texts, text)).lost:
            told = f"instructions cut after {kept.kept:,} of {len(text):,} characters"
            yield self._reason(Kind.INSTRUCTIONS_CUT, told, "instructions")


def _wants_headers(seen: SeenTool) -> bool:
    properties = as_object(seen.tool.input_schema.get("properties"))
    return any(_HEADER in as_object(one) for one in properties.values())

"""The facts about a client that a conversation shows, each with its request, as the file of a client.

Nothing is concluded from what did not happen: a client that was not asked for something has no fact about it.
"""

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from inspector.clients.client import Client, Topic
from inspector.clients.rule import written_table
from inspector.core.error import ProtocolError
from inspector.core.number import count
from inspector.core.tool import ALWAYS_LOAD, Tool
from inspector.features.clients.measured.conversation import (
    SERVER,
    START,
    Asked,
    Conversation,
    Exchange,
    Kind,
    cut,
    is_name_of,
    keywords,
    left_of,
    plain,
)
from inspector.features.clients.measured.wire import Outcome, SentTool
from inspector.schema.json_value import JsonObject, compact

if TYPE_CHECKING:
    from inspector.search.index.tool_index import ToolIndex
    from inspector.search.ranker.ranker import Ranking

_HASHED = re.compile(r".*_[0-9a-f]{8,40}")
# Of its searches so many have to be alike, or a ranker is not the client's.
_ALIKE = 0.75
_META = "io.modelcontextprotocol/"

Said = tuple[Topic, str, str]
"""A fact: what it is about, what it says, and the request that shows it."""


class Reading:
    """Reads a conversation that has ended. `rules` has the tables of a client's file, as far as known."""

    def __init__(self, conversation: Conversation) -> None:
        """Raises ProtocolError if the model was never given a tool."""
        self.talk = conversation
        self.marks = conversation.log.marks
        self.rules: dict[str, Any] = {
            name: {} for name in ("names", "texts", "schemas", "listing", "search", "declares")
        }
        first = next((one for one in conversation.exchanges if one.heard.tools), None)
        if first is None:
            raise ProtocolError("the client gave its model no tool", hint="Try a model that can call tools.")
        self.first: Exchange = first
        self.version = ""
        # What stands in no table.
        self.top: dict[str, Any] = {}
        self.facts: list[Said] = []
        for part in (_protocol, _names, _listing, _cuts, _schemas, _searches, _results):
            self.facts += part(self)

    def toml(self, title: str, day: date) -> str:
        """The file of the client. A ranker is left to who knows one that finds the same."""
        every = {
            "version": self.version,
            "platform": f"{platform.system()} {platform.machine()}",
            "model": self.first.heard.model,
            "confidence": "measured",
            "date": day.isoformat(),
            "dated": "measured",
        }
        name = f"{title} {self.version}".strip()
        about = f"measured on this machine, {count(len(self.talk.exchanges), 'request')} to its model"
        lines = list(written_table("", {"title": name, "about": about, **self.top}))
        for table, values in self.rules.items():
            lines += written_table(f"[{table}]", values)
        lines += written_table("[every_fact]", every)
        for topic, says, request in self.facts:
            sure = {"request": request} if request else {"confidence": "assumed"}
            lines += written_table("[[facts]]", {"topic": str(topic), "says": says, **sure})
        text = "\n".join(lines).lstrip() + "\n"
        # Half a pair of UTF-16 cannot be written.
        return text.encode("utf-8", "replace").decode()

    @cached_property
    def sent(self) -> Mapping[str, tuple[Exchange, SentTool]]:
        """How each tool of the server was sent, as fully as it ever was, unless it never was."""
        found: dict[str, tuple[Exchange, SentTool]] = {}
        for name in self.marks.tools:
            # One that was cut begins as it should, and its beginning is no other's.
            begun = f"{plain(name[:14])}" if len(name) > 40 else ""
            shortened = (
                (exchange, tool)
                for exchange, tool in self.talk.sent_tools()
                if begun and plain(tool.full_name).find(begun) >= 0
            )
            if named := list(self.talk.names_of(name)) or list(shortened):
                found[name] = max(named, key=lambda one: (bool(one[1].description), -len(one[1].name)))
        return found

    def compare(self, client: Client, tools: Sequence[Tool]) -> None:
        """Take over a known client's ranker, if it finds much the same; `tools` are the marked server's.

        Tools with the same score may change places. Where not every search is the same, the ranker stays an
        assumption, and where many are not, it is left out.
        """
        from inspector.core.settings import DiscoverySettings
        from inspector.search.index.tool_index import ToolIndex
        from inspector.search.ranker.catalog_rankers import CatalogRankers

        searches = {
            asked.what: [self.id(tool) for tool in outcome.found if tool.name]
            for _, asked, outcome in self.of("search")
        }
        if not client.search.ranker or not searches:
            return
        sent = [tool for tool in tools if tool.name in self.sent]
        index = ToolIndex(sent, instructions={SERVER: self.marks.instructions})
        ranker = CatalogRankers(index, DiscoverySettings()).get(client.search.ranker)
        most = self.rules["search"]["results"]
        other = [
            query for query, found in searches.items() if not _agree(index, ranker.rank(query), found, most)
        ]
        same = len(searches) - len(other)
        says = f"Toolsight's ranker {ranker.name} finds the same in {same} of {len(searches)} searches"
        says += f"; not for {', '.join(f'“{query}”' for query in other)}." if other else "."
        if same < _ALIKE * len(searches):
            self.rules["search"]["none"] = says
            return
        self.rules["search"] |= {"ranker": ranker.name, "none": ""}
        self.facts.append((Topic.SEARCH, says, "" if other else "all searches"))

    def id(self, tool: SentTool) -> str:
        """The name that the server gives a tool; that of another is as it was sent."""
        named = (name for name, (_, sent) in self.sent.items() if sent.full_name == tool.full_name)
        return next(named, tool.full_name)

    def of(self, kind: Kind) -> Iterator[tuple[Exchange, Asked, Outcome]]:
        return (one for one in self.talk.outcomes() if one[1].kind == kind)


def _protocol(reading: Reading) -> Iterator[Said]:
    messages = reading.talk.log.messages
    for message in messages:
        params = message.get("params") or {}
        meta = {key.removeprefix(_META): value for key, value in (params.get("_meta") or {}).items()}
        about = params if message["method"] == "initialize" else meta
        if "clientInfo" in about and "protocolVersion" in about:
            yield _declares(reading, message["method"], about, about["clientInfo"])
            break
    if calls := reading.talk.log.calls("change_tools"):
        again = any(one["method"] == "tools/list" for one in messages[calls[0] :])
        reading.top["follows_changes"] = again
        says = f"After list_changed it {'lists' if again else 'does not list'} the server's tools again."
        yield Topic.PROTOCOL, says, "to the server: what follows the call of change_tools"
    for exchange, asked, outcome in reading.of("later"):
        sent = any(is_name_of(tool.name, asked.what) for tool in outcome.found)
        bound = any(is_name_of(tool.name, asked.what) for tool in exchange.heard.tools)
        says = f"A tool that is added within a conversation {_does(sent or bound, 'reach')} the model."
        yield Topic.PROTOCOL, says, _shown(exchange, outcome.at)


def _declares(reading: Reading, method: str, about: JsonObject, info: JsonObject) -> Said:
    capabilities = about.get("capabilities") or about.get("clientCapabilities") or {}
    elicitation = capabilities.get("elicitation")
    links = isinstance(elicitation, dict) and "url" in elicitation
    reading.version = str(info.get("version", ""))
    reading.top["protocol"] = str(about["protocolVersion"])
    reading.rules["declares"] = {
        "name": str(info.get("name", "")),
        "version": reading.version,
        "roots": "roots" in capabilities,
        "forms": elicitation is not None and (not links or "form" in elicitation),
        "links": links,
        "sampling": "sampling" in capabilities,
    }
    named = ", ".join(sorted(capabilities)) or "nothing"
    says = f"It calls itself {info.get('name')}, speaks {about['protocolVersion']} and declares {named}."
    return Topic.PROTOCOL, says, f"to the server: {method}"


def _names(reading: Reading) -> Iterator[Said]:
    sent = reading.sent
    if "ping" not in sent:
        return
    exchange, ping = sent["ping"]
    before = ping.full_name.removesuffix("ping")
    server = next((one for one in (SERVER, plain(SERVER)) if one in before), "")
    form = (before.replace(server, "{server}") if server else before) + "{tool}"
    dotted = sent["dotted.name"][1].full_name if "dotted.name" in sent else ""
    kept = "A-Za-z0-9_" + "-" * (server != plain(SERVER)) + "." * dotted.endswith("dotted.name")
    replaced = "" if kept.endswith("-.") else f"[^{kept}]"
    reading.rules["names"] |= {"form": form, "replaced": replaced}
    says = f"ping of {SERVER} is {ping.full_name}"
    says += f", and dotted.name is {dotted}." if dotted else "; dotted.name does not reach the model."
    yield Topic.NAMES, says, _shown(exchange, ping.at)
    yield from _lengths(reading, form, server or SERVER)


def _lengths(reading: Reading, form: str, server: str) -> Iterator[Said]:
    """What becomes of long names."""
    whole: list[int] = []
    for name in reading.marks.tools:
        if not name.startswith("name_of_"):
            continue
        expected = form.format(server=server, tool=name)
        known = reading.sent.get(name)
        if known is not None and known[1].full_name == expected:
            whole.append(len(expected))
            continue
        limit, over, says = max(whole, default=0), "refused", "does not reach the model"
        if known is not None:
            got = known[1].full_name
            limit = len(got)
            over = "hash" if _HASHED.fullmatch(got) else "cut" if expected.startswith(got) else "middle"
            says = f"is {len(got)} characters long: {over}"
        reading.rules["names"] |= {"limit": limit, "over": over}
        longest = f"One of {max(whole):,} characters is sent as it is; " if whole else ""
        at = _shown(*known) if known is not None else "all requests"
        yield Topic.NAMES, f"{longest}one of {len(expected):,} {says}.", at
        return
    if whole:
        says = f"Names of up to {max(whole):,} characters are sent as they are."
        yield Topic.NAMES, says, "all requests"


def _listing(reading: Reading) -> Iterator[Said]:
    first, names = reading.first, list(reading.marks.tools)
    bound = [
        name
        for name in names
        for tool in first.heard.tools
        if tool.way == "tool" and not tool.deferred and is_name_of(tool.name, name)
    ]
    texts = "\n".join(text.text for text in first.heard.texts)
    told = sum(plain(name) in plain(texts) for name in names)
    is_deferred = len(bound) < len(names) // 2
    server = plain(SERVER) in plain(texts)
    before = "names" if told > len(names) // 2 else "servers" if server else "nothing"
    before = before if is_deferred else "definitions"
    told_of = reading.marks.instructions[:START] in texts
    reading.rules["listing"] |= {"before": before, "instructions": told_of}
    where = f"request {first.number}: tools and texts"
    says = f"Before a search, {len(bound)} of {len(names)} definitions are sent"
    says += f"; of the others, {before} are known." if is_deferred and before != "nothing" else "."
    yield Topic.LISTING, says, where
    if is_deferred:
        ways = {tool.name for tool in first.heard.tools if tool.way == "code"}
        ways |= {asked.call.name for _, asked, _ in reading.of("search")}
        by = ", ".join(sorted(ways)) or "nothing"
        yield Topic.DEFERRAL, f"Tools are deferred; the model reaches them by {by}.", where
        acts = "always_loaded" in bound
        reading.rules["listing"] |= {"always": ALWAYS_LOAD} if acts else {}
        deferred = "is not deferred" if acts else "is deferred too"
        yield Topic.DEFERRAL, f'A tool with _meta "{ALWAYS_LOAD}" {deferred}.', where
    reaches = _does("of_the_app" in reading.sent, "reach")
    reading.rules["listing"]["hides_app_tools"] = "of_the_app" not in reading.sent
    says = f'A tool with _meta "ui": {{"visibility": ["app"]}} {reaches} the model.'
    yield Topic.LISTING, says, "all requests"


def _cuts(reading: Reading) -> Iterator[Said]:
    for name, rule, about in (("field_end", "description", ""), ("always_loaded", "bound", " that is bound")):
        exchange, tool = reading.sent.get(name, (reading.first, None))
        if tool is not None and tool.description:
            kept, mark, says = cut(reading.marks.tools[name]["description"], tool.description)
            is_other = kept != reading.rules["texts"].get("description")
            reading.rules["texts"] |= {rule: kept, "mark": mark} if is_other else {}
            at = _shown(exchange, f"{tool.at}.description")
            yield Topic.CUTS, f"Of a tool's description{about}, {says}", at
    for number, (role, text, where) in enumerate(_instructions(reading)):
        kept, _, says = cut(reading.marks.instructions, text)
        is_line = kept in (line := len(reading.marks.instructions.partition("\n")[0]), line + 1)
        if number == 0:
            reading.rules["texts"] |= {"first_line": True} if is_line else {"instructions": kept}
        says = f"the first line of {line} characters is sent." if is_line else says
        yield Topic.CUTS, f"Of a server's instructions, in {role}, {says}", where


def _instructions(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """Each kind of place where the server's instructions are, the text there, and the request."""
    start = reading.marks.instructions[:START]
    seen: set[str] = set()
    for exchange in reading.talk.exchanges:
        places = [(f"a text of {text.role}", text.text, text.at) for text in exchange.heard.texts]
        sent = (tool for other, tool in reading.talk.sent_tools() if other is exchange)
        places += [
            (f"a {'tool' if tool.name else 'namespace'}'s description", tool.description, tool.at)
            for tool in sent
        ]
        for role, text, at in places:
            if start in text and role not in seen:
                seen.add(role)
                yield role, text, _shown(exchange, at)


def _schemas(reading: Reading) -> Iterator[Said]:
    for name, (exchange, tool) in reading.sent.items():
        declared, sent = reading.marks.tools[name]["inputSchema"], tool.parameters
        where = _shown(exchange, tool.at)
        if sent is None:
            continue
        if name == "keywords":
            kept, lost = set(keywords(sent)), sorted(set(keywords(declared)) - set(keywords(sent)))
            if lost:
                _adds(reading, {"does": "keep", "keys": sorted(kept)})
            says = f"Of a schema's keywords these are lost: {', '.join(lost) or 'none'}."
            yield Topic.SCHEMAS, says, where
        elif name.startswith("large_schema"):
            size, got = len(compact(declared)), len(compact(sent))
            without = "description" not in keywords(sent)
            if without:
                _adds(reading, {"does": "undescribe", "value": size})
            says = f"Of a schema of {size:,} bytes {got:,} are sent"
            yield Topic.SCHEMAS, f"{says}{', without descriptions' if without else ''}.", where
        elif name == "union_at_top":
            lost = [key for key in ("oneOf", "anyOf", "allOf") if key in declared and key not in sent]
            if lost:
                _adds(reading, {"does": "lose_top", "keys": lost})
            says = f"oneOf at the top of a schema is {'removed' if lost else 'sent'}."
            yield Topic.SCHEMAS, says, where


def _adds(reading: Reading, change: Mapping[str, Any]) -> None:
    """Adds what is done to schemas, once: of large ones, from the smallest on."""
    changes = reading.rules["schemas"].setdefault("changes", [])
    if all(one["does"] != change["does"] for one in changes):
        changes.append(change)


def _searches(reading: Reading) -> Iterator[Said]:
    most = 0
    for exchange, asked, outcome in reading.of("search"):
        found = [reading.id(tool) for tool in outcome.found if tool.name]
        most = max(most, len(found))
        about = reading.marks.queries.get(asked.what, "")
        listed = ", ".join(found) or "nothing"
        yield Topic.SEARCH, f"“{asked.what}” ({about}) finds {listed}.", _shown(exchange, outcome.at)
    none = "no ranker of Toolsight's was compared with it" if most else "no search was seen"
    reading.rules["search"] |= {"results": most or 1, "none": none}


def _results(reading: Reading) -> Iterator[Said]:
    for exchange, asked, outcome in reading.of("call"):
        runs = bool(reading.talk.log.calls(asked.what))
        if says := _result(asked, outcome, runs=runs):
            yield Topic.RESULTS, says, _shown(exchange, outcome.at)


def _agree(index: "ToolIndex", ranking: "Ranking", found: Sequence[str], most: int) -> bool:
    """Whether a search found what the ranker finds: the same scores in the same order."""
    best = sorted(ranking.values[ranking.kept].tolist(), reverse=True)[:most]
    places = [index.position.get(f"{SERVER}:{name}") for name in found]
    scores = [float(ranking.values[place]) for place in places if place is not None]
    return len(scores) == len(found) and [f"{one:.6g}" for one in scores] == [f"{one:.6g}" for one in best]


def _result(asked: Asked, outcome: Outcome, *, runs: bool) -> str:
    """What becomes of a result, in words; "" if there is nothing to tell."""
    tool, text = asked.what, outcome.text
    if tool.endswith("text_of"):
        size = asked.arguments["characters"]
        wide = ' with _meta "anthropic/maxResultSizeChars"' if tool.startswith("wide") else ""
        return f"Of a text of {size:,} characters{wide}, {left_of(text, size)}."
    if tool == "picture":
        return f"A picture becomes: {', '.join(outcome.kinds)}."
    if tool == "structured":
        parts = [name for name, bird in (("text", "grebe"), ("data", "dabchick")) if bird in text]
        got = ", ".join(parts) or "neither"
        return f"Of a result with text and structured content, the model gets: {got}."
    if tool == "failing":
        return f"A result that is an error {'is marked as one' if outcome.failed else 'is not marked'}."
    if tool == "asks_first":
        does = "runs" if runs else "does not run"
        return f'A tool with _meta "anthropic/requiresUserInteraction" {does} without a person.'
    return ""


def _does(yes: bool, verb: str) -> str:
    return f"{verb}es" if yes else f"does not {verb}"


def _shown(exchange: Exchange, at: Any) -> str:
    return f"request {exchange.number}: {at.at if isinstance(at, SentTool) else at}"

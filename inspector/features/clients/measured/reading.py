"""A conversation that has ended, as the file of a client: facts, each with its request, and rules.

Nothing is concluded from what did not happen: a client that was not asked for something has no fact about it.
"""

import platform
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from inspector.clients.client import Client, Topic, read_client
from inspector.clients.golden import Definition, GoldenRun, declared_tool, same_definitions
from inspector.clients.rule import written_table
from inspector.core.error import ConfigError, ProtocolError
from inspector.core.number import count
from inspector.core.tool import Tool
from inspector.features.clients.measured.conversation import Asked, Conversation, Exchange, Kind
from inspector.features.clients.measured.marks import SERVER, Key
from inspector.features.clients.measured.wire import Outcome, SentTool
from inspector.schema.json_value import JsonObject

if TYPE_CHECKING:
    from inspector.search.index.tool_index import ToolIndex
    from inspector.search.ranker.ranker import Ranking

# Of its searches so many have to be alike, or a ranker is not the client's.
_ALIKE = 0.75
_PAGE_TWO = "on_page_two"
# Where a client keeps a result on one machine is no part of a run that is shared.
_PATH = re.compile(r"(?<![\w<])/(?:[\w.-]+/)*[\w.-]*")

Said = tuple[Topic, str, str]
"""A fact: what it is about, what it says, and the request that shows it."""


class Reading:
    """Reads a conversation that has ended. `rules` has the tables of a client's file, as far as known.

    `version` is the client's own, as far as it said one; it may call itself by that of a library. `missing`
    are the servers that it was not given.
    """

    def __init__(self, conversation: Conversation, version: str = "", missing: Collection[str] = ()) -> None:
        """Raises ProtocolError if the model was never given a tool, or the client lists none before."""
        self.talk = conversation
        self.marks = conversation.log.marks
        self.messages = conversation.log.messages
        tables = ("names", "texts", "schemas", "listing", "search", "declares", "results")
        self.rules: dict[str, Any] = {name: {} for name in tables}
        asked = [one for one in conversation.exchanges if one.heard.tools]
        if not asked:
            raise ProtocolError("the client gave its model no tool", hint="Try a model that can call tools.")
        first = next((one for one in asked if one.is_ready), None)
        if first is None:
            hint = "Check that it reads the servers it was given, and waits for them."
            raise ProtocolError("the client never asked its server for tools", hint=hint)
        self.first: Exchange = first
        self.version, self.missing = version, missing
        # What stands in no table.
        self.top: dict[str, Any] = {}
        self.facts: list[Said] = []

    @cached_property
    def sent(self) -> Mapping[Key, tuple[Exchange, SentTool]]:
        """How each tool of the servers was sent, as fully as it ever was, unless it never was."""
        found: dict[Key, tuple[Exchange, SentTool]] = {}
        for key in self.marks.tools:
            if named := list(self.talk.names_of(key)):
                found[key] = max(
                    named, key=lambda one: (one[1].parameters is not None, bool(one[1].description))
                )
        return found

    @cached_property
    def declared(self) -> tuple[Tool, ...]:
        """The tools of all servers but the one that came later, as a catalog."""
        every = self.marks.tools.items()
        return tuple(
            declared_tool(key[0], tool, page_of(key)) for key, tool in every if key != self.marks.later
        )

    @cached_property
    def definitions(self) -> Mapping[Key, Definition]:
        """Name, description and schema of the tools whose definitions were sent."""
        return {
            key: (tool.full_name, tool.description, tool.parameters or {})
            for key, (_, tool) in self.sent.items()
            if key != self.marks.later and (tool.description or tool.parameters is not None)
        }

    def _same(self, client: Client) -> list[Key]:
        given = (tool for tool in self.declared if tool.server not in self.missing)
        return same_definitions(client, given, self.definitions)

    def compare(self, client: Client, day: date) -> None:
        """Take over what is known of a client where it gives the same as this one sent or found."""
        try:
            mine = len(self._same(read_client("measured", self.toml("", day))))
        except ConfigError:
            mine = 0
        same, of = len(self._same(client)), len(self.definitions)
        known = (
            f"Toolsight's rules for {client.title} give {same:,} of {of:,} definitions as this one sent them"
        )
        if same >= mine and same:
            for name in ("names", "texts", "schemas"):
                self.rules[name] = getattr(client, name)
            self.rules["fidelity"] = {
                "same": same,
                "of": of,
                "version": self.version,
                "date": day.isoformat(),
            }
        if of:
            self.facts.append((Topic.SCHEMAS, f"{known}.", "all requests"))
        self._compare_search(client)

    def _compare_search(self, client: Client) -> None:
        """Take over a known client's ranker, if it finds much the same.

        Tools with the same score may change places. Where not every search is the same, the ranker stays an
        assumption, and where many are not, it is left out.
        """
        from inspector.core.settings import DiscoverySettings
        from inspector.search.index.tool_index import ToolIndex
        from inspector.search.ranker.catalog_rankers import CatalogRankers

        searches = {query: found for query, found in self.searches.items() if found is not None}
        if not client.search.ranker or not searches:
            return
        sent = [tool for tool in self.declared if (tool.server, tool.name) in self.sent]
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

    @cached_property
    def searches(self) -> Mapping[str, list[Key] | None]:
        """What each query found; None if that is not understood."""
        return {
            str(asked.what): self.found(exchange, outcome)
            for exchange, asked, outcome in self.of("search")
            if asked.what in self.marks.queries
        }

    def golden(self, name: str, day: date) -> GoldenRun:
        """The run in small, for the rules of a client of that name to be held against."""
        said = (says for topic, says, _ in self.facts if topic is Topic.RESULTS)
        results = [_PATH.sub("/…", says) for says in said]
        about = (name, self.version, self.first.heard.model, day.isoformat())
        return GoldenRun(*about, self.declared, self.definitions, self.searches, results)

    def servers(self) -> Mapping[str, list[JsonObject]]:
        """What the servers declare, with the page of each tool."""
        found: dict[str, list[JsonObject]] = {}
        for key, tool in self.marks.tools.items():
            if key != self.marks.later:
                found.setdefault(key[0], []).append({**tool, "page": page_of(key)})
        return found

    @cached_property
    def _nothing(self) -> str:
        """What a search says that finds nothing; the query is left out of it."""
        texts = (
            outcome.text.replace(str(asked.what), "")
            for _, asked, outcome in self.of("search")
            if self.marks.queries.get(str(asked.what)) == "no tool"
        )
        return next(texts, "")

    def found(self, exchange: Exchange, outcome: Outcome) -> list[Key] | None:
        """The tools that a search brought, in the order of its outcome; None if that is not understood.

        Where the outcome names none, they are those that are bound from then on.
        """
        if outcome.found:
            keys = (self.marks.key_of(self._named(tool)) for tool in outcome.found if tool.name)
            return list(filter(None, keys))
        # An error may name what could have been meant.
        if not outcome.text.startswith("Error") and (found := self.marks.keys_in(outcome.text)):
            return found
        before = {tool.full_name for tool in self.talk.exchanges[exchange.number - 2].heard.tools}
        new = (tool for tool in exchange.heard.tools if tool.full_name not in before)
        if found := list(filter(None, map(self.marks.key_of, new))):
            return found
        asked = next(one for _, one, other in self.talk.outcomes() if other is outcome)
        is_nothing = outcome.text.replace(str(asked.what), "") == self._nothing
        return [] if is_nothing or not outcome.text or outcome.text.startswith("Error") else None

    def _named(self, tool: SentTool) -> SentTool:
        """A tool that is only named, as it was sent where it was sent whole."""
        named = (sent for _, sent in self.sent.values() if sent.full_name == tool.full_name)
        return next(named, tool)

    def of(self, kind: Kind) -> Iterator[tuple[Exchange, Asked, Outcome]]:
        """What came of everything of this kind that it was asked to do."""
        return (one for one in self.talk.outcomes() if one[1].kind == kind)

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
            lines += written_table(f"[{table}]", values if isinstance(values, dict) else to_builtins(values))
        lines += written_table("[every_fact]", every)
        for topic, says, request in self.facts:
            sure = {"request": request} if request else {"confidence": "assumed"}
            lines += written_table("[[facts]]", {"topic": str(topic), "says": says, **sure})
        text = "\n".join(lines).lstrip() + "\n"
        # Half a pair of UTF-16 cannot be written.
        return text.encode("utf-8", "replace").decode()


def page_of(key: Key) -> int:
    """The page of its server's list on which a tool stands."""
    return 2 if key[1] == _PAGE_TWO else 1


def shown(exchange: Exchange, at: str) -> str:
    """The request that shows a fact, and where in it."""
    return f"request {exchange.number}: {at}"


def does(yes: bool, verb: str) -> str:
    """That something does this, or does not."""
    return f"{verb}es" if yes else f"does not {verb}"


def _agree(index: "ToolIndex", ranking: "Ranking", found: Sequence[Key], most: int) -> bool:
    """Whether a search found what the ranker finds: the same scores in the same order."""
    best = sorted(ranking.values[ranking.kept].tolist(), reverse=True)[:most]
    places = [index.position.get(f"{server}:{name}") for server, name in found]
    scores = [float(ranking.values[place]) for place in places if place is not None]
    return len(scores) == len(found) and [f"{one:.6g}" for one in scores] == [f"{one:.6g}" for one in best]

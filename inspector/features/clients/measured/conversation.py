"""What the stand-in has a client do: search, call the marked server's tools, and see a list change."""

import json
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Literal

from inspector.features.clients.measured.marks import SERVER, ServerLog, is_name_of, plain
from inspector.features.clients.measured.wire import Call, Heard, Outcome, SentTool
from inspector.schema.json_value import JsonObject

_SEARCHES = re.compile(r"(?i)(.*[_.])?(tool_?search|search_?tools?)")
_WORDS = re.compile(r"[\w.:/-]+")
# What code prints is cut, so it prints all names, or all of one tool.
_LIST = "text(JSON.stringify(ALL_TOOLS.map(({name}) => ({name}))))"
_LOAD = "text(JSON.stringify(ALL_TOOLS.filter(({name}) => name.includes(%s))))"
_DONE = "Measured."
_NONE: JsonObject = {}

Kind = Literal["search", "load", "list", "call", "later"]


@dataclass(frozen=True, slots=True)
class Asked:
    """Something that a client is to do: `what` is the query, or the tool of the server."""

    kind: Kind
    what: str
    call: Call
    arguments: JsonObject


@dataclass(slots=True)
class Exchange:
    """A request of the client, by its number from 1, and what it was asked to do then."""

    number: int
    heard: Heard
    asked: tuple[Asked, ...] = ()


class Conversation:
    """Leads a client through the script. A request without tools stands beside it, as for a title."""

    def __init__(self, log: ServerLog) -> None:
        self.log = log
        self.exchanges: list[Exchange] = []
        self.is_done = False
        self._script: Generator[tuple[Asked, ...], None, None] | None = None
        self._asked: list[Asked] = []
        self._open: tuple[Asked, ...] = ()
        self._ids = count()
        # Each word of a text that may be a name, with the request that had it first.
        self._words: dict[str, tuple[Exchange, str]] = {}

    @property
    def progress(self) -> tuple[int, int]:
        """How many things the client was asked to do, of about how many; zeros before the first one."""
        if not self._asked:
            return 0, 0
        marks = self.log.marks
        return len(self._asked), len(marks.queries) + len(marks.loads) + len(marks.calls) + 1

    def reply(self, heard: Heard) -> tuple[tuple[Call, ...], str]:
        """The model's calls, or its text if there are none. Raises ProtocolError without the server."""
        exchange = Exchange(len(self.exchanges) + 1, heard)
        self.exchanges.append(exchange)
        for text in heard.texts:
            for word in set(_WORDS.findall(text.text)):
                self._words.setdefault(word, (exchange, text.at))
        if heard.tools and not self.is_done:
            exchange.asked = self._next(heard)
        return tuple(one.call for one in exchange.asked), _DONE

    def outcomes(self) -> Iterator[tuple[Exchange, Asked, Outcome]]:
        """What came of each call, with the request that says so first."""
        left = {one.call.id: one for one in self._asked}
        for exchange in self.exchanges:
            for outcome in exchange.heard.outcomes:
                if outcome.call in left:
                    yield exchange, left.pop(outcome.call), outcome

    def sent_tools(self) -> Iterator[tuple[Exchange, SentTool]]:
        """Every tool that reached the model: bound, found, or in a list that code printed."""
        for exchange in self.exchanges:
            yield from ((exchange, tool) for tool in exchange.heard.tools)
            for outcome in exchange.heard.outcomes:
                yield from ((exchange, tool) for tool in outcome.found)
        for exchange, asked, outcome in self.outcomes():
            if asked.kind == "list":
                yield from ((exchange, tool) for tool in listed(outcome))

    def names_of(self, tool: str) -> Iterator[tuple[Exchange, SentTool]]:
        """How a tool of the server is named for the model, wherever it is; by its name alone in a text."""
        for exchange, sent in self.sent_tools():
            if sent.way in ("tool", "listed") and is_name_of(sent.name, tool):
                yield exchange, sent
        for word, (exchange, at) in self._words.items():
            if word != tool and is_name_of(word, tool):
                yield exchange, SentTool(word, at)

    def _next(self, heard: Heard) -> tuple[Asked, ...]:
        """The next step, or the same one again if the client repeats its request."""
        if {one.call.id for one in self._open} <= {outcome.call for outcome in heard.outcomes}:
            if self._script is None:
                self._script = self._steps(heard)
            self._open = next(self._script, ())
            self.is_done = not self._open
            self._asked += self._open
        return self._open

    def _steps(self, heard: Heard) -> Generator[tuple[Asked, ...], None, None]:
        marks = self.log.marks
        search = next(
            (one for one in heard.tools if one.way == "search" or _SEARCHES.fullmatch(one.name)), None
        )
        code = next((one for one in heard.tools if one.way == "code"), None)
        if search is not None:
            steps: tuple[tuple[Kind, Iterable[str]], ...] = (("search", marks.queries), ("load", marks.loads))
            for kind, queries in steps:
                yield tuple(self._made(kind, query, search, {"query": query}) for query in queries)
        elif code is not None:
            yield (self._made("list", "", code, {"code": _LIST}),)
            for tool in marks.loads:
                yield (self._made("list", tool, code, {"code": _LOAD % json.dumps(plain(tool))}),)
        for tool, arguments in marks.calls:
            if (sent := self._callable(tool)) is None:
                continue
            if sent.way == "listed" and code is not None:
                line = f"text(await tools.{sent.name}({json.dumps(arguments)}))"
                yield (self._made("call", tool, code, {"code": line}, arguments),)
            else:
                yield (self._made("call", tool, sent, arguments, arguments),)
        if search is not None:
            yield (self._made("later", marks.later, search, {"query": marks.later}),)
        elif code is not None:
            yield (self._made("later", marks.later, code, {"code": _LIST}),)

    def _made(
        self, kind: Kind, what: str, by: SentTool, given: JsonObject, arguments: JsonObject = _NONE
    ) -> Asked:
        """Something to do by calling `by` with `given`; `arguments` are those of the server's tool."""
        call = Call(f"call_{next(self._ids)}", by.name, given, by.namespace, by.way)
        return Asked(kind, what, call, arguments)

    def _callable(self, tool: str) -> SentTool | None:
        """By which name the server's tool is called: as it was sent, or as others of its namespace are."""
        if named := [sent for _, sent in self.names_of(tool)]:
            return min(named, key=lambda sent: len(sent.name))
        spaces = (sent.namespace for _, sent in self.sent_tools() if is_name_of(sent.namespace, SERVER))
        return next((SentTool(plain(tool), "", space) for space in spaces), None)


def listed(outcome: Outcome) -> Iterator[SentTool]:
    """The tools that code printed as JSON."""
    for number, text in enumerate(part.get("text", "") for part in outcome.parts if isinstance(part, dict)):
        # What was cut is no JSON.
        if text.startswith('[{"') and text.endswith("}]"):
            for one in json.loads(text):
                at = f"{outcome.at}.output[{number}]"
                yield SentTool(str(one["name"]), at, "", str(one.get("description", "")), way="listed")

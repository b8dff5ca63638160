"""What the stand-in has a client do with the marked server, and what is left of its marks in a text."""

import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Literal

from inspector.core.error import ProtocolError
from inspector.features.clients.measured.wire import Call, Heard, Outcome, SentTool
from inspector.schema.json_value import JsonObject

SERVER = "marked-server"
"""The name under which a client gets the server: with mcp__NAME__, a tool's name has 20 characters more."""
START = 24
"""So many characters are enough to find one of the server's texts."""
_MARK, _STEP = re.compile(r"(\d{6})\|"), 8
# So much is quoted of what a client puts in the place of the rest.
_TAIL = 20
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions"})


@dataclass(frozen=True, slots=True)
class Marks:
    """What the marked server declares, and what a client is to do with it."""

    instructions: str
    tools: Mapping[str, JsonObject]
    queries: Mapping[str, str]
    loads: Sequence[str]
    calls: Sequence[tuple[str, JsonObject]]
    later: str


class ServerLog:
    """The file in which the marked server notes what it declares, and what the client asks of it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def marks(self) -> Marks:
        """Raises ProtocolError while the server has not been started."""
        for line in self._lines():
            if "instructions" in line:
                tools = {tool["name"]: tool for tool in line["tools"]}
                given = {key: line[key] for key in ("instructions", "queries", "loads", "calls", "later")}
                return Marks(tools=tools, **given)
        raise ProtocolError(
            "the client spoke to its model before it started the marked server",
            hint="Check that it reads the servers it was given, and waits for them.",
        )

    @property
    def messages(self) -> list[JsonObject]:
        """The client's messages in order, each with `method` and `params`."""
        return [line for line in self._lines() if "method" in line]

    def calls(self, tool: str) -> list[int]:
        """Where among the messages the tool was called."""
        return [
            at
            for at, one in enumerate(self.messages)
            if one["method"] == "tools/call" and (one.get("params") or {}).get("name") == tool
        ]

    def _lines(self) -> Iterator[JsonObject]:
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        # The last line may not be complete yet.
        yield from (json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))


def plain(name: str) -> str:
    """The name with an underscore for whatever not every client takes."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def is_name_of(sent: str, name: str) -> bool:
    """Whether a name that was sent ends with a server's or a tool's name, as it is or in plain characters."""
    return sent[-1:] == name[-1:] and f"_{plain(sent)}".endswith(f"_{plain(name)}")


def left_of(text: str, size: int) -> str:
    """Which characters of a result of so many are in a text, in words."""
    found = [int(mark) for mark in _MARK.findall(text)]
    head = next((at for at, mark in enumerate(found) if mark != at * _STEP), len(found))
    if head * _STEP >= size - _STEP:
        return "all reach the model"
    tail = found[head:]
    end = f" and the last {size - tail[0]:,}" if tail and size - tail[-1] <= _STEP else ""
    return f"the first {head * _STEP:,}{end} reach the model"


def cut(whole: str, text: str) -> tuple[int, str, str]:
    """After how many characters one of the server's texts ends in another, what follows, and both in words.

    0 if it is whole.
    """
    sent = text[max(text.find(whole[:START]), 0) :]
    same = (at for at, pair in enumerate(zip(whole, sent, strict=False)) if pair[0] != pair[1])
    kept = next(same, min(len(whole), len(sent)))
    if kept == len(whole):
        return 0, "", f"all {kept:,} characters are sent."
    rest = sent[kept:].partition("\n")[0][:_TAIL].strip()
    then = f", then “{rest}”" if rest else ""
    return kept, rest, f"the first {kept:,} of {len(whole):,} characters are sent{then}."


def keywords(schema: Any) -> Iterator[str]:
    """The keywords of a schema and of those in it."""
    for key, value in schema.items() if isinstance(schema, dict) else ():
        yield key
        named = key in _BY_NAME and isinstance(value, dict)
        for one in value.values() if named else value if isinstance(value, list) else [value]:
            yield from keywords(one)


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

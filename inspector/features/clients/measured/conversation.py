"""What the stand-in has a client do with the marked servers, step by step."""

import json
from collections.abc import Collection, Container, Generator, Iterator, Sequence
from itertools import count
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.error import ProtocolError
from inspector.features.clients.measured.marks import Key, ServerLog, plain
from inspector.features.clients.measured.wire import CALL_ID, Call, Heard, Outcome, SentTool
from inspector.schema.json_value import JsonObject, as_list, as_object, compact
from inspector.schema.reading import names

# What code prints is cut, so it prints all names, or all of one tool.
_LIST = "text(JSON.stringify(ALL_TOOLS.map(({name}) => ({name}))))"
_LOAD = "text(JSON.stringify(ALL_TOOLS.filter(({name}) => name.includes(%s))))"
_CALL = "text(await tools.%s(%s))"
# A tool that takes a whole program, and returns what its main function does.
_MAIN = "async function main() { return await tools.%s(%s); }"
_DONE = "Measured."
# Together, since each takes a request; a client may cut what comes back at once.
_LOADS = 8
# A client whose servers were not there in time gets so many tries more, by calling what there is not.
_TRIES, _NO_TOOL = 3, "mcp__marked-server__ping"
# The first search may be answered before the servers are there.
_NOTHING = "nonexistent"
_MOST = 600

Kind = Literal["search", "load", "list", "call", "wait"]


class Asked(Struct, frozen=True):
    """Something that a client is to do: `what` is the query, or the key of a tool."""

    kind: Kind
    what: str | Key
    call: Call
    arguments: JsonObject

    @property
    def key(self) -> Key:
        """The tool that it is about; that of no server for a query."""
        return self.what if isinstance(self.what, tuple) else ("", self.what)


class Exchange(Struct):
    """A request of the client, by its number from 1, and what it was asked to do then.

    `noted` is how much the servers had noted before it; `is_ready` that its tools had been listed by then.
    """

    number: int
    heard: Heard
    noted: int
    is_ready: bool
    asked: tuple[Asked, ...] = ()


class Conversation:
    """Leads a client through the script. What is no part of it, as a request for a title, gets a text.

    Tools that are `spared` are not called.
    """

    def __init__(self, log: ServerLog, spared: Collection[Key] = ()) -> None:
        self.log = log
        self._spared = spared
        self.exchanges: list[Exchange] = []
        self.is_done = False
        self._script: Generator[tuple[Asked, ...], None, None] | None = None
        self._asked: list[Asked] = []
        self._open: tuple[Asked, ...] = ()
        self._last = ""
        self._ids = count()
        self.sent: list[tuple[Exchange, SentTool, Key | None]] = []
        """Every tool that reached the model, bound, found, in a list, or by name alone; each form once."""
        self._seen: set[object] = set()

    @property
    def is_begun(self) -> bool:
        """Whether the client was asked to do something."""
        return bool(self._asked)

    @property
    def open_calls(self) -> tuple[Key, ...]:
        """The tools that the client was asked to call, as far as it has not said what came of it."""
        return tuple(one.key for one in self._open if one.kind == "call")

    @property
    def progress(self) -> tuple[int, int]:
        """How many things the client was asked to do, of about how many; zeros before the first one."""
        if not self._asked:
            return 0, 0
        marks = self.log.marks
        is_searched = any(asked.kind != "call" for asked in self._asked)
        searches = len(marks.queries) + len(marks.loads) + 1 if is_searched else 0
        return len(self._asked), searches + sum(map(len, marks.calls))

    def reply(self, heard: Heard) -> tuple[tuple[Call, ...], str]:
        """The model's calls, or its text if there are none. Raises ProtocolError without the server."""
        heard = _with_failure(heard, self._open, self.exchanges)
        exchange = Exchange(len(self.exchanges) + 1, heard, len(self.log.messages), self.log.is_listed())
        if exchange.number > _MOST:
            raise ProtocolError(f"the client asked its model more than {_MOST} times")
        self.exchanges.append(exchange)
        if heard.tools:
            self._note(exchange)
            if not self.is_done:
                exchange.asked = self._next(heard)
        text = _DONE if heard.wants is None else compact(value_for(heard.wants))
        return tuple(one.call for one in exchange.asked), text

    def _note(self, exchange: Exchange) -> None:
        """Take up what is sent for the first time."""
        heard = exchange.heard
        for tool in heard.tools:
            form = (tool.full_name, tool.way, tool.deferred, tool.description, compact(tool.parameters))
            self._add(exchange, tool, form)
        calls = {asked.call.id for asked in self._open if asked.kind == "call"}
        for outcome in heard.outcomes:
            if outcome.call not in self._seen:
                self._seen.add(outcome.call)
                named = () if outcome.call in calls else self.log.marks.words(outcome.text)
                bare = (SentTool(word, outcome.at, way="listed") for word in named)
                for tool in (*outcome.found, *listed(outcome), *bare):
                    self._add(exchange, tool, (outcome.call, tool.at, tool.name))
        for text in heard.texts:
            for word in self.log.marks.words(text.text):
                self._add(exchange, SentTool(word, text.at, way="listed"), word)

    def _add(self, exchange: Exchange, tool: SentTool, form: object) -> None:
        if form not in self._seen:
            self._seen.add(form)
            self.sent.append((exchange, tool, self.log.marks.key_of(tool)))

    def outcomes(self) -> Iterator[tuple[Exchange, Asked, Outcome]]:
        """What came of each call, with the request that says so first."""
        left = {one.call.id: one for one in self._asked}
        for exchange in self.exchanges:
            for outcome in exchange.heard.outcomes:
                if outcome.call in left:
                    yield exchange, left.pop(outcome.call), outcome

    def names_of(self, key: Key) -> Iterator[tuple[Exchange, SentTool]]:
        """How a tool of a server is named for the model, wherever it is."""
        return ((exchange, sent) for exchange, sent, found in self.sent if found == key)

    def _next(self, heard: Heard) -> tuple[Asked, ...]:
        """The next step; the same one again for a request that is repeated, none for one beside it."""
        done = {one.call for one in heard.outcomes}
        if self._open and not done & {one.call.id for one in self._open}:
            if heard.last == self._last:
                return self._open
            # A client that shortened the conversation goes on without any of its results.
            is_short = not done and len(self._asked) > len(self._open) and self._is_known()
            if not is_short:
                return ()
        if self._script is None:
            self._script = self._steps()
        self._open = next(self._script, ())
        self.is_done, self._last = not self._open, heard.last
        self._asked += self._open
        return self._open

    @property
    def _tools(self) -> tuple[SentTool, ...]:
        """The tools of the newest request that has any."""
        return next(one.heard.tools for one in reversed(self.exchanges) if one.heard.tools)

    def _by(self, *ways: str) -> SentTool | None:
        key_of = self.log.marks.key_of
        return next((one for one in self._tools if one.way in ways and key_of(one) is None), None)

    def _is_known(self) -> bool:
        """Whether a tool of the servers is there, or another one by which to come to them."""
        bound = any(self.log.marks.key_of(one) is not None for one in self._tools)
        return bound or self._by("search", "through") is not None or self._by("code") is not None

    def _steps(self) -> Generator[tuple[Asked, ...], None, None]:
        marks = self.log.marks
        yield from self._waits()
        bound = [one for one in self._tools if one.way == "tool" and marks.key_of(one) is not None]
        search, code = self._by("search"), self._by("code") if not bound else None
        if search is not None:
            yield from self._searches(search)
        elif code is not None:
            yield (self._made("list", "", code, {"code": _LIST}),)
            yield from ((self._made("list", key, code, load_script(key)),) for key in marks.loads)
        for step in marks.calls:
            if asked := tuple(one for key, given in step if (one := self._called(key, given)) is not None):
                yield asked
            if search is not None and step[0][0][1] == "change_tools":
                yield (self._searched("search", marks.later[1], search),)

    def _waits(self) -> Iterator[tuple[Asked, ...]]:
        """Calls of what there is not while no tool is known: each makes the client ask once more."""
        for _ in range(_TRIES):
            if not self._is_known():
                yield (self._made("wait", "", SentTool(_NO_TOOL, ""), {}),)

    def _searches(self, search: SentTool) -> Iterator[tuple[Asked, ...]]:
        """One query a request, as what it finds may only be told by what is bound in the next one."""
        marks = self.log.marks
        yield (self._searched("wait", _NOTHING, search),)
        yield from ((self._searched("search", query, search),) for query in marks.queries)
        for first in range(0, len(marks.loads), _LOADS):
            keys = marks.loads[first : first + _LOADS]
            if "functions" not in _given(search):
                yield tuple(self._searched("load", key, search) for key in keys)
                continue
            # Its search tells names; definitions are had by them.
            yield tuple(self._searched("search", key[1].rstrip("x_"), search) for key in keys)
            found = [sent.name for key in keys if (sent := self._callable(key)) is not None]
            yield (self._made("load", "", search, {"mode": "details", "functions": found}),)

    def _searched(self, kind: Kind, what: str | Key, search: SentTool) -> Asked:
        name = next((one for one in ("query", "q", "text", "search") if one in _given(search)), "query")
        # A long name may be cut, but for its beginning; some find names by the whole alone.
        query = what if isinstance(what, str) else " ".join(dict.fromkeys((what[1].rstrip("x_"), what[1])))
        return self._made(kind, what, search, {name: query})

    def _made(
        self,
        kind: Kind,
        what: str | Key,
        by: SentTool,
        given: JsonObject,
        arguments: JsonObject | None = None,
    ) -> Asked:
        """Something to do by calling `by` with `given`; `arguments` are those of the server's tool."""
        is_custom = by.way == "code" and by.parameters is None
        call = Call(f"{CALL_ID}{next(self._ids)}", by.name, given, by.namespace, by.way, is_custom)
        return Asked(kind, what, call, arguments or {})

    def _called(self, key: Key, arguments: JsonObject) -> Asked | None:
        """A call of a server's tool; None if its model does not know of it, or is spared it."""
        if key in self._spared or (sent := self._callable(key)) is None:
            return None
        is_bound = any(one.full_name == sent.full_name for one in self._tools) or sent.namespace
        through, code = self._by("through"), self._by("code")
        if not is_bound and through is not None:
            given = {"name": sent.full_name, "arguments": arguments}
            return self._made("call", key, through, given, arguments)
        if not is_bound and code is not None:
            line = (_CALL if code.parameters is None else _MAIN) % (sent.name, json.dumps(arguments))
            return self._made("call", key, code, {"code": line}, arguments)
        own = self.log.marks.tools[key]["inputSchema"].get("properties", {})
        given = {**required_values(sent.parameters or {}, own), **arguments}
        return self._made("call", key, sent, given, arguments)

    def _callable(self, key: Key) -> SentTool | None:
        """By which name a tool is called: as it is bound, as it was sent, or as others of its namespace."""
        bound = {one.full_name for one in self._tools}
        if named := [sent for _, sent in self.names_of(key) if sent.name]:
            return min(named, key=lambda one: (one.full_name not in bound, not one.namespace, len(one.name)))
        spaces = (sent.namespace for _, sent, _ in self.sent if sent.namespace)
        server = plain(key[0])
        return next((SentTool(plain(key[1]), "", one) for one in spaces if plain(one).endswith(server)), None)


def _with_failure(heard: Heard, asked: Sequence[Asked], before: Sequence[Exchange]) -> Heard:
    """Where nothing but calls is wanted, what is said after one without its id came of it: it failed."""
    calls = {one.call.id for one in asked} - {one.call for one in heard.outcomes}
    if not (calls and heard.must_call and heard.texts) or len(calls) < len(asked):
        return heard
    if heard.last == before[-1].heard.last:
        return heard
    # A message may go on with what failed.
    known = [one.text for one in before[-1].heard.texts] or [""]
    parts = (heard.texts[-1].text.removeprefix(known[-1]),)
    failed = (Outcome(call, parts, (), heard.texts[-1].at) for call in sorted(calls))
    return replace(heard, outcomes=(*heard.outcomes, *failed))


def load_script(key: Key) -> JsonObject:
    """The arguments of a tool that runs code, to print the definition of a server's tool."""
    return {"code": _LOAD % json.dumps(plain(key[1]))}


def required_values(schema: JsonObject, but: Container[str] = ()) -> JsonObject:
    """Values for what a schema requires, but for these names: some clients want a word on each call."""
    properties = as_object(schema.get("properties"))
    wanted = (name for name in names(schema.get("required")) if name not in but)
    return {name: value_for(as_object(properties.get(name))) for name in wanted}


def value_for(schema: JsonObject) -> Any:
    """A value that a schema names, or one of the kind that it wants."""
    named = [*as_list(schema.get("enum")), *as_list(schema.get("examples"))]
    if named or "default" in schema:
        return [*named, schema.get("default")][0]
    inner = {name: value_for(as_object(one)) for name, one in as_object(schema.get("properties")).items()}
    kinds = {"boolean": False, "integer": 0, "number": 0, "array": [], "object": inner}
    return kinds.get(str(schema.get("type")).lower(), "marked")


def _given(tool: SentTool) -> Sequence[str]:
    return [*as_object((tool.parameters or {}).get("properties"))]


_SCHEMAS = ("parameters", "parametersJsonSchema", "input_schema", "inputSchema")


def listed(outcome: Outcome) -> Iterator[SentTool]:
    """The tools that stand in the texts of an outcome as JSON. What was cut is no JSON."""
    decoder = json.JSONDecoder()
    for part in outcome.parts:
        text, at = part if isinstance(part, str) else str(part.get("text", "")), 0
        while (at := text.find('{"', at)) >= 0:
            try:
                one, at = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                at += 1
                continue
            schema = next((one[key] for key in _SCHEMAS if isinstance(one.get(key), dict)), None)
            if isinstance(one.get("name"), str) and ("description" in one or schema is not None):
                about = str(one.get("description") or "")
                yield SentTool(one["name"], outcome.at, "", about, schema, way="listed")

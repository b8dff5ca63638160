"""Has an installed client find and call one tool, with every tool listed and with the gateway's search.

The gateway is one server each time, so that names and what stands around the tools are the same.
"""

import json
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import Struct

from inspector.core.error import ProtocolError, ToolsightError
from inspector.core.number import count
from inspector.core.redaction import private_folder
from inspector.features.clients.measured.conversation import Asked, Conversation, load_script, value_for
from inspector.features.clients.measured.marks import Marks, ServerLog
from inspector.features.clients.measured.program import followed, installed, printed, version, write
from inspector.features.clients.measured.stand_in import LAST_WORDS, StandIn, late, listening, unfinished
from inspector.features.clients.measured.start import Setting, client_start
from inspector.features.clients.measured.wire import Call, Heard
from inspector.mcp.reaper import Reaper
from inspector.schema.json_value import JsonObject, as_object, as_objects, as_text, compact, read_value
from inspector.schema.reading import names
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.manifest import CALL_TOOL, SEARCH_TOOLS

SERVER: Final = "toolsight"
"""What the gateway is called in the client, as `gateway add` calls it."""
_SECONDS = 180
_LONGEST_ANSWER = 200
# How a search names what it found, also where a client writes it as JSON.
_FOUND = re.compile(r"(?:^|\n|\\n)- ([^\s\\]+)")


class Gateway(Protocol):
    """A gateway that this process serves, for one client."""

    address: str
    refused: Sequence[str]

    @property
    def listed(self) -> Sequence[JsonObject] | None:
        """What the client was listed; None before it has asked."""

    def entry_of(self, name: str) -> JsonObject | None:
        """The entry of the tool with this name, as a list of all tools has it; None without such a tool."""


OpenGateway = Callable[[bool], AbstractAsyncContextManager[Gateway]]
"""Opens a gateway that lists every tool, or one that searches."""


class ModelCall(Struct, frozen=True):
    """A request to the model: its tools and their tokens, and the tokens of all its JSON (o200k)."""

    tools: int
    tool_tokens: int
    tokens: int


class Lane(Struct, frozen=True):
    """One run of the client, which was `listed` so many tools.

    `own_search` says that it has the model search for them in its own way first. `answer` is how the result
    begins that reached the model, `refused` why the gateway did not make the call, "" if it did.
    """

    listed: int
    calls: tuple[ModelCall, ...]
    tool_calls: tuple[str, ...]
    own_search: bool
    seconds: float
    answer: str
    refused: str

    @property
    def tokens(self) -> int:
        """Of all requests."""
        return sum(call.tokens for call in self.calls)


class Raced(Struct, frozen=True):
    """Both runs, and the tool that was found and called in them."""

    client: str
    version: str
    question: str
    tool: str
    every: Lane
    search: Lane

    @property
    def saved(self) -> float:
        """The share of all requests' tokens that the search saves; negative if it costs more."""
        return 1 - self.search.tokens / self.every.tokens


class _Listed(ServerLog):
    """What the gateway has listed, in the place of what the marked servers note."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    @cached_property
    def marks(self) -> Marks:
        """The gateway's tools. Raises ProtocolError before the client was listed them."""
        if self._gateway.listed is None:
            raise ProtocolError("the client spoke to its model before it asked its server for tools")
        tools = {(SERVER, one["name"]): one for one in self._gateway.listed}
        return Marks("", tools, {}, (), (), (SERVER, ""), SERVER)

    @property
    def messages(self) -> list[JsonObject]:
        """None: nobody asks what came to the gateway."""
        return []

    def is_listed(self) -> bool:
        """Whether the client has asked for tools."""
        return self._gateway.listed is not None


class RaceTalk(Conversation):
    """Leads a client to the tool that the gateway finds for a question; or to this `tool`, of all of them."""

    def __init__(self, gateway: Gateway, question: str, tool: JsonObject | None = None) -> None:
        super().__init__(_Listed(gateway))
        self._gateway, self._question = gateway, question
        self.tool = tool

    @property
    def progress(self) -> tuple[int, int]:
        """How many requests there were, of an unknown number."""
        return len(self.exchanges), 0

    @property
    def result(self) -> str:
        """The last text that came of the newest call: some write a heading before it. "" before any."""
        came = [outcome for _, asked, outcome in self.outcomes() if asked.kind == "call"]
        last = came[-1].parts[-1] if came and came[-1].parts else ""
        text = last if isinstance(last, str) else as_text(last.get("text"))
        # A script prints the whole result.
        inner = as_objects(as_object(read_value(text)).get("content"))
        return as_text(inner[-1].get("text")) if inner else text

    def reply(self, heard: Heard) -> tuple[tuple[Call, ...], str]:
        """See `Conversation`; in the end, the model reads out what came of the call."""
        calls, text = super().reply(heard)
        return calls, text if calls or heard.wants is not None else self.result or text

    def _steps(self) -> Generator[tuple[Asked, ...], None, None]:
        yield from self._waits()
        if self.tool is not None:
            yield from self._reached(self.tool["name"], example(self.tool))
            return
        if not (tools := self.log.marks.tools):
            raise ProtocolError("no server has tools", hint="`toolsight servers` says why.")
        if (SERVER, SEARCH_TOOLS) not in tools:
            raise ProtocolError(f"{count(len(tools), 'tool')} are too few for a search to save anything")
        yield from self._reached(SEARCH_TOOLS, {"query": self._question})
        found = _FOUND.search(self.result)
        self.tool = self._gateway.entry_of(found[1]) if found else None
        if found is None or self.tool is None:
            hint = "Ask for something that one of the servers' tools does."
            raise ProtocolError("the search found no tool for this question", hint=hint)
        yield from self._reached(CALL_TOOL, {"name": found[1], "arguments": example(self.tool)})

    def _reached(self, name: str, arguments: JsonObject) -> Iterator[tuple[Asked, ...]]:
        """The call of a tool, after a search of the client's own for it where that has to come first."""
        key = (SERVER, name)
        sent = (tool for _, tool in self.names_of(key))
        # What is deferred is there once it was found.
        is_there = any(one.way != "listed" and not (one.deferred and one.at[:5] == "tools") for one in sent)
        search, code = self._by("search"), self._by("code")
        if not is_there and search is not None:
            yield (self._searched("load", key, search),)
        elif not is_there and code is not None:
            yield (self._made("list", key, code, load_script(key)),)
        asked = self._called(key, arguments)
        if asked is None:
            raise ProtocolError(f"{name} did not reach the client's model")
        yield (asked,)


def example(tool: JsonObject) -> JsonObject:
    """Arguments for what a tool requires, each a value that its schema names or wants."""
    schema = as_object(tool["inputSchema"])
    properties = as_object(schema.get("properties"))
    return {name: value_for(as_object(properties.get(name))) for name in names(schema.get("required"))}


async def race(
    client: str, question: str, folder: Path, open_gateway: OpenGateway, progress: Callable[[str, int], None]
) -> Raced:
    """Run the client twice, each time with its files in a new folder in `folder`.

    First with the search, which says what tool it is about. Raises ToolsightError.
    """
    runs = _Runs(client, question, folder, open_gateway, progress)
    search, tool = await runs.run(None)
    every, _ = await runs.run(tool)
    return Raced(client, runs.version, question, tool["name"], every, search)


class _Runs:
    """Runs of one client, with one question."""

    def __init__(
        self,
        client: str,
        question: str,
        folder: Path,
        open_gateway: OpenGateway,
        progress: Callable[[str, int], None],
    ) -> None:
        self._client, self._question, self._folder = client, question, folder
        self._open_gateway, self._progress = open_gateway, progress
        self.version = ""

    async def run(self, tool: JsonObject | None) -> tuple[Lane, JsonObject]:
        """Have the client call this tool, of all; or search, and call what it finds. Returns that, too."""
        searches = tool is None
        what = "with the search" if searches else "with all tools"
        folder = self._folder / ("search" if searches else "every")
        private_folder(folder)
        async with self._open_gateway(not searches) as gateway:
            talk = RaceTalk(gateway, self._question, tool)
            stand_in = StandIn(talk, folder / "requests", lambda done, _: self._progress(what, done))
            async with listening(stand_in):
                seconds = await self._lead(stand_in, folder, gateway.address)
            assert talk.tool is not None
            came = [asked for _, asked, _ in talk.outcomes()]
            lane = Lane(
                len(gateway.listed or ()),
                tuple(model_calls(folder / "requests")),
                tuple(asked.call.name for asked in came),
                any(asked.kind in ("load", "list") for asked in came),
                seconds,
                " ".join(talk.result.split())[:_LONGEST_ANSWER],
                next(iter(gateway.refused), ""),
            )
        return lane, talk.tool

    async def _lead(self, stand_in: StandIn, folder: Path, address: str) -> float:
        """Run the client until all is said; returns seconds. Raises ToolsightError for what came between."""
        servers = {SERVER: (address,)}
        setting = Setting(
            *(folder, stand_in.address, servers, folder / "log"), over_http=True, asked=self._question
        )
        start, reaper = installed(self._client, client_start(self._client, setting)), Reaper()
        try:
            write(start, folder)
            self.version = self.version or await version(start, setting, reaper)
            began = time.monotonic()
            in_time, exit_code = await followed(
                *(start, setting, reaper, _SECONDS, stand_in.done.wait()), lambda: stand_in.failure is None
            )
            seconds = time.monotonic() - began
        finally:
            reaper.close()
        said = printed(folder)[-LAST_WORDS:].strip()
        failure: ToolsightError | None = stand_in.failure
        if failure is None:
            failure = unfinished(stand_in, exit_code, said) if in_time else late(stand_in, _SECONDS, "", said)
        if failure is not None:
            raise failure
        return seconds


def model_calls(folder: Path) -> Iterator[ModelCall]:
    """The requests that a stand-in kept in a folder."""
    size = TiktokenCounter("").count
    for path in sorted(folder.iterdir()):
        body = json.loads(path.read_bytes())["body"]
        tools = [*_tools(body)]
        yield ModelCall(len(tools), sum(size(compact(one)) for one in tools), size(compact(body)))


def _tools(body: Mapping[str, Any]) -> Iterator[JsonObject]:
    """The definitions that a model reads: a request's own, and those that a search found among its items."""
    for place in (body, *as_objects(body.get("input"))):
        for tool in as_objects(place.get("tools")):
            yield from as_objects(tool.get("functionDeclarations")) or as_objects(tool.get("tools")) or [tool]

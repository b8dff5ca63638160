"""`toolsight race --client`: an installed client with every tool listed, and with the gateway's search.

The gateway is one server each time, so that names and what stands around the tools are the same.
"""

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Generator, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from inspector.cli.composition import lent, open_memory
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import require_consent
from inspector.cli.options import Options
from inspector.cli.run import run
from inspector.cli.table import Progress, show
from inspector.clients.client import NAMES, find_client
from inspector.core.error import ProtocolError, command
from inspector.core.number import count, money, saving, tokens
from inspector.core.redaction import learn_environment
from inspector.core.report import Block, Table
from inspector.features.clients.measure_command import require_yes
from inspector.features.clients.measured.conversation import Asked, Conversation, load_script, required_values
from inspector.features.clients.measured.marks import Marks, ServerLog
from inspector.features.clients.measured.measurement import Measured, Measuring, Subject, agreed
from inspector.features.clients.measured.program import printed, require_start
from inspector.features.clients.measured.provider import provider_of
from inspector.features.clients.measured.wire import Call, Heard
from inspector.schema.json_value import JsonObject, as_object, as_objects, as_text, compact, read_value
from inspector.tokens.accounting import LitellmPrices
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.manifest import CALL_TOOL, SEARCH_TOOLS

SERVER: Final = "toolsight"
"""What the gateway is called in the client, as `gateway add` calls it."""
Session = asyncio.Future[Any]
"""The gateway's session, as `open_gateway` has it, once a client has asked for something."""
_SECONDS, _LIVE_SECONDS, _LONGEST_ANSWER, _LONGEST_CELL = 180, 600, 200, 50
# How a search names what it found, also where a client writes it as JSON.
_FOUND = re.compile(r"(?:^|\n|\\n)- ([^\s\\]+)")
_TOKENS = "Tokens are o200k's of the JSON that the client sent; its own model counts and caches its own way."
_STAND_IN = (
    "A stand-in plays the model: it calls the tool that the search ranks first, with made-up arguments."
)


class _Listed(ServerLog):
    """What the gateway has listed, in the place of what the marked servers note."""

    def __init__(self, session: Session) -> None:
        super().__init__(Path())
        self._session = session

    @cached_property
    def marks(self) -> Marks:
        """The gateway's tools. Raises ProtocolError before the client was listed them."""
        if not self.is_listed():
            raise ProtocolError("the client spoke to its model before it asked its server for tools")
        tools = {(SERVER, one["name"]): one for one in self._session.result().listed}
        return Marks("", tools, {}, (), (), (SERVER, ""), SERVER)

    def is_listed(self) -> bool:
        """Whether the client has asked for tools."""
        begun = self._session.done() and not self._session.exception()
        return begun and self._session.result().listed is not None


class RaceTalk(Conversation):
    """Leads a client to the tool that the gateway finds for a question; or to this `tool`, of all of them."""

    def __init__(self, session: Session, question: str, tool: JsonObject | None = None) -> None:
        super().__init__(_Listed(session))
        self._session, self._question, self.tool = session, question, tool

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
            yield from self._reached(self.tool["name"], required_values(self.tool["inputSchema"]))
            return
        if not (tools := self.log.marks.tools):
            raise ProtocolError("no server has tools", hint=f"{command('servers')} says why.")
        if (SERVER, SEARCH_TOOLS) not in tools:
            raise ProtocolError(f"{count(len(tools), 'tool')} are too few for a search to save anything")
        yield from self._reached(SEARCH_TOOLS, {"query": self._question})
        found = _FOUND.search(self.result)
        self.tool = self._session.result().entry_of(found[1]) if found else None
        if found is None or self.tool is None:
            hint = "Ask for something that one of the servers' tools does."
            raise ProtocolError("the search found no tool for this question", hint=hint)
        yield from self._reached(
            CALL_TOOL, {"name": found[1], "arguments": required_values(self.tool["inputSchema"])}
        )

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
        if (asked := self._called(key, arguments)) is None:
            raise ProtocolError(f"{name} did not reach the client's model")
        yield (asked,)


class FreeTalk(RaceTalk):
    """Asks nothing of the client: its own model does."""

    def _steps(self) -> Generator[tuple[Asked, ...], None, None]:
        yield from ()


def race_client(client: str, question: str, options: Options, model: str = "") -> None:
    """Run an installed client with the search and with all tools; show both. Raises ToolsightError.

    With a `model` (PROVIDER/MODEL) it answers after a yes, else a stand-in, whose runs the estimate is from.
    """
    require_start(client)
    provider = provider_of(model) if model else None
    learn_environment(os.environ)
    require_consent(read_configuration(options).unrestricted, open_memory(options), approve=options.approve)
    subject = Subject(client, timeout=_SECONDS, asked=question)
    with tempfile.TemporaryDirectory(prefix="race-") as folder:
        raced = {"client": client, "question": question, **_both(subject, Path(folder).resolve(), options)}
        if provider is not None:
            if not options.yes:
                require_yes(_estimate(raced, model), "Ask it?")
            own = replace(subject, model=provider.model, timeout=_LIVE_SECONDS, provider=provider)
            raced |= {"model": model, **_both(own, Path(folder).resolve() / "own", options)}
    raced |= {"saved": 1 - raced["search"]["tokens"] / raced["every"]["tokens"]}
    raced |= {"verdict": verdict(raced), "notes": [*_notes(raced, options)]}
    show(raced, _report(raced))


def _both(subject: Subject, folder: Path, options: Options) -> JsonObject:
    """Both runs, and what they say of the client."""
    # The search says what tool it is about.
    search, tool = run(_run(subject, folder / "search", options))
    bound = replace(options, values={**options.values, "discovery.enabled": False})
    every, _ = run(_run(subject, folder / "every", bound, tool))
    about = {"version": search["version"], **({"tool": tool["name"]} if tool else {})}
    return {**about, "every": every, "search": search}


def _estimate(raced: JsonObject, model: str) -> str:
    """What the same requests would cost with the person's model."""
    sent = raced["every"]["tokens"] + raced["search"]["tokens"]
    prices = LitellmPrices().prices(model)
    cost = f"about {money(sent * prices.input)} without a cache" if prices else "at a price not known here"
    return f"{model}: two runs of some {tokens(sent)} tokens, {cost}; more if it calls more than the stand-in"


async def _run(
    subject: Subject, folder: Path, options: Options, tool: JsonObject | None = None
) -> tuple[JsonObject, JsonObject | None]:
    """Have the client call this tool, of all; or search, and call what it finds. Returns that, too.

    The run is given for programs: `own_search` says that the client has its model search for tools in its
    own way first, `answer` is how the result begins that reached the model, or how its own model ended.
    """
    found, what = Measured(subject.name), f"running {subject.name} ({folder.name})"
    async with lent("gateway")(options) as (address, session):
        with Progress() as progress:
            measuring = Measuring(subject, folder, lambda *_: progress(what, 0, 0), agreed, found)
            kind = RaceTalk if subject.provider is None else FreeTalk
            talk = kind(session, subject.asked, tool)
            await measuring.lead({SERVER: (address,)}, folder="http-requests", talk=talk)
        if measuring.failure is not None:
            raise measuring.failure
        gateway = session.result()
    calls, came = [*model_calls(folder / "http-requests")], [asked for _, asked, _ in talk.outcomes()]
    said = talk.result if subject.provider is None else printed(folder).rstrip().rpartition("\n")[2]
    lane = {
        "version": found.version,
        "listed": len(gateway.listed),
        "calls": calls,
        "tokens": sum(call["tokens"] for call in calls),
        "tool_calls": [asked.call.name for asked in came] if subject.provider is None else gateway.called,
        "own_search": any(asked.kind in ("load", "list") for asked in came),
        "seconds": round(found.seconds, 1),
        "answer": " ".join(said.split())[:_LONGEST_ANSWER],
    }
    return lane, talk.tool


def model_calls(folder: Path) -> Iterator[JsonObject]:
    """The requests that a stand-in kept: their tools, the tokens of these and of all the JSON (o200k)."""
    size = TiktokenCounter("").count
    for path in sorted(folder.iterdir()):
        body = json.loads(path.read_bytes())["body"]
        tools = [*_tools(body)]
        tool_tokens = sum(size(compact(one)) for one in tools)
        yield {"tools": len(tools), "tool_tokens": tool_tokens, "tokens": size(compact(body))}


def _tools(body: JsonObject) -> Iterator[JsonObject]:
    """The definitions that a model reads: a request's own, and those that a search found among its items."""
    for place in (body, *as_objects(body.get("input"))):
        for tool in as_objects(place.get("tools")):
            yield from as_objects(tool.get("functionDeclarations")) or as_objects(tool.get("tools")) or [tool]


def _title(raced: JsonObject) -> str:
    client = raced["client"]
    return f"{find_client(client).title if client in NAMES else client} {raced['version']}".strip()


def verdict(raced: JsonObject) -> str:
    """The result in a sentence."""
    every, search = raced["every"], raced["search"]
    sent = f"{tokens(search['tokens'])} tokens instead of {tokens(every['tokens'])}"
    more = len(search["calls"]) - len(every["calls"])
    beside = f", and {count(more, 'more model call')}" if more > 0 else ""
    return f"With the gateway's search, {_title(raced)} sends {saving(raced['saved'])}: {sent}{beside}."


def _notes(raced: JsonObject, options: Options) -> Iterator[str]:
    """What to know before trusting the numbers."""
    yield _TOKENS
    yield f"{raced['model']} answered; another run may differ." if "model" in raced else _STAND_IN
    if raced["every"]["own_search"]:
        yield f"{_title(raced)} has a search of its own for tools, and the gateway's comes on top of it."
    if not options.yes and not options.demo:
        yield "Calls that may change something were refused, because they would run twice; --yes allows them."


def _report(raced: JsonObject) -> Iterator[Block]:
    """Both runs side by side, and what to know of the numbers."""
    yield f"{_title(raced)}: {raced['question']}"
    yield raced["verdict"]
    both = zip(_cells(raced["every"]), _cells(raced["search"]), strict=True)
    rows = tuple((*one, two) for one, (_, two) in both)
    yield Table("", ("", "all tools", "search"), rows, frozenset({1, 2}))
    yield from (f"· {note}" for note in raced["notes"])


def _cells(lane: JsonObject) -> Iterator[tuple[str, str]]:
    # A request for a title has no tools.
    first, *further = (call["tool_tokens"] for call in lane["calls"] if call["tools"])
    yield "tools listed", f"{lane['listed']:,}"
    yield "model calls", f"{len(lane['calls'])}"
    yield "tool tokens, first call", f"{first:,}"
    yield "tool tokens, further calls", ", ".join(f"{one:,}" for one in further)
    yield "tokens of all requests", f"{lane['tokens']:,}"
    yield "tool calls", f"{len(lane['tool_calls'])}"
    yield "seconds", f"{lane['seconds']:.1f}"
    yield "answer", lane["answer"][:_LONGEST_CELL]

"""Answers a client as one MCP server: with Toolsight's own tools, the bound ones, and what servers have."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mcp import MCPError, types
from mcp.types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec.structs import replace

from inspector.core.error import CapabilityMissing
from inspector.core.events import CatalogBuilt, ClientListed, Record, ToolEvicted, ToolLoaded
from inspector.core.message import ToolCall
from inspector.core.number import plural
from inspector.core.text import paragraphs
from inspector.features.gateway.asking import ClientRelay, Context, Waiting
from inspector.features.gateway.entries import Names, entries, entry, own_entry
from inspector.features.gateway.news import News
from inspector.features.gateway.offers import ServerOffers
from inspector.schema.json_value import JsonObject, as_object, as_text, compact
from inspector.session.workbench import Workbench
from inspector.tokens.manifest import SEARCH_TOOLS, search_tools_definition
from inspector.tokens.synthetic import CALL_FOUND, Answer

# Seconds from the start in which requests wait for servers that connect. Clients give up on a list sooner
# than on a call: Claude Code's `mcp list` after some five. A list that changes later is told.
_WAITS, _LISTS_WAIT = 20.0, 3.0
_ALWAYS = "always"
# What results of 2026-07-28 have to have: a list is asked for anew each time, as it may have changed.
_ENVELOPE, _UNCACHED = {"resultType": "complete"}, {"ttlMs": 0, "cacheScope": "private"}
_CACHED = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}
)
TASK_METHODS = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
_CHANGES = (CatalogBuilt, ToolLoaded, ToolEvicted)


class Gateway:
    """One session of the workbench, for the clients that are connected to it."""

    def __init__(self, bench: Workbench, relay: ClientRelay, news: News) -> None:
        self._bench = bench
        self._relay = relay
        self._news = news
        self._names = Names([spec.name for spec in bench.configuration.servers])
        self._methods: Mapping[str, Callable[[Waiting], Awaitable[JsonObject]]] = {
            "tools/list": self._list,
            "tools/call": self._call,
            **ServerOffers(bench, self._names).methods,
        }
        self._listed: list[JsonObject] | None = None
        self._told: list[JsonObject] | None = None
        self.called: list[str] = []
        """The names that clients have called, in order."""
        self._is_looking = False
        self._begun = asyncio.get_running_loop().time()
        bench.subscribe(self._on_record)

    @property
    def listed(self) -> Sequence[JsonObject] | None:
        """What clients were listed last; None before the first list."""
        return self._told

    def entry_of(self, name: str) -> JsonObject | None:
        """The entry of the tool with this name, as a list of all tools has it; None without one."""
        found = self._bench.catalog.named(name)
        return entry(found[0], self._names) if found else None

    async def answer(self, context: Context) -> JsonObject:
        """Answer a request of a client; a client of 2026-07-28 may get a question or a task first."""
        if context.method in TASK_METHODS:
            return {**_ENVELOPE, **self._relay.task_answer(context)}
        self._news.add(context.session)
        if (is_list := context.method.endswith("/list")) or self._bench.connecting:
            # Without a search a client finds nothing of what comes after its list.
            is_early = is_list and self._bench.settings.discovery.enabled
            await self._settled(_LISTS_WAIT if is_early else _WAITS)
        if state := as_object(context.params).get("requestState"):
            waiting = self._relay.resumed(context, state)
        else:
            waiting = Waiting(context)
            waiting.begin(self._answered(waiting))
        result = await waiting.outcome()
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return result
        if result.get("resultType") == "input_required":
            result = {**result, "requestState": self._relay.promise(waiting)}
        return {**_ENVELOPE, **(_UNCACHED if context.method in _CACHED else {}), **result}

    async def _answered(self, waiting: Waiting) -> JsonObject:
        with self._relay.waits(waiting):
            return await self._methods[waiting.context.method](waiting)

    async def _settled(self, seconds: float) -> None:
        """Wait until the servers are connected, but not for one that hangs."""
        left = max(self._begun + seconds - asyncio.get_running_loop().time(), 0)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._bench.wait_connected(), left)
        if self._bench.connecting and self._bench.settings.discovery.auto != _ALWAYS:
            # What comes later has to be found: some clients never list again.
            self._bench.change_setting("discovery.auto", _ALWAYS)

    async def _list(self, _waiting: Waiting) -> JsonObject:
        listed = self._listed = self._entries()
        if listed != self._told:
            self._told = listed
            every = [entry(tool, self._names) for tool in self._bench.catalog.tools]
            listed_tokens, all_tokens = await asyncio.to_thread(self._tokens, listed, every)
            self._bench.note(ClientListed(len(listed), listed_tokens, len(every), all_tokens))
        return {"tools": listed}

    def _tokens(self, *lists: list[JsonObject]) -> list[int]:
        """The tokens of lists of tools as they are sent; that takes a moment."""
        count = self._bench.accounting.meter.text
        return [sum(count(compact(entry)) for entry in each) for each in lists]

    def _entries(self) -> list[JsonObject]:
        listed = entries(self._bench.next_request(), self._bench.catalog.tools, self._names)
        if not listed and self._bench.connecting and self._bench.settings.discovery.enabled:
            return [own_entry(one["function"]) for one in (search_tools_definition(""), CALL_FOUND)]
        return listed

    async def _call(self, waiting: Waiting) -> JsonObject:
        params = as_object(waiting.context.params)
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            raise MCPError(INVALID_PARAMS, "tools/call takes a name and an object of arguments")
        self.called.append(name)
        call = ToolCall(f"client-{len(self.called)}", name, arguments)
        waiting.server = self._server_of(call)
        answer = await self._bench.answer(call)
        if isinstance(answer.error, CapabilityMissing):
            # Only the client can mend that.
            raise answer.error
        if name == SEARCH_TOOLS and (connecting := self._bench.connecting):
            late = f"{', '.join(connecting)} {plural(len(connecting), 'has', 'have')} not connected yet"
            answer = replace(answer, text=paragraphs(answer.text, f"{late}: search again in a moment."))
        return result_of(answer)

    def _server_of(self, call: ToolCall) -> str:
        """The server that a call goes to, "" for none: `call_tool` names it in its arguments."""
        named = as_text(call.arguments.get("name"))
        found = self._bench.catalog.named(call.name) or self._bench.catalog.named(named)
        return found[0].server if len(found) == 1 else ""

    def _on_record(self, record: Record) -> None:
        if isinstance(record.event, _CHANGES) and self._listed is not None and not self._is_looking:
            # Many events come at once.
            self._is_looking = True
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        """Tell the clients if they would be listed something else now."""
        self._is_looking = False
        if self._listed is not None and self._entries() != self._listed:
            self._listed = None
            self._news.tools_changed()


def result_of(answer: Answer) -> JsonObject:
    """The result of `tools/call`: the server's own, unchanged, with what Toolsight has to say around it."""
    result = answer.result
    if result is None or result.raw is None:
        return {"content": [_text(answer.said)], **({"isError": True} if answer.failed else {})}
    if answer.said == result.text:
        return result.raw
    before, _, after = answer.said.partition(result.text)
    content = result.raw.get("content")
    own: list[Any] = content if isinstance(content, list) else []
    notes = [[_text(note.strip())] if note.strip() else [] for note in (before, after)]
    return {**result.raw, "content": [*notes[0], *own, *notes[1]]}


def _text(text: str) -> JsonObject:
    return types.TextContent(type="text", text=text).model_dump(exclude_none=True)

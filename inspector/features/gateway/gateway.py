"""Answers a client as one MCP server: with Toolsight's own tools, the bound ones, and what servers have."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from mcp import MCPError, types
from mcp.server.context import CallNext, HandlerResult
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from mcp.types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from inspector.core.events import CallProgress, CatalogBuilt, Record, ToolEvicted, ToolLoaded
from inspector.core.message import ToolCall
from inspector.core.tool import server_of
from inspector.features.gateway.asking import ClientElicitor, Context, WaitingCall
from inspector.features.gateway.entries import Names, entries
from inspector.features.gateway.offers import ServerOffers
from inspector.schema.json_value import JsonObject, as_object, as_text
from inspector.session.workbench import Workbench
from inspector.tokens.synthetic import Answer

# Seconds that a list or a search waits for servers that are connecting; a list that changes later is told.
WAITS = 20.0
# What results of 2026-07-28 have to have: a list is asked for anew each time, as it may have changed.
_ENVELOPE, _UNCACHED = {"resultType": "complete"}, {"ttlMs": 0, "cacheScope": "private"}
_CACHED = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}
)
_CHANGES = (CatalogBuilt, ToolLoaded, ToolEvicted)


class Gateway:
    """One session of the workbench, for the clients that are connected to it."""

    def __init__(self, bench: Workbench, elicitor: ClientElicitor, bus: InMemorySubscriptionBus) -> None:
        self._bench = bench
        self._elicitor = elicitor
        self._bus = bus
        self.names = Names([spec.name for spec in bench.configuration.servers])
        self._offers = ServerOffers(bench, self.names)
        self._listed: list[JsonObject] = []
        self._clients: dict[int, ServerSession] = {}
        self._calls = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_looking = False
        bench.subscribe(self._on_record)

    async def answer(self, context: Context, call_next: CallNext) -> HandlerResult:
        """Answer a request of a client; what is not the gateway's own goes on to the SDK."""
        own: Mapping[str, Callable[[Context], Awaitable[JsonObject]]] = {
            "tools/list": self._list,
            "tools/call": self._call,
            **self._offers.methods,
        }
        method = own.get(context.method)
        if method is None or context.request_id is None:
            return await call_next(context)
        self._clients[id(context.session.client_params)] = context.session
        await self._settled()
        result = dict(await method(context))
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            result = {**_ENVELOPE, **(_UNCACHED if context.method in _CACHED else {}), **result}
        return result

    async def _list(self, context: Context) -> JsonObject:  # noqa: ARG002 - every client gets the same list
        self._listed = self._entries()
        return {"tools": self._listed}

    def _entries(self) -> list[JsonObject]:
        return entries(self._bench.next_request(), self._bench.catalog.tools, self.names)

    async def _settled(self) -> None:
        """Wait until the servers are connected, but not for one that hangs."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._bench.wait_connected(), WAITS)

    async def _call(self, context: Context) -> JsonObject:
        params = as_object(context.params)
        waiting = self._elicitor.asked(params.get("requestState"))
        if waiting is not None:
            waiting.resume(context)
        else:
            waiting = self._begun(context, params)
        outcome = await waiting.outcome()
        return result_of(outcome) if isinstance(outcome, Answer) else outcome

    def _begun(self, context: Context, params: JsonObject) -> WaitingCall:
        """The call of a client, on its way. Raises MCPError for what is no call."""
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            raise MCPError(INVALID_PARAMS, "tools/call takes a name and an object of arguments")
        self._calls += 1
        call = ToolCall(f"client-{self._calls}", name, arguments)
        waiting = WaitingCall(self._server_of(call), context)

        async def answered() -> Answer:
            with self._elicitor.waits(waiting):
                return await self._bench.answer(call)

        waiting.work = asyncio.create_task(answered())
        return waiting

    def _server_of(self, call: ToolCall) -> str:
        """The server that a call goes to, "" for none: `call_tool` names it in its arguments."""
        named = as_text(call.arguments.get("name"))
        found = self._bench.catalog.named(call.name) or self._bench.catalog.named(named)
        return found[0].server if len(found) == 1 else ""

    def _on_record(self, record: Record) -> None:
        event = record.event
        if isinstance(event, CallProgress):
            for context in self._elicitor.contexts(server_of(event.tool)):
                report = context.session.report_progress(event.progress, event.total, event.message or None)
                self._run(report)
        elif isinstance(event, _CHANGES) and self._listed and not self._is_looking:
            # Many events come at once.
            self._is_looking = True
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        """Tell the clients if they would be listed something else now."""
        self._is_looking = False
        if self._entries() != self._listed:
            self._listed = []
            self._run(self._tell_changed())

    async def _tell_changed(self) -> None:
        await self._bus.publish(ToolsListChanged())
        for key, session in list(self._clients.items()):
            if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
                continue
            try:
                await session.send_tool_list_changed()
            except Exception:
                # The client is gone.
                self._clients.pop(key, None)

    def _run(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(_quiet(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _quiet(work: Awaitable[None]) -> None:
    """News for a client that is gone is for nobody."""
    with suppress(MCPError, OSError, RuntimeError):
        await work


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

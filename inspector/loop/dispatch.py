"""Handles a model's tool calls: searches, rejects them, or sends them to their servers."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from inspector.core.breaker import failure_of
from inspector.core.definition import definition_hash
from inspector.core.error import CircuitOpen, ToolsightError
from inspector.core.events import ToolSubstituted
from inspector.core.message import ToolCall, ToolResult
from inspector.core.session import Binding
from inspector.core.setting_problem import refusal
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.approval import Approvals
from inspector.loop.binding.binder import Binder
from inspector.loop.fallback import Fallbacks, Substitute
from inspector.loop.guards.iteration import Outcome
from inspector.loop.guards.watch import LoopWatch
from inspector.loop.rejection import Dispatched, Rejections
from inspector.loop.search_tools import SearchTools
from inspector.reliability.performing import Performer, ToolCaller, error_text
from inspector.reliability.restarting import Restarts
from inspector.schema.json_value import JsonObject
from inspector.tokens.manifest import CALL_TOOL

# Answers a call with another tool where its own is not available, and says so.

Guarded = Callable[[Tool, JsonObject, ToolResult], str]
"""Counts a call for the iteration guard, and returns its guidance."""


class Substitution:
    """Calls substitutes as any other tool is called: approved, counted, and with events of their own."""

    def __init__(
        self,
        session: Session,
        *,
        fallbacks: Fallbacks,
        binder: Binder,
        approvals: Approvals,
        performer: Performer,
        guarded: Guarded,
    ) -> None:
        self._session = session
        self._fallbacks = fallbacks
        self._binder = binder
        self._approvals = approvals
        self._performer = performer
        self._guarded = guarded

    async def instead(self, call: ToolCall, tool: Tool, why: str) -> Dispatched | None:
        """The answer of the first substitute that gives one; None if there is none."""
        tried = 0
        for substitute in await self._fallbacks.find(tool, call.arguments):
            if tried == self._fallbacks.most:
                return None
            if not await self._is_allowed(substitute):
                continue
            tried += 1
            result = await self._call(call, tool, substitute, why)
            if result is not None:
                text = f"{_note(tool, substitute, why)}\n\n{result.text}"
                guidance = self._guarded(substitute.tool, substitute.arguments, result)
                return Dispatched(f"{text}{guidance}", bool(guidance), failed=result.is_error)
        return None

    async def _is_allowed(self, substitute: Substitute) -> bool:
        """Whether the user allows it, and it is still what they allowed."""
        if not await self._approvals.allows(substitute.tool, substitute.arguments):
            return False
        now = self._binder.catalog.get(substitute.tool.id)
        return now is not None and definition_hash(now) == definition_hash(substitute.tool)

    async def _call(self, call: ToolCall, tool: Tool, substitute: Substitute, why: str) -> ToolResult | None:
        self._session.emit(
            ToolSubstituted(
                call_id=call.id,
                instead_of=tool.id,
                tool=substitute.tool.id,
                mapping=substitute.mapping,
                similarity=substitute.similarity,
                why=why,
            )
        )
        try:
            return await self._performer.perform(call.id, substitute.tool, substitute.arguments, by="model")
        except ToolsightError:
            # Its failure is in the stream; the next one is tried.
            return None


def _note(tool: Tool, substitute: Substitute, why: str) -> str:
    """The note to the model before the answer."""
    renamed = {name: other for name, other in substitute.mapping.items() if name != other}
    given = f", with {', '.join(f'{name} as {other}' for name, other in renamed.items())}" if renamed else ""
    return f"[{tool.id} is not available: {why}. {substitute.tool.id} answered instead{given}.]"


# The proxy through which found tools are called where the `tools` array never changes.


def unwrapped(call: ToolCall) -> ToolCall:
    """The call inside a `call_tool` call; models write its arguments as an object, as JSON, or flat."""
    if call.name != CALL_TOOL or call.error:
        return call
    name, given = str(call.arguments.get("name", "")), call.arguments.get("arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except ValueError as error:
            return replace(call, name=name, error=f"{CALL_TOOL}: arguments is not valid JSON: {error}")
    if given is None:
        given = {key: value for key, value in call.arguments.items() if key not in ("name", "arguments")}
    if not isinstance(given, Mapping):
        return replace(call, name=name, error=f"{CALL_TOOL}: arguments must be an object")
    return replace(call, name=name, arguments=given)


class Dispatcher:
    """Turns a model's call into the text it reads. Never raises because of what a model or server does."""

    def __init__(
        self,
        session: Session,
        *,
        binder: Binder,
        caller: ToolCaller,
        performer: Performer,
        restarts: Restarts,
        approvals: Approvals,
        watch: LoopWatch,
        search: SearchTools,
        rejections: Rejections,
        fallbacks: Fallbacks,
    ) -> None:
        self._session = session
        self._binder = binder
        self._caller = caller
        self._performer = performer
        self._restarts = restarts
        self._approvals = approvals
        self._watch = watch
        self._search = search
        self._rejections = rejections
        self._fallbacks = fallbacks
        self._substitution = Substitution(
            session,
            fallbacks=fallbacks,
            binder=binder,
            approvals=approvals,
            performer=performer,
            guarded=self._guarded,
        )

    def search(self, calls: Sequence[ToolCall]) -> Mapping[int, Dispatched]:
        """Run the searches among the calls of a reply; return what came of each, by its position.

        They run before the other calls, together, so that none takes the room of another: see `binding.room`.
        """
        calls = [unwrapped(call) for call in calls]
        searches = {
            position: call
            for position, call in enumerate(calls)
            if call.name == self._search.name and not call.error and self._session.state.has_search
        }
        if not searches:
            return {}
        others = [self._resolve(call.name) for call in calls if call.name != self._search.name]
        done = self._search.execute(
            [call.arguments for call in searches.values()], {tool.id for tool in others if tool is not None}
        )
        return {
            position: Dispatched(one.text, one.is_loop, definitions=one.definitions)
            for position, one in zip(searches, done, strict=True)
        }

    async def dispatch(self, call: ToolCall, offered: Collection[str]) -> Dispatched:
        """Handle a call that is no search and return the text for the model.

        `offered` holds the tools of the request that the call answers. They can be called even if an earlier
        call of the same reply unloaded them: the guard never blocks (paper, section 7.1).
        """
        call = unwrapped(call)
        if call.error:
            text = f"The arguments could not be read: {call.error}"
            return self._rejections.reject(call, "unreadable arguments", text)
        tool = self._resolve(call.name)
        if tool is None:
            found = await self._brought_back(call)
            if isinstance(found, Dispatched):
                return found
            tool = found
        if refused := refusal(self._session.state.problems):
            return self._rejections.reject(call, "settings", refused, (tool.id,))
        if unmet := self._binder.unmet_of(tool.id):
            text = f"{tool.id} cannot be used yet: {'; '.join(unmet)} does not hold."
            return self._rejections.reject(call, "precondition not met", text, (tool.id,))
        binding = self._session.state.tools[tool.id].binding
        if not binding.is_bound and tool.id not in offered:
            return self._rejections.unbound(call, tool, binding)
        return await self._ask_and_call(call, tool)

    async def _ask_and_call(self, call: ToolCall, tool: Tool) -> Dispatched:
        """Call the tool if the user allows it as it is when they have answered, which may take long.

        Nobody is asked about a call that a circuit breaker would refuse.
        """
        try:
            self._performer.breakers.check(tool)
        except CircuitOpen as error:
            return await self._refuse(call, tool, error)
        while await self._approvals.allows(tool, call.arguments):
            self._caller.catch_up()
            now = self._binder.catalog.get(tool.id)
            if now is None:
                return self._rejections.missing(call)
            if now is tool or definition_hash(now) == definition_hash(tool):
                return await self._call_and_guard(call, now)
            tool = now
        return self._rejections.reject(call, "refused", f"The user refused the call to {tool.id}.")

    async def _call_and_guard(self, call: ToolCall, tool: Tool) -> Dispatched:
        self._fallbacks.remember()
        try:
            result = await self._performer.perform(call.id, tool, call.arguments, by="model")
        except CircuitOpen as error:
            return await self._refuse(call, tool, error)
        except ToolsightError as error:
            result = ToolResult(f"Error: {error_text(error)}", is_error=True)
            guidance = self._guarded(tool, call.arguments, result)
            if failure_of(error).is_transient:
                done = await self._substitution.instead(call, tool, failure_of(error).words)
                if done is not None:
                    return replace(
                        done, text=f"{done.text}{guidance}", is_loop=done.is_loop or bool(guidance)
                    )
        else:
            guidance = self._guarded(tool, call.arguments, result)
        return Dispatched(f"{result.text}{guidance}", bool(guidance), failed=result.is_error)

    def _guarded(self, tool: Tool, arguments: JsonObject, result: ToolResult) -> str:
        """The guidance that the iteration guard adds to a result; it evicts only after the call."""
        state = self._session.state.tools.get(tool.id)
        outcome = Outcome(
            result.text,
            changes=not result.is_error and not tool.annotations.read_only,
            evictable=state is not None and state.binding is Binding.LOADED,
            can_search=self._session.state.has_search,
            alternatives=lambda: self._search.alternatives(tool.id),
        )
        loop = self._watch.note(tool.id, arguments, outcome)
        if loop is None:
            return ""
        self._binder.context.evict(tool.id, "loop", f"loop guard: {loop.count} equal calls")
        return f"\n\n{loop.guidance}"

    async def _refuse(self, call: ToolCall, tool: Tool, error: CircuitOpen) -> Dispatched:
        """Answer a call that a circuit breaker refuses: by a substitute, or with what could be called."""
        done = await self._substitution.instead(call, tool, error.message)
        if done is not None:
            return done
        similar = await self._fallbacks.named(tool)
        others = f" Similar tools that work: {', '.join(similar)}." if similar else ""
        text = f"{tool.id} is not called: {error.message}. {error.hint}{others}"
        return self._rejections.reject(call, "circuit open", text, (tool.id, *similar))

    async def _brought_back(self, call: ToolCall) -> Tool | Dispatched:
        """The tool, if its server had failed and could be started again; or else the answer to the call."""
        away = self._binder.away.named(call.name, self._binder.catalog)
        if away is None or not self._could_call(away):
            return self._rejections.missing(call)
        try:
            if await self._restarts.bring_back(away):
                self._caller.catch_up()
                return self._resolve(call.name) or self._rejections.missing(call)
        except CircuitOpen as error:
            return await self._refuse(call, away, error)
        done = await self._substitution.instead(call, away, self._binder.away.absence(away.server))
        return done or self._rejections.missing(call)

    def _could_call(self, away: Tool) -> bool:
        """Whether only the absence of its server keeps a tool from being called."""
        state = self._session.state
        known = state.known(away.id)
        was_bound = known is not None and known.held_as in (Binding.LOADED, Binding.PINNED)
        return was_bound and not refusal(state.problems) and not self._binder.unmet_of(away.id)

    def _resolve(self, name: str) -> Tool | None:
        named = self._binder.catalog.named(name)
        return named[0] if len(named) == 1 else None

"""Handles a model's tool calls: searches, rejects them, or sends them to their servers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from inspector.domain.closest import closest
from inspector.domain.definition import definition_hash
from inspector.domain.error import ToolsightError
from inspector.domain.events import Actor, CallFinished, CallRejected, CallStarted
from inspector.domain.jsonvalue import JsonObject, compact
from inspector.domain.message import ToolCall, ToolResult
from inspector.domain.session import Binding
from inspector.domain.setting_problem import refusal
from inspector.domain.tool import Tool
from inspector.engine.live import LiveSettings
from inspector.engine.loop.approval import Approvals
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.loop.call_tool import unwrapped
from inspector.engine.loop.guards.iteration import Outcome
from inspector.engine.loop.guards.watch import LoopWatch
from inspector.engine.loop.search_tools import SearchTools
from inspector.engine.ports import Clock
from inspector.engine.session import Session

# How many available tools a rejection lists.
_AVAILABLE = 20


class ToolCaller(Protocol):
    """Sends a call to a connected server; raises ToolsightError. `catch_up` is as in `Connecting`."""

    async def call(self, server: str, tool: str, arguments: JsonObject) -> ToolResult: ...
    def catch_up(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The text the model reads, whether the guard detected a loop, and whether the call failed.

    `definitions` are those that the provider loads with the result.
    """

    text: str
    is_loop: bool = False
    failed: bool = False
    definitions: tuple[JsonObject, ...] = ()


class Dispatcher:
    """Turns a model's call into the text it reads. Never raises because of what a model or server does."""

    def __init__(
        self,
        session: Session,
        *,
        binder: Binder,
        caller: ToolCaller,
        approvals: Approvals,
        watch: LoopWatch,
        search: SearchTools,
        clock: Clock,
        live: LiveSettings,
    ) -> None:
        self._session = session
        self._binder = binder
        self._caller = caller
        self._approvals = approvals
        self._watch = watch
        self._clock = clock
        self._live = live
        self._search = search

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
            return self._reject(call, "unreadable arguments", text)
        tool = self._resolve(call.name)
        if tool is None:
            return self._reject_missing(call)
        if refused := refusal(self._session.state.problems):
            return self._reject(call, "settings", refused, (tool.id,))
        if unmet := self._binder.unmet_of(tool.id):
            text = f"{tool.id} cannot be used yet: {'; '.join(unmet)} does not hold."
            return self._reject(call, "precondition not met", text, (tool.id,))
        binding = self._session.state.tools[tool.id].binding
        if not binding.is_bound and tool.id not in offered:
            return self._reject_unbound(call, tool, binding)
        return await self._ask_and_call(call, tool)

    async def _ask_and_call(self, call: ToolCall, tool: Tool) -> Dispatched:
        """Call the tool if the user allows it as it is when they have answered, which may take long."""
        while await self._approvals.allows(tool, call.arguments):
            self._caller.catch_up()
            now = self._binder.catalog.get(tool.id)
            if now is None:
                return self._reject_missing(call)
            if now is tool or definition_hash(now) == definition_hash(tool):
                return await self._call_and_guard(call, now)
            tool = now
        return self._reject(call, "refused", f"The user refused the call to {tool.id}.")

    async def perform(self, call_id: str, tool: Tool, arguments: JsonObject, *, by: Actor) -> ToolResult:
        """Call a tool on its server and emit its start and finish. Raises ToolsightError."""
        self._session.emit(CallStarted(call_id, tool.id, arguments, by))
        started = self._clock.monotonic()

        def finished(ok: bool, text: str, structured: JsonObject | None = None) -> CallFinished:
            elapsed = (self._clock.monotonic() - started) * 1000
            return CallFinished(
                call_id=call_id, tool=tool.id, ok=ok, text=text, milliseconds=elapsed, structured=structured
            )

        try:
            result = await self._caller.call(tool.server, tool.name, arguments)
        except ToolsightError as error:
            self._session.emit(finished(False, _error_text(error)))
            raise
        except BaseException:
            self._session.emit(finished(False, "cancelled"))
            raise
        self._session.emit(finished(not result.is_error, result.text, result.structured))
        return result

    async def _call_and_guard(self, call: ToolCall, tool: Tool) -> Dispatched:
        try:
            result = await self.perform(call.id, tool, call.arguments, by="model")
        except ToolsightError as error:
            result = ToolResult(f"Error: {_error_text(error)}", is_error=True)
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

    def _resolve(self, name: str) -> Tool | None:
        named = self._binder.catalog.named(name)
        return named[0] if len(named) == 1 else None

    def _reject(self, call: ToolCall, reason: str, text: str, near: tuple[str, ...] = ()) -> Dispatched:
        self._session.emit(
            CallRejected(
                call_id=call.id,
                name=call.name,
                reason=reason,
                text=text,
                arguments=call.arguments,
                closest=near,
            )
        )
        tool = self._resolve(call.name)
        name = tool.id if tool is not None else call.name
        can_search = self._session.state.has_search
        outcome = Outcome(reason, "rejection", evictable=False, can_search=can_search)
        loop = self._watch.note(name, call.arguments, outcome)
        said = text if text.startswith("{") else f"Error: {text}"
        return Dispatched(f"{said}\n\n{loop.guidance}" if loop else said, loop is not None, failed=True)

    def _reject_unknown(self, call: ToolCall) -> Dispatched:
        near = self._binder.catalog.names.closest(call.name)
        if self._is_gated:
            return self._reject(call, "unknown tool", self._not_available(near), near)
        hint = f" Closest matches: {', '.join(near)}." if near else ""
        advice = " Use search_tools to find and load one." if self._session.state.has_search else ""
        text = f"There is no tool '{call.name}'.{hint}{advice}"
        return self._reject(call, "unknown tool", text, near)

    def _reject_missing(self, call: ToolCall) -> Dispatched:
        """The answer to a call of a tool that is not in the catalog: unknown, or its server is away."""
        away = self._binder.away
        tool = away.named(call.name, self._binder.catalog)
        if tool is None:
            return self._reject_unknown(call)
        told = (
            self._not_available((), reason=away.absence(tool.server))
            if self._is_gated
            else away.refusal(tool)
        )
        return self._reject(call, "server away", told, (tool.id,))

    def _reject_unbound(self, call: ToolCall, tool: Tool, binding: Binding) -> Dispatched:
        if self._is_gated:
            near = closest(tool.id, self._session.state.bound_ids)
            return self._reject(call, str(binding), self._not_available(near), near)
        state = "was unloaded" if binding is Binding.EVICTED else "is not loaded"
        advice = " Use search_tools to load it before you call it." if self._session.state.has_search else ""
        text = f"The tool {tool.id} {state}.{advice}"
        return self._reject(call, str(binding), text, (tool.id,))

    @property
    def _is_gated(self) -> bool:
        return self._live.settings.binding.policy == "gate"

    def _not_available(self, near: tuple[str, ...], *, reason: str = "") -> str:
        """The structured error of Tool Attention, section 5.5, with a `reason` that no search can mend."""
        available = self._names(self._session.state.bound_ids[:_AVAILABLE])
        told = {"reason": reason} if reason else {}
        return compact(
            {"error": "tool_not_available", **told, "available": available, "closest": self._names(near)}
        )

    def _names(self, tool_ids: Sequence[str]) -> list[str]:
        """The tools' wire names."""
        tools = (self._binder.catalog.get(tool_id) for tool_id in tool_ids)
        return [tool.wire_name for tool in tools if tool is not None]


def _error_text(error: ToolsightError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message

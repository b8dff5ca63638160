"""One tool call of a model: synthetic, rejected, or sent to its server."""

from collections.abc import Callable, Mapping
from typing import Protocol

from inspector.domain.catalog import Catalog
from inspector.domain.closest import closest
from inspector.domain.error import ToolsightError
from inspector.domain.event import CallFinished, CallRejected, CallStarted, ToolEvicted
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolCall, ToolResult
from inspector.domain.session import Binding
from inspector.domain.tool import Tool
from inspector.engine.chat.approval import Approvals
from inspector.engine.chat.synthetic import SyntheticTool
from inspector.engine.guards.iteration import IterationGuard
from inspector.engine.ports import Clock
from inspector.engine.session import Session


class ToolCaller(Protocol):
    """Sends a call to a connected server; raises ToolsightError."""

    async def call(self, server: str, tool: str, arguments: JsonObject) -> ToolResult: ...


class Dispatcher:
    """Turns a model's call into the text it reads. Never raises for anything a model or server can do."""

    def __init__(
        self,
        session: Session,
        catalog: Callable[[], Catalog],
        caller: ToolCaller,
        approvals: Approvals,
        guard: IterationGuard,
        clock: Clock,
    ) -> None:
        self._session = session
        self._catalog = catalog
        self._caller = caller
        self._approvals = approvals
        self._guard = guard
        self._clock = clock
        self._synthetic: Mapping[str, SyntheticTool] = {}

    def register(self, tool: SyntheticTool) -> None:
        """Handle calls of this name here instead of sending them to a server."""
        self._synthetic = {**self._synthetic, tool.name: tool}

    async def dispatch(self, call: ToolCall) -> str:
        """Deal with a call; the text goes back to the model."""
        if call.error:
            return self._reject(
                call, "unreadable arguments", f"The arguments could not be read: {call.error}"
            )
        synthetic = self._synthetic.get(call.name)
        if synthetic is not None:
            return synthetic.execute(call.arguments)
        tool = self._resolve(call.name)
        if tool is None:
            return self._reject_unknown(call)
        binding = self._session.state.tools[tool.id].binding
        if not binding.is_bound:
            return self._reject_unbound(call, tool, binding)
        if not await self._approvals.allows(tool, call.arguments):
            return self._reject(call, "refused", f"The user refused the call of {tool.id}.")
        return await self._call_and_guard(call, tool)

    async def perform(self, call_id: str, tool: Tool, arguments: JsonObject, *, by: str) -> ToolResult:
        """Call a tool on its server with both events around it. Raises ToolsightError."""
        self._session.emit(CallStarted(call_id, tool.id, arguments, by))
        started = self._clock.monotonic()

        def finished(ok: bool, text: str, structured: JsonObject | None = None) -> CallFinished:
            elapsed = (self._clock.monotonic() - started) * 1000
            return CallFinished(call_id, tool.id, ok, text, elapsed, structured)

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

    async def _call_and_guard(self, call: ToolCall, tool: Tool) -> str:
        try:
            text = (await self.perform(call.id, tool, call.arguments, by="model")).text
        except ToolsightError as error:
            text = f"Error: {_error_text(error)}"
        return f"{text}{self._guarded(tool, call.arguments)}"

    def _guarded(self, tool: Tool, arguments: JsonObject) -> str:
        """What the iteration guard adds to a result; it evicts after the call, never before."""
        state = self._session.state.tools.get(tool.id)
        evictable = state is not None and state.binding is Binding.LOADED
        loop = self._guard.after_call(tool.id, arguments, self._clock.monotonic(), evictable=evictable)
        if loop is None:
            return ""
        self._session.emit(loop)
        if evictable:
            self._session.emit(ToolEvicted(tool.id, f"loop guard: {loop.count} equal calls"))
        return f"\n\n{loop.guidance}"

    def _resolve(self, name: str) -> Tool | None:
        named = self._catalog().named(name)
        return named[0] if len(named) == 1 else None

    def _reject(self, call: ToolCall, reason: str, text: str, near: tuple[str, ...] = ()) -> str:
        self._session.emit(CallRejected(call.id, call.name, reason, text, call.arguments, near))
        return f"Error: {text}"

    def _reject_unknown(self, call: ToolCall) -> str:
        near = closest(call.name, [tool.id for tool in self._catalog().tools])
        hint = f" Closest matches: {', '.join(near)}." if near else ""
        text = f"There is no tool '{call.name}'.{hint} Use search_tools to find and load one."
        return self._reject(call, "unknown tool", text, near)

    def _reject_unbound(self, call: ToolCall, tool: Tool, binding: Binding) -> str:
        state = "was unloaded" if binding is Binding.EVICTED else "is not loaded"
        text = f"The tool {tool.id} {state}. Use search_tools to load it before you call it."
        return self._reject(call, str(binding), text, (tool.id,))


def _error_text(error: ToolsightError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message

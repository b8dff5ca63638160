"""Answers a call with another tool where its own is not available, and says so."""

from collections.abc import Callable

from inspector.domain.definition import definition_hash
from inspector.domain.error import ToolsightError
from inspector.domain.events import ToolSubstituted
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolCall, ToolResult
from inspector.domain.tool import Tool
from inspector.engine.composition.fallback import Fallbacks, Substitute
from inspector.engine.composition.performing import Performer
from inspector.engine.loop.approval import Approvals
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.loop.dispatched import Dispatched
from inspector.engine.session import Session

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

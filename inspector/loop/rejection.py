"""What a model reads of its call, and the calls that are rejected, with why and what to do instead."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.core.error import FailureKind
from inspector.core.events import CallRejected
from inspector.core.message import ToolCall
from inspector.core.session import Binding
from inspector.core.stream import LiveSettings, Session
from inspector.core.text import closest
from inspector.core.tool import Tool
from inspector.loop.binder import Binder
from inspector.loop.iteration_guard import LoopWatch, Outcome
from inspector.schema.json_value import JsonObject, compact
from inspector.tokens.manifest import SEARCH_TOOLS

# How many tools a rejection lists that are available, or have the name that was called.
_AVAILABLE = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model reads of a call: a text and, if the guard detected a loop, its guidance.

    `failure` is why there was no result, `definitions` are those that the provider loads with it.
    """

    text: str
    guidance: str = ""
    failed: bool = False
    failure: FailureKind | None = None
    definitions: tuple[JsonObject, ...] = ()

    @property
    def said(self) -> str:
        """The text with the guidance."""
        return paragraphs(self.text, self.guidance)


def paragraphs(*texts: str) -> str:
    """The texts that say something, a paragraph each."""
    return "\n\n".join(filter(None, texts))


@dataclass(eq=False)
class Rejections:
    """Every rejection is an event, and counts for the iteration guard."""

    session: Session
    binder: Binder
    watch: LoopWatch
    live: LiveSettings

    def reject(self, call: ToolCall, reason: str, text: str, near: tuple[str, ...] = ()) -> Answer:
        """Reject a call with a text for the model; `near` are the ids of tools that it may have meant."""
        self.session.emit(
            CallRejected(
                call_id=call.id,
                name=call.name,
                reason=reason,
                text=text,
                arguments=call.arguments,
                closest=near,
            )
        )
        named = self.binder.catalog.named(call.name)
        name = named[0].id if len(named) == 1 else call.name
        can_search = self.session.state.has_search
        outcome = Outcome(reason, "rejection", evictable=False, can_search=can_search)
        loop = self.watch.note(name, call.arguments, outcome)
        said = text if text.startswith("{") else f"Error: {text}"
        return Answer(said, loop.guidance if loop is not None else "", failed=True)

    def missing(self, call: ToolCall) -> Answer:
        """The answer to a call of a tool that is not in the catalog: unknown, or its server is away."""
        away = self.binder.away
        tool = away.named(call.name, self.binder.catalog)
        if tool is None:
            return self._unknown(call)
        told = (
            self._not_available((), reason=away.absence(tool.server))
            if self._is_gated
            else away.refusal(tool)
        )
        return self.reject(call, "server away", told, (tool.id,))

    def unbound(self, call: ToolCall, tool: Tool, binding: Binding) -> Answer:
        """The answer to a call of a tool that the model was not offered."""
        if self._is_gated:
            near = (tool.id, *closest(tool.id, self.session.state.bound_ids))
            why = f"{tool.id} exists, but is not among the tools of this turn"
            return self.reject(call, str(binding), self._not_available(near, reason=why), near)
        state = "was unloaded" if binding is Binding.EVICTED else "is not loaded"
        advice = " Use search_tools to load it before you call it." if self.session.state.has_search else ""
        text = f"The tool {tool.id} {state}.{advice}"
        return self.reject(call, str(binding), text, (tool.id,))

    def _unknown(self, call: ToolCall) -> Answer:
        several = tuple(tool.id for tool in self.binder.catalog.named(call.name)[:_AVAILABLE])
        near = several or self.binder.catalog.names.closest(call.name)
        if self._is_gated:
            return self.reject(call, "unknown tool", self._not_available(near), near)
        hint = f" Closest matches: {', '.join(near)}." if near else ""
        advice = " Use search_tools to find and load one." if self.session.state.has_search else ""
        text = f"There is no tool '{call.name}'.{hint}{advice}"
        if several:
            text = f"Several tools are called '{call.name}': {', '.join(several)}.{advice}"
        if call.name == SEARCH_TOOLS and self.session.state.decision:
            text = f"There is no search: discovery is {self.session.state.decision}."
        return self.reject(call, "unknown tool", text, near)

    @property
    def _is_gated(self) -> bool:
        return self.live.settings.binding.policy == "gate"

    def _not_available(self, near: tuple[str, ...], *, reason: str = "") -> str:
        """The structured error of Tool Attention, section 5.5, with a `reason` where one is known."""
        available = self._names(self.session.state.bound_ids[:_AVAILABLE])
        told = {"reason": reason} if reason else {}
        return compact(
            {"error": "tool_not_available", **told, "available": available, "closest": self._names(near)}
        )

    def _names(self, tool_ids: Sequence[str]) -> list[str]:
        """The tools' wire names."""
        tools = (self.binder.catalog.get(tool_id) for tool_id in tool_ids)
        return [tool.wire_name for tool in tools if tool is not None]

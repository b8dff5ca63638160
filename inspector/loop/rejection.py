"""What a model reads of its call, and the calls that are rejected, with why and what to do instead."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.core.events import CallRejected
from inspector.core.message import ToolCall
from inspector.core.session import Binding
from inspector.core.stream import LiveSettings, Session
from inspector.core.text import closest
from inspector.core.tool import Tool
from inspector.loop.binder import Binder
from inspector.loop.iteration_guard import LoopWatch, Outcome
from inspector.schema.json_value import JsonObject, compact
from inspector.tokens.synthetic import SYNTHETIC, Answer

# How many tools a rejection lists that are available, or have the name that was called.
_AVAILABLE = 20


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
        near = several or closest(call.name, self.binder.catalog.by_id)
        if self._is_gated:
            return self.reject(call, "unknown tool", self._not_available(near), near)
        hint = f" Closest matches: {', '.join(near)}." if near else ""
        advice = " Use search_tools to find and load one." if self.session.state.has_search else ""
        text = f"There is no tool '{call.name}'.{hint}{advice}"
        if several:
            text = f"Several tools are called '{call.name}': {', '.join(several)}.{advice}"
        own = SYNTHETIC.get(call.name)
        absence = own.absence(self.session.state) if own is not None else ""
        return self.reject(call, "unknown tool", absence or text, near)

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


# An answer is understood as calls only if it is nothing else: one JSON object or list, bare or in one code
# fence, or objects in `<tool_call>` tags, perhaps after a `<think>` block. What stands in a longer answer is
# quoted, and every call has to name a tool that the request offered.

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_THINK, _THOUGHT = "<think>", "</think>"
_FENCED = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)
_ARGUMENTS = frozenset({"arguments", "parameters"})
_FIELDS = frozenset({"name", "type", *_ARGUMENTS})
# `str.strip` also takes what JSON does not allow around a value.
_SPACE = " \t\r\n"


def written_calls(text: str, names: Collection[str]) -> tuple[tuple[str, JsonObject], ...]:
    """The name and the arguments of each call that an answer consists of; empty if it is an answer.

    `names` are the tools that the request offered; one other name, and nothing is a call.
    """
    try:
        entries = list(_entries(_after_thought(text.strip(_SPACE))))
    except (ValueError, RecursionError):
        return ()
    calls = [_call(entry, names) for entry in entries]
    return tuple(call for call in calls if call is not None) if None not in calls else ()


def _after_thought(text: str) -> str:
    thought, closed, rest = text.partition(_THOUGHT)
    return rest.strip(_SPACE) if closed and thought.startswith(_THINK) else text


def _entries(text: str) -> Iterator[Any]:
    """The JSON values that may be calls. Raises ValueError if the text holds anything else."""
    if text.startswith(_OPEN):
        yield from _tagged(text)
        return
    value = json.loads(_unfenced(text))
    yield from value if isinstance(value, list) else (value,)


def _tagged(text: str) -> Iterator[Any]:
    """Read each value as JSON, so that a tag within one of its strings ends nothing."""
    while text:
        if not text.startswith(_OPEN):
            raise ValueError("text beside the calls")
        value, end = json.JSONDecoder().raw_decode(inner := text.removeprefix(_OPEN).lstrip(_SPACE))
        rest = inner[end:].lstrip(_SPACE)
        if not rest.startswith(_CLOSE):
            raise ValueError("a call that does not end")
        yield value
        text = rest.removeprefix(_CLOSE).lstrip(_SPACE)


def _unfenced(text: str) -> str:
    """The content of the one code fence that the text consists of; other text as it is."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def _call(entry: Any, names: Collection[str]) -> tuple[str, JsonObject] | None:
    if (
        not isinstance(entry, dict)
        or not entry.keys() <= _FIELDS
        or entry.get("type", "function") != "function"
    ):
        return None
    name, given = entry.get("name"), [entry[field] for field in _ARGUMENTS if field in entry]
    if len(given) != 1 or not isinstance(given[0], dict) or not isinstance(name, str) or name not in names:
        return None
    return name, given[0]

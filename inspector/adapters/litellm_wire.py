"""Between Toolsight's messages and the chat-completions wire form, both ways."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from inspector.domain.jsonvalue import compact
from inspector.domain.message import (
    AssistantMessage,
    Message,
    ModelRequest,
    ToolCall,
    ToolMessage,
    Usage,
)


def wire_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """The system prompt and the conversation, as chat-completions messages."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    return [*system, *map(_wire_message, request.messages)]


def _wire_message(message: Message) -> dict[str, Any]:
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.call_id, "content": _sendable(message.text)}
    if isinstance(message, AssistantMessage):
        wire: dict[str, Any] = {"role": "assistant", "content": _sendable(message.text) or None}
        if message.tool_calls:
            wire["tool_calls"] = [_wire_call(call) for call in message.tool_calls]
        return wire
    return {"role": "user", "content": _sendable(message.text)}


def _wire_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": compact(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _sendable(text: str) -> str:
    """HTTP bodies are UTF-8, which lone surrogates are not."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Assembly:
    """Puts a streamed reply together. Providers leave out indexes and split arguments anywhere."""

    text: str = ""
    usage: Usage = Usage()
    finish_reason: str = ""
    _calls: dict[int, _Call] = field(default_factory=dict)

    def add(self, chunk: Any) -> str:
        """Take one chunk; returns the text that it added."""
        if (usage := getattr(chunk, "usage", None)) is not None:
            self.usage = read_usage(usage)
        added = ""
        for choice in getattr(chunk, "choices", None) or ():
            self.finish_reason = choice.finish_reason or self.finish_reason
            delta = choice.delta
            added += getattr(delta, "content", None) or ""
            self._add_calls(getattr(delta, "tool_calls", None) or ())
        self.text += added
        return added

    @property
    def is_empty(self) -> bool:
        return not (self.text or self._calls)

    def add_whole(self, response: Any) -> None:
        """Take an answer that was not streamed."""
        self.usage = read_usage(getattr(response, "usage", None))
        choice = response.choices[0]
        self.text = choice.message.content or ""
        self.finish_reason = choice.finish_reason or ""
        self._add_calls(choice.message.tool_calls or ())

    def _add_calls(self, fragments: Iterable[Any]) -> None:
        for fragment in fragments:
            call = self._calls.setdefault(self._position(fragment), _Call())
            call.id = call.id or fragment.id or ""
            call.name = call.name or fragment.function.name or ""
            call.arguments += fragment.function.arguments or ""

    def _position(self, fragment: Any) -> int:
        """The call a fragment belongs to: its index, else a new one for a new id, else the last one."""
        index = getattr(fragment, "index", None)
        if isinstance(index, int):
            return index
        last = max(self._calls, default=-1)
        new = fragment.id and all(fragment.id != call.id for call in self._calls.values())
        return last + 1 if new or last < 0 else last

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The finished calls in order; arguments that are no JSON object carry the reason."""
        return tuple(
            read_call(call.id or f"call_{index}", call.name, call.arguments)
            for index, call in sorted(self._calls.items())
        )


def read_call(call_id: str, name: str, arguments: str) -> ToolCall:
    """A call with its argument string parsed; an empty string means no arguments."""
    try:
        parsed = json.loads(arguments) if arguments.strip() else {}
    except ValueError as error:
        return ToolCall(call_id, name, {}, error=f"not JSON ({error})")
    if not isinstance(parsed, dict):
        return ToolCall(call_id, name, {}, error=f"not a JSON object but {type(parsed).__name__}")
    return ToolCall(call_id, name, parsed)


def read_usage(usage: Any) -> Usage:
    """What the provider reports, None where it does not."""
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        input_tokens=getattr(usage, "prompt_tokens", None),
        output_tokens=getattr(usage, "completion_tokens", None),
        cached_tokens=getattr(details, "cached_tokens", None),
    )

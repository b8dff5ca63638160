"""Requests with what only Claude takes: marks for its prompt cache, deferred definitions and references.

Marks are `cache_control` entries. A deferred tool is declared with `defer_loading` and may carry no mark. The
result of a search holds `tool_reference` blocks and nothing else, as Claude's API wants it; what else it says
follows the results as text. Source: Anthropic's documentation, Prompt caching and Tool search tool.
"""

from collections.abc import Mapping
from typing import Any

from inspector.domain.breakpoint import Breakpoints
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ModelRequest, ToolMessage
from inspector.domain.wire import text_with, wire_message, wire_system

BETA_HEADER = {"anthropic-beta": "advanced-tool-use-2025-11-20"}
"""Tool search went without a header later, but endpoints that want it refuse requests without."""
_NONE = Breakpoints()


def marked_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """The system prompt and the conversation; a plain request's are those of `domain.wire`."""
    marks = request.breakpoints or _NONE
    deferred = {entry["function"]["name"]: entry for entry in request.deferred}
    sent = [wire_system(request.system)] if request.system else []
    if sent and marks.system:
        sent = [_marked(sent[0], marks)]
    beside: list[str] = []
    last = len(request.messages) - 1
    for index, message in enumerate(request.messages):
        wire, text = wire_message(message), ""
        if isinstance(message, ToolMessage) and message.definitions:
            wire, text = _referenced(message, deferred)
        sent.append(wire)
        beside += [text] if text else []
        # Claude wants the results of all calls before any text.
        if beside and (index == last or not isinstance(request.messages[index + 1], ToolMessage)):
            sent.append({"role": "user", "content": "\n\n".join(beside)})
            beside = []
        if index in marks.messages:
            sent[-1] = _marked(sent[-1], marks)
    return sent


def marked_tools(request: ModelRequest) -> list[dict[str, Any]]:
    """The `tools` array with its marks, then the deferred definitions."""
    marks = request.breakpoints or _NONE
    tools = [
        {**entry, "cache_control": _control(marks)} if index in marks.tools else entry
        for index, entry in enumerate(request.tools)
    ]
    return [*tools, *({**entry, "defer_loading": True} for entry in request.deferred)]


def _referenced(message: ToolMessage, deferred: Mapping[str, JsonObject]) -> tuple[dict[str, Any], str]:
    """A result with references to its definitions, and what remains to be said as text.

    A definition that is not declared as it was found cannot be referenced, so it is part of the text.
    """
    named = [(entry["function"]["name"], entry) for entry in message.definitions]
    names = [name for name, entry in named if deferred.get(name) == entry]
    rest = text_with(message.text, [entry for name, entry in named if name not in names])
    if not names:
        return wire_message(message), ""
    blocks = [{"type": "tool_reference", "tool_name": name} for name in names]
    return {"role": "tool", "tool_call_id": message.call_id, "content": blocks}, rest


def _marked(wire: dict[str, Any], marks: Breakpoints) -> dict[str, Any]:
    """A message with a mark on its last block; an empty one cannot have any."""
    if wire["role"] == "tool":
        return {**wire, "cache_control": _control(marks)}
    text = wire["content"]
    if not text or wire["role"] == "assistant":
        return wire
    return {**wire, "content": [{"type": "text", "text": text, "cache_control": _control(marks)}]}


def _control(marks: Breakpoints) -> dict[str, str]:
    return {"type": "ephemeral"} | ({"ttl": marks.ttl} if marks.ttl != "5m" else {})

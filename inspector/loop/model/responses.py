"""OpenAI's Responses API, which is the only one that takes `tool_search`.

The search runs here (`execution: client`): the model's `tool_search_call` is answered by a
`tool_search_output` with the definitions that were found, marked with `defer_loading`; what else a search
says follows as a developer message. Source: OpenAI's guide, Tool search: client-executed tool search.
"""

from dataclasses import dataclass, field
from typing import Any

from inspector.core.error import ModelError
from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    ToolCall,
    ToolMessage,
    Usage,
)
from inspector.loop.model.wire import read_call, sendable_copy, unique_ids
from inspector.schema.json_value import JsonObject, compact
from inspector.tokens.manifest import SEARCH_TOOLS
from inspector.tokens.wire import text_with, wire_message

Item = dict[str, Any]


def responses_body(request: ModelRequest) -> Item:
    """The part of the request's body that becomes the model's input."""
    items = [item for message in request.messages for item in _items(message)]
    body: Item = {"input": items}
    if request.system:
        body["instructions"] = request.system
    if request.tools:
        body["tools"] = [_tool(entry["function"]) for entry in request.tools]
        if request.think:
            body["tool_choice"] = "none"
    sent: Item = sendable_copy(body)
    return sent


def _tool(function: JsonObject) -> Item:
    if function["name"] == SEARCH_TOOLS:
        about = {"description": function["description"], "parameters": function["parameters"]}
        return {"type": "tool_search", "execution": "client", **about}
    return _function(function)


def _function(function: JsonObject) -> Item:
    # Strict mode, the default, would change schemas or refuse them.
    return {"type": "function", **function, "strict": False}


def _items(message: Message) -> list[Item]:
    if isinstance(message, AssistantMessage):
        said: list[Item] = []
        if message.text:
            said.append({"role": "assistant", "content": message.text})
        return [*said, *map(_call, message.tool_calls)]
    if isinstance(message, ToolMessage):
        return _result(message)
    return [wire_message(message)]


def _call(call: ToolCall) -> Item:
    if call.name == SEARCH_TOOLS:
        return {"type": "tool_search_call", "call_id": call.id, "arguments": call.arguments, **_SEARCHED}
    arguments = compact(call.arguments)
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


_SEARCHED = {"execution": "client", "status": "completed"}


def _result(message: ToolMessage) -> list[Item]:
    if message.name != SEARCH_TOOLS:
        text = text_with(message.text, message.definitions)
        return [{"type": "function_call_output", "call_id": message.call_id, "output": text}]
    tools = [{**_function(entry["function"]), "defer_loading": True} for entry in message.definitions]
    output = {"type": "tool_search_output", "call_id": message.call_id, "tools": tools, **_SEARCHED}
    more = [{"role": "developer", "content": message.text}] if message.text else []
    return [output, *more]


@dataclass(slots=True)
class ResponsesAssembly:
    """Assembles a streamed response from its events."""

    text: str = ""
    usage: Usage = Usage()
    is_complete: bool = False
    _reason: str = ""
    _calls: list[ToolCall] = field(default_factory=list)

    def add(self, event: Any) -> str:
        """Add one event; return the text that it added. Raises ModelError if the provider gave up."""
        match str(getattr(event.type, "value", event.type)):
            case "response.output_text.delta":
                self.text += event.delta
                return str(event.delta)
            case "response.output_item.done":
                self._add_item(event.item)
            case "response.completed" | "response.incomplete":
                self._end(event.response)
            case "response.failed" | "error":
                raise ModelError(_failure(event), hint="Try again, or use another model.")
        return ""

    def reply(self) -> ModelReply:
        """The finished answer."""
        calls = unique_ids(self._calls)
        return ModelReply(self.text, calls, self.usage, self._reason or ("tool_calls" if calls else "stop"))

    def _add_item(self, item: Any) -> None:
        if item.type == "tool_search_call":
            given = item.arguments
            text = given if isinstance(given, str) else compact(dict(given or {}))
            self._calls.append(read_call(item.call_id or "", SEARCH_TOOLS, text))
        elif item.type == "function_call":
            self._calls.append(read_call(item.call_id or "", item.name, item.arguments or ""))

    def _end(self, response: Any) -> None:
        self.is_complete = True
        self.usage = _usage(getattr(response, "usage", None))
        details = getattr(response, "incomplete_details", None)
        if getattr(details, "reason", "") == "max_output_tokens":
            self._reason = "length"


def _usage(usage: Any) -> Usage:
    read = getattr(usage, "input_tokens_details", None)
    made = getattr(usage, "output_tokens_details", None)
    return Usage(
        input_tokens=getattr(usage, "input_tokens", None) or None,
        output_tokens=getattr(usage, "output_tokens", None),
        cached_tokens=getattr(read, "cached_tokens", None),
        reasoning_tokens=getattr(made, "reasoning_tokens", None),
    )


def _failure(event: Any) -> str:
    response = getattr(event, "response", None)
    error = getattr(response, "error", None) or event
    told = error.get("message") if isinstance(error, dict) else getattr(error, "message", None)
    return f"the provider gave up: {told or 'no reason given'}"

"""Requests as they cross the wire, and OpenAI's Responses API, the only one that takes `tool_search`.

The search runs here (`execution: client`): the model's `tool_search_call` is answered by a
`tool_search_output` with the definitions that were found, marked with `defer_loading`; what else a search
says follows as a developer message. Source: OpenAI's guide, Tool search: client-executed tool search.
"""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

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
from inspector.schema.json_value import JsonObject, compact
from inspector.tokens.manifest import SEARCH_TOOLS, sendable, text_with, wire_message


def wire_tools(tools: Sequence[JsonObject]) -> list[Any]:
    """A copy of the `tools` array: for some providers litellm changes the schemas in place."""
    return [sendable_copy(tool) for tool in tools]


def sendable_copy(value: Any) -> Any:
    """A copy of a JSON value without lone surrogates."""
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, Mapping):
        return {sendable_copy(key): sendable_copy(item) for key, item in value.items()}
    return [sendable_copy(item) for item in value] if isinstance(value, list | tuple) else value


class _Call(Struct):
    id: str = ""
    name: str = ""
    arguments: str = ""


class Assembly(Struct):
    """Assembles a streamed reply. Providers leave out indexes and ids, and split arguments anywhere."""

    text: str = ""
    usage: Usage = Usage()
    finish_reason: str = ""
    _calls: list[_Call] = field(default_factory=list)
    _open: dict[int, _Call] = field(default_factory=dict)

    def add(self, chunk: Any) -> str:
        """Add one chunk; return the text that it added."""
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

    def _add_calls(self, fragments: Iterable[Any]) -> None:
        for fragment in fragments:
            call = self._call_of(fragment)
            call.id = call.id or fragment.id or ""
            call.name = call.name or fragment.function.name or ""
            call.arguments += fragment.function.arguments or ""

    def _call_of(self, fragment: Any) -> _Call:
        """The call a fragment belongs to: by its index, else the last call, unless it begins a new one."""
        index = getattr(fragment, "index", None)
        last = self._calls[-1] if self._calls else None
        known = self._open.get(index) if isinstance(index, int) else last
        if known is None or _begins(fragment, known):
            known = _Call()
            self._calls.append(known)
        if isinstance(index, int):
            self._open[index] = known
        return known

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The finished calls in order; a call whose arguments are not a JSON object says why."""
        return unique_ids(read_call(call.id, call.name, call.arguments) for call in self._calls)


def _begins(fragment: Any, known: _Call) -> bool:
    """Whether a fragment begins a new call although its index (0 where litellm fills it in) is taken.

    Normally only a call's first fragment has a name. But some servers repeat the name, or make up an id for
    every fragment, so neither alone is enough.
    """
    name = fragment.function.name
    if not name or not known.name:
        return False
    return bool(name != known.name or not read_call("", "", known.arguments or "?").error)


def unique_ids(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls with a missing or duplicate id replaced, because results refer to their call by id."""
    known: dict[str, ToolCall] = {}
    for call in calls:
        made = call.id if call.id and call.id not in known else f"call_{uuid.uuid4().hex}"
        known[made] = replace(call, id=made)
    return tuple(known.values())


def read_call(call_id: str, name: str, arguments: str) -> ToolCall:
    """Parse a call's argument string; an empty string means no arguments."""
    try:
        parsed = json.loads(arguments, parse_constant=_refuse) if arguments.strip() else {}
    except (ValueError, RecursionError) as error:
        return ToolCall(call_id, name, {}, error=f"not JSON ({error})")
    if not isinstance(parsed, dict):
        return ToolCall(call_id, name, {}, error=f"not a JSON object but {type(parsed).__name__}")
    return ToolCall(call_id, name, parsed)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def is_usage_reported(answer: Any) -> bool:
    """Whether the provider sent a usage with a streamed answer; litellm makes one up if it did not."""
    chunks = getattr(answer, "chunks", None)
    return chunks is None or any(getattr(chunk, "usage", None) is not None for chunk in chunks)


def read_usage(usage: Any) -> Usage:
    """The token counts that the provider reports; None for those it does not."""
    details = getattr(usage, "prompt_tokens_details", None)
    written = getattr(details, "cache_creation_token_details", None)
    made = getattr(usage, "completion_tokens_details", None)
    return Usage(
        # litellm fills a missing count with 0, which no request has.
        input_tokens=getattr(usage, "prompt_tokens", None) or None,
        output_tokens=getattr(usage, "completion_tokens", None),
        cached_tokens=getattr(details, "cached_tokens", None),
        written_tokens=getattr(details, "cache_creation_tokens", None),
        written_hour_tokens=getattr(written, "ephemeral_1h_input_tokens", None),
        reasoning_tokens=getattr(made, "reasoning_tokens", None),
    )


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


class ResponsesAssembly(Struct):
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

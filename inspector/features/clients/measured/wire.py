"""The three APIs that a client may speak to a model: its requests read, and answers of ours written.

Anthropic's Messages, and OpenAI's Chat Completions and Responses; each whole or streamed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from inspector.schema.json_value import JsonObject

Api = Literal["messages", "chat", "responses"]
APIS: Mapping[str, Api] = {
    "/v1/messages": "messages",
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
}
"""By the end of the address. A base address may end in /v1 already, so that counts alone as well."""
Way = Literal["tool", "search", "code", "listed"]
"""What a tool is: an ordinary one, a search, one that runs code, or one that only code can call."""
_USED = {"input_tokens": 1, "output_tokens": 1}


@dataclass(frozen=True, slots=True)
class SentTool:
    """A tool as the model gets it. `at` is its place in the body; a `deferred` one is not to be read yet."""

    name: str
    at: str
    namespace: str = ""
    description: str = ""
    parameters: JsonObject | None = None
    deferred: bool = False
    way: Way = "tool"

    @property
    def full_name(self) -> str:
        """Its name with its namespace, if it has one."""
        return f"{self.namespace}__{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class SentText:
    """A text in front of the model, who says it and its place in the body."""

    role: str
    text: str
    at: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: its parts as they were sent, and the tools that a search found."""

    call: str
    parts: tuple[Any, ...]
    found: tuple[SentTool, ...]
    at: str
    failed: bool = False

    @property
    def text(self) -> str:
        """All its texts."""
        texts = (part if isinstance(part, str) else part.get("text", "") for part in self.parts)
        return "\n".join(filter(None, texts))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of its parts."""
        kinds = ("text" if isinstance(part, str) else str(part.get("type", "")) for part in self.parts)
        return tuple(dict.fromkeys(kinds))


@dataclass(frozen=True, slots=True)
class Heard:
    """One request to the model: its tools, its texts, and what came of earlier calls."""

    api: Api
    model: str
    streamed: bool
    tools: tuple[SentTool, ...] = ()
    texts: tuple[SentText, ...] = ()
    outcomes: tuple[Outcome, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model wants."""

    id: str
    name: str
    arguments: JsonObject
    namespace: str = ""
    way: Way = "tool"


def read(api: Api, body: JsonObject) -> Heard:
    """A request. Raises ValueError for one that is none of this API."""
    try:
        parts: list[Any] = list(_PARTS[api](body))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a request of this API: {error!r}") from error
    chosen: dict[type, list[Any]] = {SentTool: [], SentText: [], Outcome: []}
    for part in parts:
        chosen[type(part)].append(part)
    model, streamed = str(body.get("model", "")), body.get("stream") is True
    return Heard(api, model, streamed, *(tuple(chosen[kind]) for kind in (SentTool, SentText, Outcome)))


def _messages(body: JsonObject) -> Iterator[SentTool | SentText | Outcome]:
    for at, tool in _numbered(body.get("tools"), "tools"):
        schema, deferred = tool.get("input_schema"), tool.get("defer_loading") is True
        yield SentTool(tool["name"], at, "", str(tool.get("description") or ""), schema, deferred)
    system = body.get("system", [])
    yield from _texts("system", system, "system")
    for at, message in _numbered(body["messages"], "messages"):
        yield from _texts(message["role"], message["content"], f"{at}.content")
        for inner, block in _numbered(message["content"], f"{at}.content"):
            if block.get("type") == "tool_result":
                parts = block.get("content", "")
                references = [one for _, one in _numbered(parts, "") if one.get("type") == "tool_reference"]
                found = tuple(SentTool(one["tool_name"], inner) for one in references)
                failed = block.get("is_error") is True
                yield Outcome(block["tool_use_id"], _as_parts(parts), found, inner, failed)


def _chat(body: JsonObject) -> Iterator[SentTool | SentText | Outcome]:
    for at, tool in _numbered(body.get("tools"), "tools"):
        if (function := tool.get("function")) is not None:
            about = str(function.get("description") or "")
            yield SentTool(function["name"], at, "", about, function.get("parameters"))
    for at, message in _numbered(body["messages"], "messages"):
        content = message.get("content") or ""
        if message["role"] == "tool":
            yield Outcome(message["tool_call_id"], _as_parts(content), (), at)
        else:
            yield from _texts(message["role"], content, f"{at}.content")


def _responses(body: JsonObject) -> Iterator[SentTool | SentText | Outcome]:
    yield from _function_tools(body.get("tools"), "tools")
    yield from _texts("instructions", body.get("instructions") or "", "instructions")
    given = body["input"]
    yield from _texts("user", given if isinstance(given, str) else "", "input")
    for at, item in _numbered(given, "input"):
        kind = item.get("type", "message")
        if kind == "message":
            yield from _texts(item["role"], item["content"], f"{at}.content")
        elif kind == "additional_tools":
            yield from _function_tools(item["tools"], f"{at}.tools")
        elif kind == "tool_search_output":
            yield Outcome(item["call_id"], (), tuple(_function_tools(item["tools"], f"{at}.tools")), at)
        elif kind.endswith("_call_output"):
            yield Outcome(item["call_id"], _as_parts(item["output"]), (), at)


_PARTS = {"messages": _messages, "chat": _chat, "responses": _responses}


def _function_tools(tools: Any, at: str, namespace: str = "") -> Iterator[SentTool]:
    """The tools of OpenAI's Responses; a namespace has tools of its own, and none where it only stands."""
    for inner, tool in _numbered(tools, at):
        kind, name = tool["type"], tool.get("name", "")
        about = str(tool.get("description") or "")
        if kind == "namespace":
            yield SentTool("", inner, name, about)
            yield from _function_tools(tool["tools"], f"{inner}.tools", name)
        elif kind == "tool_search":
            yield SentTool(kind, inner, "", about, tool.get("parameters"), way="search")
        elif kind in ("function", "custom"):
            way: Way = "code" if kind == "custom" and name == "exec" else "tool"
            deferred = tool.get("defer_loading") is True
            yield SentTool(name, inner, namespace, about, tool.get("parameters"), deferred, way)


def _numbered(items: Any, at: str) -> Iterator[tuple[str, Any]]:
    """The objects of a list, each with its place."""
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield f"{at}[{number}]", item


def _texts(role: str, content: Any, at: str) -> Iterator[SentText]:
    if isinstance(content, str):
        if content:
            yield SentText(role, content, at)
        return
    for inner, part in _numbered(content, at):
        if isinstance(part.get("text"), str):
            yield SentText(role, part["text"], inner)


def _as_parts(content: Any) -> tuple[Any, ...]:
    return tuple(content) if isinstance(content, list) else (str(content),)


# Answers. Identifiers carry the number of the request, so that no two answers share one.


def answer(heard: Heard, number: int, calls: tuple[Call, ...], text: str) -> JsonObject:
    """What the model says to the request of that number: the calls, or the text if there are none."""
    return _ANSWERS[heard.api](heard, number, calls, text)


def events(api: Api, whole: JsonObject) -> Iterator[str]:
    """An answer as the events of a stream."""
    for event in _EVENTS[api](whole):
        name = f"event: {event['type']}\n" if api != "chat" else ""
        yield f"{name}data: {json.dumps(event)}\n\n"
    if api == "chat":
        yield "data: [DONE]\n\n"


def _messages_answer(heard: Heard, number: int, calls: tuple[Call, ...], text: str) -> JsonObject:
    used = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments} for one in calls]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": heard.model,
        "content": used or [{"type": "text", "text": text}],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": _USED,
    }


def _messages_events(whole: JsonObject) -> Iterator[JsonObject]:
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty: JsonObject = {"text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            given = json.dumps(block["input"])
            empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": given}
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stopped = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _chat_answer(heard: Heard, number: int, calls: tuple[Call, ...], text: str) -> JsonObject:
    functions = [{"name": one.name, "arguments": json.dumps(one.arguments)} for one in calls]
    wanted = [
        {"id": one.id, "type": "function", "function": function}
        for one, function in zip(calls, functions, strict=True)
    ]
    message = {"role": "assistant", "content": None if calls else text}
    return {
        "id": f"chatcmpl_{number}",
        "object": "chat.completion",
        "created": number,
        "model": heard.model,
        "choices": [
            {
                "index": 0,
                "message": message | ({"tool_calls": wanted} if calls else {}),
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _chat_events(whole: JsonObject) -> Iterator[JsonObject]:
    choice = whole["choices"][0]
    message = dict(choice["message"])
    if "tool_calls" in message:
        message["tool_calls"] = [{"index": at, **one} for at, one in enumerate(message["tool_calls"])]
    chunk = {**whole, "object": "chat.completion.chunk"}
    yield {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}], "usage": None}
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}


def _responses_answer(heard: Heard, number: int, calls: tuple[Call, ...], text: str) -> JsonObject:
    said = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "role": "assistant", "content": [said]}
    items = [_item(one) for one in calls] or [message]
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": number,
        "model": heard.model,
        "status": "completed",
        "output": [
            {"id": f"it_{number}_{at}", "status": "completed", **item} for at, item in enumerate(items)
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            **_USED,
            "total_tokens": 2,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _item(call: Call) -> JsonObject:
    if call.way == "search":
        given = {"execution": "client", "arguments": call.arguments}
        return {"type": "tool_search_call", "call_id": call.id, **given}
    if call.way == "code":
        given = {"name": call.name, "input": call.arguments["code"]}
        return {"type": "custom_tool_call", "call_id": call.id, **given}
    known = {"namespace": call.namespace} if call.namespace else {}
    given = {"name": call.name, "arguments": json.dumps(call.arguments), **known}
    return {"type": "function_call", "call_id": call.id, **given}


def _responses_events(whole: JsonObject) -> Iterator[JsonObject]:
    steps: list[JsonObject] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(whole["output"]):
        steps.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            part = item["content"][0]
            steps.append({"type": "response.content_part.added", "part": {**part, "text": ""}, **place})
            steps.append({"type": "response.output_text.delta", "delta": part["text"], **place})
        steps.append({"type": "response.output_item.done", "output_index": index, "item": item})
    steps.append({"type": "response.completed", "response": whole})
    return ({**step, "sequence_number": at} for at, step in enumerate(steps))


_ANSWERS = {"messages": _messages_answer, "chat": _chat_answer, "responses": _responses_answer}
_EVENTS = {"messages": _messages_events, "chat": _chat_events, "responses": _responses_events}

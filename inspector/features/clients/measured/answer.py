"""Answers of ours in each of the APIs that a client may speak, whole or streamed.

Identifiers carry the number of the request, so that no two answers share one.
"""

import json
from collections.abc import Iterator

from inspector.features.clients.measured.wire import Api, Call, Heard
from inspector.schema.json_value import JsonObject

_USED = {"input_tokens": 1, "output_tokens": 1}


def answer(heard: Heard, number: int, calls: tuple[Call, ...], text: str) -> JsonObject:
    """What the model says to the request of that number: the calls, or the text if there are none."""
    return _ANSWERS[heard.api](heard, number, calls, text)


def events(api: Api, whole: JsonObject) -> Iterator[str]:
    """An answer as the events of a stream."""
    for event in _EVENTS[api](whole):
        name = f"event: {event['type']}\n" if "type" in event else ""
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
    if call.name == "tool_search" and call.way == "search":
        given = {"execution": "client", "arguments": call.arguments}
        return {"type": "tool_search_call", "call_id": call.id, **given}
    if call.is_custom:
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
        begun = {**item, "arguments": ""} if "arguments" in item else item
        steps.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "function_call":
            # Some take a call from these alone.
            said = {"delta": item["arguments"]}, {"arguments": item["arguments"]}
            for end, given in zip(("delta", "done"), said, strict=True):
                steps.append({"type": f"response.function_call_arguments.{end}", **given, **place})
        if item["type"] == "message":
            place["content_index"] = 0
            part = item["content"][0]
            steps.append({"type": "response.content_part.added", "part": {**part, "text": ""}, **place})
            steps.append({"type": "response.output_text.delta", "delta": part["text"], **place})
        steps.append({"type": "response.output_item.done", "output_index": index, "item": item})
    steps.append({"type": "response.completed", "response": whole})
    return ({**step, "sequence_number": at} for at, step in enumerate(steps))


def _gemini_answer(heard: Heard, number: int, calls: tuple[Call, ...], text: str) -> JsonObject:
    wanted = [{"id": one.id, "name": one.name, "args": one.arguments} for one in calls]
    called: list[JsonObject] = [{"functionCall": one} for one in wanted]
    candidate = {
        "content": {"role": "model", "parts": called or [{"text": text}]},
        "finishReason": "STOP",
        "index": 0,
    }
    used = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    named = {"modelVersion": heard.model, "responseId": f"resp_{number}"}
    return {"candidates": [candidate], "usageMetadata": used, **named}


def _gemini_events(whole: JsonObject) -> Iterator[JsonObject]:
    yield whole


_ANSWERS = {
    "messages": _messages_answer,
    "chat": _chat_answer,
    "responses": _responses_answer,
    "gemini": _gemini_answer,
}
_EVENTS = {
    "messages": _messages_events,
    "chat": _chat_events,
    "responses": _responses_events,
    "gemini": _gemini_events,
}

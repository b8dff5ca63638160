"""A request in the form of OpenAI's chat completions API, the one that every token count is taken on.

    {"messages":[{"role":"system",…},{"role":"user",…},…],"tools":[{"type":"function",…},…]}

as compact JSON: what of a request's body becomes the model's input. Providers turn it into a prompt of their
own, with some tokens of framing that nobody publishes; what they report is shown beside what was counted.
"""

from typing import Any

from inspector.domain.jsonvalue import compact
from inspector.domain.message import AssistantMessage, Message, ModelRequest, ToolCall, ToolMessage


def wire_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """The system prompt, if there is any, and the conversation."""
    system = [wire_system(request.system)] if request.system else []
    return [*system, *map(wire_message, request.messages)]


def wire_system(text: str) -> dict[str, Any]:
    """The system prompt as a message."""
    return {"role": "system", "content": sendable(text)}


def wire_message(message: Message) -> dict[str, Any]:
    """One message of the conversation."""
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.call_id, "content": sendable(message.text)}
    if isinstance(message, AssistantMessage):
        text = sendable(message.text)
        if not message.tool_calls:
            return {"role": "assistant", "content": text}
        calls = [_wire_call(call) for call in message.tool_calls]
        return {"role": "assistant", "content": text or None, "tool_calls": calls}
    return {"role": "user", "content": sendable(message.text)}


def _wire_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": sendable(compact(call.arguments))}
    return {"id": call.id, "type": "function", "function": function}


def sendable(text: str) -> str:
    """HTTP bodies are UTF-8, which lone surrogates are not."""
    return text.encode("utf-8", "replace").decode("utf-8")

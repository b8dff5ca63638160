"""A request in the format of OpenAI's chat completions API, on which all tokens are counted.

    {"messages":[{"role":"system",…},{"role":"user",…},…],"tools":[{"type":"function",…},…]}

as compact JSON: the part of the request body that becomes the model's input. Providers turn it into their own
prompt and add unpublished framing tokens, so their reported counts are shown next to the counted ones. A
definition that a provider loads with a result counts there, as the text that it becomes.
"""

from collections.abc import Sequence
from typing import Any

from inspector.core.message import AssistantMessage, Message, ToolCall, ToolMessage
from inspector.schema.json_value import JsonObject, compact


def wire_system(text: str) -> dict[str, Any]:
    """The system prompt as a message."""
    return {"role": "system", "content": sendable(text)}


def wire_message(message: Message) -> dict[str, Any]:
    """One message of the conversation."""
    if isinstance(message, ToolMessage):
        return {
            "role": "tool",
            "tool_call_id": message.call_id,
            "content": sendable(text_with(message.text, message.definitions)),
        }
    if isinstance(message, AssistantMessage):
        text = sendable(message.text)
        if not message.tool_calls:
            return {"role": "assistant", "content": text}
        calls = [_wire_call(call) for call in message.tool_calls]
        # A call without text has no content at all: clients leave out a null.
        return {"role": "assistant", **({"content": text} if text else {}), "tool_calls": calls}
    return {"role": "user", "content": sendable(message.text)}


def text_with(text: str, definitions: Sequence[JsonObject]) -> str:
    """What a model reads of a result: its text, then the definitions that come with it, one per line."""
    lines = definition_lines(definitions)
    return f"{text}\n\n{lines}" if text and lines else text or lines


def definition_lines(definitions: Sequence[JsonObject]) -> str:
    """Definitions as text, one per line."""
    return "\n".join(compact(definition["function"]) for definition in definitions)


def _wire_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": sendable(compact(call.arguments))}
    return {"id": call.id, "type": "function", "function": function}


def sendable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and so HTTP bodies cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")

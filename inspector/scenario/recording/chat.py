"""Conversations in the format of OpenAI's chat completions, as many recorders store them."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from inspector.config.problem import Foreign, not_empty, validated
from inspector.mcp.recorded_run import RecordedCall, RecordedMessage
from inspector.scenario.recording.conversation import Conversation, arguments_of, text_of

# Handles a call by name and arguments in its own way, or returns False.
Special = Callable[[Conversation, str, str, dict[str, Any]], bool]


class _Function(Foreign):
    name: Annotated[str, AfterValidator(not_empty), Field(description="Every call needs a function name.")]
    arguments: Any = None


class _Call(Foreign):
    id: str = ""
    function: _Function


class ChatMessage(Foreign):
    """One message; `content` is text, a list of parts, or absent."""

    role: Annotated[str, Field(description="Every message needs a role: system, user, assistant or tool.")]
    content: Any = None
    tool_calls: list[_Call] = Field(default_factory=list)
    tool_call_id: str = ""


def read_chat(
    messages: Sequence[object], place: str, special: Special = lambda *_: False
) -> tuple[RecordedMessage, ...]:
    """Read a list of chat messages; `place` is for errors. Raises ConfigError."""
    conversation = Conversation()
    for number, message in enumerate(messages):
        add_chat(conversation, validated(ChatMessage, message, f"{place}: messages[{number}]"), special)
    return conversation.messages()


def add_chat(conversation: Conversation, message: ChatMessage, special: Special = lambda *_: False) -> None:
    """Add one chat message to a conversation."""
    text = text_of(message.content)
    if message.role == "user":
        conversation.user(text)
    elif message.role == "tool":
        conversation.result(message.tool_call_id, text)
    elif message.role == "assistant":
        conversation.reply()
        conversation.say(text)
        for call in message.tool_calls:
            name, arguments = call.function.name, arguments_of(call.function.arguments)
            if not special(conversation, call.id, name, arguments):
                conversation.call(call.id, RecordedCall(name, arguments))

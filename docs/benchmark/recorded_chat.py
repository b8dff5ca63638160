"""A recorded run put together from chat messages, as published recordings have them."""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import AfterValidator, Field

from inspector.config.problem import Foreign, not_empty, validated
from inspector.features.lab.runs.recording import joined
from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedStep

_FAILURES = ("error", "traceback", "failed")
_LOOKED_AT = 80


class _Reply(Struct):
    """One model call while it is read."""

    texts: list[str] = field(default_factory=list)
    calls: list[RecordedCall] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)


class Conversation:
    """Collects a run. `reply` begins a model call; calls are matched with their results by id."""

    def __init__(self) -> None:
        # What the user said, and the replies to it.
        self._said: list[tuple[str, list[_Reply]]] = []
        # Some recordings reuse ids or have none: a result belongs to the latest call of its id without one.
        self._waiting: defaultdict[str, list[tuple[_Reply, int]]] = defaultdict(list)

    @property
    def _last(self) -> _Reply:
        return self._said[-1][1][-1]

    def user(self, text: str) -> None:
        """Add what the user said. Two messages in a row are one, as the agent reads both at once."""
        if self._said and not self._said[-1][1]:
            text = f"{self._said.pop()[0]}\n\n{text}"
        self._said.append((text, []))

    def reply(self) -> None:
        """Begin a model call."""
        if not self._said:
            self._said.append(("", []))
        self._said[-1][1].append(_Reply())

    def say(self, text: str) -> None:
        """Add text to the model call that began last."""
        if text.strip():
            self._last.texts.append(text)

    def call(self, call_id: str, call: RecordedCall) -> None:
        """Add a call to the model call that began last."""
        self._waiting[call_id].append((self._last, len(self._last.calls)))
        self._last.calls.append(call)

    def search(self, query: str) -> None:
        """Add the agent's own search to the model call that began last."""
        self._last.searches.append(query)

    def result(self, call_id: str, text: str, *, failed: bool | None = None) -> None:
        """Give a call its result; one that belongs to no call is left out."""
        if self._waiting[call_id]:
            reply, place = self._waiting[call_id].pop()
            known = looks_failed(text) if failed is None else failed
            reply.calls[place] = replace(reply.calls[place], result=text, failed=known)

    def messages(self) -> tuple[RecordedMessage, ...]:
        """The run. What was only said before another model call becomes part of the next one."""
        return tuple(
            RecordedMessage(
                text,
                joined(
                    RecordedStep("\n\n".join(one.texts), tuple(one.calls), tuple(one.searches))
                    for one in replies
                ),
            )
            for text, replies in self._said
            if replies
        )


def looks_failed(text: str) -> bool:
    """Whether a result without a flag begins as errors do."""
    start = text[:_LOOKED_AT].lower()
    return any(word in start for word in _FAILURES)


def arguments_of(given: object) -> dict[str, Any]:
    """A call's arguments, as an object or as JSON; text that is neither is kept under `arguments`."""
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError):
            return {"arguments": given}
    return dict(given) if isinstance(given, dict) else {"arguments": given}


def text_of(content: object) -> str:
    """The text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


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

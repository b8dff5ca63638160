"""The conversation as a model receives it."""

import base64
import mimetypes
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from inspector.core.error import ToolsightError
from inspector.core.number import count
from inspector.core.prompt_cache import Breakpoints
from inspector.schema.json_value import JsonObject, compact
from inspector.schema.schema import Deferral


class ToolCall(Struct, frozen=True):
    """A call the model requests. `error` says why `arguments` could not be read, if so."""

    id: str
    name: str
    arguments: JsonObject
    error: str = ""


def answer_texts(text: str, calls: Sequence[ToolCall]) -> tuple[str, ...]:
    """What a model wrote in an answer: its text, and each call as its name and its arguments."""
    return tuple(filter(None, (text, *(f"{call.name}{compact(dict(call.arguments))}" for call in calls))))


class UserMessage(Struct, frozen=True):
    text: str


class AssistantMessage(Struct, frozen=True):
    """What the model said; a `thought` answers a NoteMessage and makes no calls."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    thought: bool = False


class ToolMessage(Struct, frozen=True):
    """A call's result for the model; `failed` if it was an error or never reached its server.

    `left_out` counts the tokens that Toolsight cut from the middle to make room. `definitions` are those that
    a provider loads with the result; for any other provider they are part of its text.
    """

    call_id: str
    name: str
    text: str
    failed: bool = False
    left_out: int = 0
    definitions: tuple[JsonObject, ...] = ()


class NoteMessage(Struct, frozen=True):
    """A note from Toolsight to the model between two model calls; providers receive it as a user message.

    With `exchanges`, it replaces that many exchanges of user and model, to make room. With `offers`, it holds
    definitions of tools for one request and does not stay in the conversation. `tools` are the ids of those
    that it tells of.
    """

    text: str
    exchanges: int = 0
    offers: bool = False
    tools: tuple[str, ...] = ()


Message = UserMessage | AssistantMessage | ToolMessage | NoteMessage


class ModelRequest(Struct, frozen=True):
    """Everything sent in one model call. `tools` is the array exactly as sent.

    With `think` the model may not call a tool; the array stays the same to keep the prompt cache. With a
    `deferral`, definitions in results are loaded as the provider does it; `deferred` are the definitions that
    are declared for it and cost nothing until then. `breakpoints` is None where nothing is marked.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...]
    max_output: int
    think: bool = False
    deferral: Deferral = ""
    deferred: tuple[dict[str, Any], ...] = ()
    breakpoints: Breakpoints | None = None


class Usage(Struct, frozen=True, gc=False):
    """Tokens as reported by the provider; None if it does not report them.

    The input includes what was read from its prompt cache (`cached_tokens`) and written to it
    (`written_tokens`, of which `written_hour_tokens` live an hour); the output includes reasoning.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None
    written_hour_tokens: int | None = None
    reasoning_tokens: int | None = None


class TextDelta(Struct, frozen=True):
    """A piece of the answer, as it streams."""

    text: str


class ModelReply(Struct, frozen=True):
    """The finished answer; always the last chunk of a stream."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = "stop"


ModelChunk = TextDelta | ModelReply


class Attachment(Struct, frozen=True):
    """An image, a sound or a blob of a result: its kind, MIME type and address ("" for none), and its bytes.

    `encoded` is base64 as it came, and may be none.
    """

    kind: str
    mime: str
    uri: str
    encoded: str

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.encoded) * 3 // 4 - self.encoded[-2:].count("=")

    @property
    def suffix(self) -> str:
        """The usual suffix of a file of its type, with its dot."""
        return mimetypes.guess_extension(self.mime) or ".bin"

    def data(self) -> bytes:
        """The bytes. Raises ToolsightError if it is not base64."""
        try:
            return base64.b64decode(self.encoded, validate=True)
        except ValueError as error:
            raise ToolsightError(f"the {self.kind} is not base64: {error}") from error


class ToolResult(Struct, frozen=True):
    """A server's result: `text` for the model, `structured` content if any, `is_error` as reported.

    `attachments` and the result as it came (`raw`) are never stored: the text says what they are. `whole` is
    how many characters the text had if only its beginning is kept, 0 otherwise.
    """

    text: str
    is_error: bool = False
    structured: JsonObject | None = None
    kinds: tuple[str, ...] = ("text",)
    attachments: tuple[Attachment, ...] = ()
    whole: int = 0
    raw: JsonObject | None = None

    def in_whole(self, size: int) -> int:
        """The size of the whole text where that of `text` is this; an estimate if that was cut."""
        return round(size * self.whole / len(self.text)) if self.whole else size

    @property
    def cut_words(self) -> str:
        """How much of the text is kept; "" for all."""
        kept = f"{len(self.text):,} of {count(self.whole, 'character')} kept; the tokens are estimated"
        return kept if self.whole else ""


class TaskState(Struct, frozen=True):
    """A task, by which a server runs a call in the background, as the server described it last.

    `status` and `message` are the server's words, and `polls` is how often it was asked for them.
    """

    id: str
    status: str
    message: str = ""
    polls: int = 0

    @property
    def told(self) -> str:
        """The state in words: `task working: page 3, 4 polls`."""
        said = f": {self.message}" if self.message else ""
        polls = f", {count(self.polls, 'poll')}" if self.polls else ""
        return f"task {self.status}{said}{polls}"


OnTask = Callable[[TaskState], None]
"""Gets each new state of the task that a server runs a call by, if it does."""


def arguments_text(arguments: JsonObject | None) -> str:
    """Call arguments on one line, as `key=value` pairs."""
    pairs = (
        f"{key}={value if isinstance(value, str) else compact(value)}"
        for key, value in (arguments or {}).items()
    )
    return "  ".join(pairs)

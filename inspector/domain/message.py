"""The conversation as a model gets it."""

from dataclasses import dataclass
from typing import Any

from inspector.domain.jsonvalue import JsonObject, compact


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for. `error` says why `arguments` could not be read, if they could not."""

    id: str
    name: str
    arguments: JsonObject
    error: str = ""


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said; a `thought` answers a NoteMessage and calls nothing."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    thought: bool = False


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """What a call returned, for the model; with `failed` it was an error, or never reached its server.

    `left_out` are the tokens that Toolsight took out of its middle to make room.
    """

    call_id: str
    name: str
    text: str
    failed: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class NoteMessage:
    """What Toolsight itself tells the model between two of its turns; providers get it as the user's.

    One that stands for `exchanges` of user and model came in their place, to make room.
    """

    text: str
    exchanges: int = 0


Message = UserMessage | AssistantMessage | ToolMessage | NoteMessage


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one model call is sent. `tools` is the array exactly as it goes out.

    With `think` the model may not call a tool: the array stays what it is, so that no prompt cache is lost.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...]
    max_output: int
    think: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reports them; None where it does not."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, as it streams."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The finished answer; always the last chunk of a stream."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = "stop"


ModelChunk = TextDelta | ModelReply


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a server returned: `text` for the model, `structured` if it sent any, `is_error` as it says."""

    text: str
    is_error: bool = False
    structured: JsonObject | None = None
    kinds: tuple[str, ...] = ("text",)


def arguments_text(arguments: JsonObject | None) -> str:
    """Call arguments in one line, as `key=value` pairs."""
    pairs = (
        f"{key}={value if isinstance(value, str) else compact(value)}"
        for key, value in (arguments or {}).items()
    )
    return "  ".join(pairs)

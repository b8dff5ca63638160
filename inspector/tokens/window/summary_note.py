"""The note that replaces exchanges removed from a conversation, written without a model."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from inspector.core.message import AssistantMessage, Message, NoteMessage, ToolMessage, UserMessage

_QUOTED = 200
_NAME = 80
_MOST_NAMED = 12


def summary_note(exchanges: int, lines: Sequence[str] = ()) -> NoteMessage:
    """The note that replaces `exchanges` exchanges, with one line for each summarized one."""
    many = f"first {exchanges} exchanges" if exchanges != 1 else "first exchange"
    rest = " Toolsight's summary of what was said:" if lines else ""
    header = f"[Toolsight took the {many} out of this conversation to make room.{rest}]"
    return NoteMessage("\n".join((header, *lines)), exchanges)


def note_lines(note: NoteMessage | None) -> list[str]:
    """The summary lines of a note."""
    return note.text.split("\n")[1:] if note is not None else []


def summary_line(exchange: Sequence[Message]) -> str:
    """One exchange on one line: the request, the tools called and their outcomes, the answer."""
    asked = next((m.text for m in exchange if isinstance(m, UserMessage)), "")
    answers = [
        m.text for m in exchange if isinstance(m, AssistantMessage) and not m.tool_calls and not m.thought
    ]
    parts = [f"asked: {_quoted(asked)}"]
    if tools := _tools(exchange):
        parts.append(f"tools: {tools}")
    parts.append(f"answer: {_quoted(answers[-1])}" if answers else "no answer")
    return f"- {'; '.join(parts)}"


def _tools(exchange: Sequence[Message]) -> str:
    calls = Counter(
        f"{_line(m.name, _NAME)} {'failed' if m.failed else 'ok'}"
        for m in exchange
        if isinstance(m, ToolMessage)
    )
    named = [f"{call} {count}x" if count > 1 else call for call, count in islice(calls.items(), _MOST_NAMED)]
    more = len(calls) - len(named)
    return ", ".join([*named, f"{more} more"] if more else named)


def _quoted(text: str) -> str:
    return f"“{_line(text, _QUOTED)}”"


def _line(text: str, limit: int) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[:limit].split())
    return f"{line}…" if len(text) > limit else line

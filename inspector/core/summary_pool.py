"""The summary pool: one short line per tool, always in the prompt (Tool Attention, sections 4.4 and 5.6).

It tells the model about tools whose definitions are not loaded. It is part of the prefix that a provider
caches, so its text depends only on the catalog.
"""

import re
from collections.abc import Callable, Sequence

from inspector.core.tool import Tool

_HEADER = "All tools, one a line: what each does. Full definitions of those that fit are loaded every turn."
_BREAK = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)\s|(?<=[。！？])")
_NAME_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")
_ELLIPSIS = "…"
# Far more than a token of prose holds: longer text is cut without counting its tokens first.
_CHARACTERS_A_TOKEN = 40


def summary_pool(tools: Sequence[Tool], max_tokens: int, count: Callable[[str], int]) -> str:
    """A header and one line per tool, in catalog order; empty without tools.

    Adding a tool at the end leaves everything before it unchanged, byte for byte. `max_tokens` limits each
    line, see `tool_summary`.
    """
    if not tools:
        return ""
    return "\n".join([_HEADER, *(tool_summary(tool, max_tokens, count) for tool in tools)])


def tool_summary(tool: Tool, max_tokens: int, count: Callable[[str], int]) -> str:
    """`server:name: first sentence of the description` on one line of at most `max_tokens` tokens.

    Without a description, the words of the tool's name replace it. A line that is too long ends with an
    ellipsis.
    """
    line = summary_line(tool)
    longest = max(0, max_tokens) * _CHARACTERS_A_TOKEN
    if len(line) <= longest and count(line) <= max_tokens:
        return line
    fitting, limit = 0, min(len(line) - 1, longest)
    while fitting < limit:
        middle = (fitting + limit + 1) // 2
        if count(shortened(line, middle)) <= max_tokens:
            fitting = middle
        else:
            limit = middle - 1
    return shortened(line, fitting)


def summary_line(tool: Tool) -> str:
    """The line of `tool_summary` before it is cut; the gate compares a turn with it."""
    body = first_sentence(tool.description) or _words(tool.name)
    return one_line(f"{tool.id}: {body}" if body else tool.id)


def first_sentence(text: str) -> str:
    """The first sentence of a text on one line; it ends with the first paragraph at the latest."""
    opening = _PARAGRAPH_END.split(text.strip(), maxsplit=1)[0]
    return _SENTENCE_END.split(one_line(opening), maxsplit=1)[0]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; one ends with its line at the latest."""
    found = (piece for line in text.splitlines() for piece in _SENTENCE_END.split(one_line(line)))
    return [sentence for sentence in found if sentence]


def one_line(text: str) -> str:
    """The text with each run of whitespace and control characters replaced by one space, and stripped."""
    return " ".join(without_breaks(text).split())


def without_breaks(text: str) -> str:
    """The text with each control character and line separator replaced by a space."""
    return _BREAK.sub(" ", text)


def shortened(line: str, limit: int) -> str:
    """Shorten the line to at most `limit` characters, including the ellipsis.

    The cut is between words, unless that would lose more than half of the room.
    """
    if len(line) <= limit:
        return line
    if limit < 1:
        return ""
    boundary = line.rfind(" ", limit // 2, limit)
    return line[: boundary if boundary > 0 else limit - 1].rstrip(" ,;") + _ELLIPSIS


def _words(name: str) -> str:
    return " ".join(_NAME_BOUNDARY.sub(" ", name).split()).lower()

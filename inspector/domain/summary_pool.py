"""The summary pool: one short line a tool, always in the prompt (Tool Attention, sections 4.4 and 5.6).

It lets a model know of every tool whose definition is not loaded. It is part of the prefix that a provider
caches, so its text depends on nothing but the catalog.
"""

import re
from collections.abc import Callable, Sequence

from inspector.domain.tool import Tool

_HEADER = "All tools, one a line: what each does. Full definitions of those that fit are loaded every turn."
_BREAK = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)\s|(?<=[。！？])")
_NAME_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")
_ELLIPSIS = "…"
# Far more than a token of running text holds: beyond it a text is cut without being counted first.
_CHARACTERS_A_TOKEN = 40


def summary_pool(tools: Sequence[Tool], max_tokens: int, count: Callable[[str], int]) -> str:
    """A header and one line a tool, in catalog order; empty without tools.

    A tool that comes to the end leaves everything before it as it is, byte for byte. `max_tokens` is that of
    a line, see `tool_summary`.
    """
    if not tools:
        return ""
    return "\n".join([_HEADER, *(tool_summary(tool, max_tokens, count) for tool in tools)])


def tool_summary(tool: Tool, max_tokens: int, count: Callable[[str], int]) -> str:
    """`server:name: first sentence of the description` in one line of at most `max_tokens` tokens.

    The words of its name stand for a description that a tool does not have. What is too long ends with an
    ellipsis.
    """
    body = first_sentence(tool.description) or _words(tool.name)
    line = one_line(f"{tool.id}: {body}" if body else tool.id)
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


def first_sentence(text: str) -> str:
    """The first sentence of a text in one line: it ends where a paragraph does, if not before."""
    opening = _PARAGRAPH_END.split(text.strip(), maxsplit=1)[0]
    return _SENTENCE_END.split(one_line(opening), maxsplit=1)[0]


def one_line(text: str) -> str:
    """The text with one space for every run of whitespace and control characters, and none around it."""
    return " ".join(without_breaks(text).split())


def without_breaks(text: str) -> str:
    """The text with a space for every control character and every character that ends a line."""
    return _BREAK.sub(" ", text)


def shortened(line: str, limit: int) -> str:
    """The line in at most `limit` characters, the ellipsis included.

    It is cut between words; inside one only where half of the room would be lost otherwise.
    """
    if len(line) <= limit:
        return line
    if limit < 1:
        return ""
    boundary = line.rfind(" ", limit // 2, limit)
    return line[: boundary if boundary > 0 else limit - 1].rstrip(" ,;") + _ELLIPSIS


def _words(name: str) -> str:
    return " ".join(_NAME_BOUNDARY.sub(" ", name).split()).lower()

"""Makes text from outside safe to show: nothing hidden, no terminal control, never markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from rich.cells import cell_len
from textual.content import Content, Span

ELLIPSIS = "…"
"""The sign that there is more."""

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_PILE = re.compile(f"(?<=[{_MARKS}]{{4}})[{_MARKS}]+")
"""Combining marks beyond the fourth on one letter: no script needs them."""

_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_BLANKS = re.compile(f"[{_BLANK}]")
"""Characters that Unicode calls letters or marks but that are invisible."""


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class _Visible(dict[int, str]):
    """A translation table that computes each character once, so that `str.translate` stays in C."""

    def __init__(self, kept: dict[str, str]) -> None:
        super().__init__({ord(character): shown for character, shown in kept.items()})

    def __missing__(self, code: int) -> str:
        character = chr(code)
        hidden = unicodedata.category(character) in _HIDDEN_CATEGORIES or _BLANKS.match(character)
        self[code] = shown = _escape(character) if hidden else character
        return shown


_TEXT = _Visible({"\n": "\n", "\t": "\t"})
_LINE = _Visible({"\n": "↵", "\t": "    "})


def visible(text: str, *, limit: int = 20_000, newlines: bool = True) -> str:
    """Make every hidden character visible, as `\\x1b`, `\\u202e` or `\\U000e0041`.

    Args:
        text: Text from anywhere.
        limit: The most characters to keep; the end says how many were cut.
        newlines: Keep line breaks and tabs; otherwise (in a table cell) they become ↵ and spaces.

    Returns:
        Text that is safe to print; a second call changes nothing.
    """
    cut = text if len(text) <= limit else text[:limit]
    if not cut.isprintable() or _BLANKS.search(cut):
        cut = cut.translate(_TEXT if newlines else _LINE)
    if not cut.isascii():
        cut = _PILE.sub(lambda pile: "".join(map(_escape, pile.group())), cut)
    if len(text) > limit:
        cut += f"{ELLIPSIS} [{len(text) - limit} more characters]"
    return cut


def plain(text: str, *, limit: int = 20_000, newlines: bool = True) -> Content:
    """Return `text` as safe content: hidden characters visible, never read as markup."""
    return Content(visible(text, limit=limit, newlines=newlines))


def safe(content: Content | str, *, limit: int = 20_000, newlines: bool = True) -> Content:
    """Return `content` with its styles and its hidden characters visible; a string becomes plain content."""
    if isinstance(content, str):
        return plain(content, limit=limit, newlines=newlines)
    text = content.plain
    if len(text) <= limit and visible(text, limit=limit, newlines=newlines) == text:
        return content
    shown = [visible(character, newlines=newlines) for character in text[:limit]]
    probe = "".join(piece if len(piece) == 1 else "\\" for piece in shown)
    for pile in _PILE.finditer(probe):
        shown[slice(*pile.span())] = map(_escape, pile.group())
    offsets = [0]
    for piece in shown:
        offsets.append(offsets[-1] + len(piece))
    spans = [
        Span(offsets[span.start], offsets[min(span.end, len(shown))], span.style)
        for span in content.spans
        if span.start < len(shown)
    ]
    return Content("".join(shown) + visible(text[limit:], limit=0), spans)


def middle(text: str, width: int) -> str:
    """Cut the middle of `text` to fit `width` cells, so that a name keeps both ends."""
    if width <= 0:
        return ""
    reach = 6 * width + 64
    cut = len(text) > 2 * reach
    line = visible(text[:reach] + text[-reach:] if cut else text, newlines=False, limit=2 * reach)
    if not cut and cell_len(line) <= width:
        return line
    head = _fitting(line, width // 2)
    tail = _fitting(line[::-1], (width - 1) // 2)[::-1]
    return head + ELLIPSIS + _without_leading_marks(tail)


def _fitting(text: str, width: int) -> str:
    """Return the longest prefix of `text` that fits into `width` cells."""
    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:index]
    return text


def _without_leading_marks(text: str) -> str:
    """Drop marks whose letter was cut off: they would land on the ellipsis."""
    start = 0
    while start < len(text) and cell_len(text[start]) == 0:
        start += 1
    return text[start:]


def shorten(content: Content, width: int, *, where: str = "end") -> Content:
    """Shorten one line of content to `width` cells, at the end or in the middle."""
    if width <= 0:
        return Content("")
    if content.cell_length <= width:
        return content
    if where == "end":
        return content.truncate(width, ellipsis=True)
    kept = middle(content.plain, width)
    head, _, tail = kept.partition(ELLIPSIS)
    text = content.plain
    if not (text.startswith(head) and text.endswith(tail)):
        return Content(kept)
    end = content[len(text) - len(tail) :] if tail else Content("")
    return Content("").join([content[: len(head)], Content(ELLIPSIS), end])


def highlight(text: str, needle: str, *, style: str = "bold underline") -> Content:
    """Return `text` with every word of `needle` marked, ignoring case."""
    content = plain(text)
    words = sorted({visible(word) for word in needle.split()}, key=len, reverse=True)
    if not words:
        return content
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    return content.add_spans([Span(*match.span(), style) for match in pattern.finditer(content.plain)])


def matcher(query: str) -> Callable[[str], bool]:
    """Return a test whether a case-folded text contains every word of `query`."""
    words = query.casefold().split()
    return lambda folded: all(word in folded for word in words)

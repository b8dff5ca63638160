"""Text from outside, made visible: nothing hidden, nothing that moves a terminal. Standard library only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

ELLIPSIS = "…"
"""The one sign for "there is more"."""

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
PILE = re.compile(f"(?<=[{_MARKS}]{{4}})[{_MARKS}]+")
"""Whatever stands on more than four combining marks: no script needs it, a prank does."""

_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_BLANKS = re.compile(f"[{_BLANK}]")
"""Characters that Unicode calls letters or marks and that show nothing."""


def escape(character: str) -> str:
    """A character as its code, the way Python writes it."""
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class _Visible(dict[int, str]):
    """A translation table that learns each character once, so `str.translate` stays in C."""

    def __init__(self, kept: dict[str, str]) -> None:
        super().__init__({ord(character): shown for character, shown in kept.items()})

    def __missing__(self, code: int) -> str:
        character = chr(code)
        hidden = unicodedata.category(character) in _HIDDEN_CATEGORIES or _BLANKS.match(character)
        self[code] = shown = escape(character) if hidden else character
        return shown


_TEXT = _Visible({"\n": "\n", "\t": "\t"})
_LINE = _Visible({"\n": "↵", "\t": "    "})


class _Cover:
    """What takes secrets out of texts before they are shown; nothing until `cover_with`."""

    def __init__(self) -> None:
        self.covered: Callable[[str], str] = str


_COVER = _Cover()


def cover_with(covered: Callable[[str], str]) -> None:
    """Show every text from now on as this function returns it: without what nobody should see.

    It is called for each text that is drawn, so it has to be quick, and to return covered text as it is.
    """
    _COVER.covered = covered


def visible(text: str, *, limit: int = 20_000, newlines: bool = True, exact: bool = False) -> str:
    """Make every hidden character of `text` visible, as `\\x1b`, `\\u202e` or `\\U000e0041`.

    Args:
        text: Text from anywhere.
        limit: How many characters are looked at; what is cut off is counted at the end.
        newlines: Keep line breaks and tabs; otherwise (in a table cell) they become ↵ and spaces.
        exact: Cover nothing (see `cover_with`): for a question that has to be read as it is.

    Returns:
        Text that is safe to print; making it visible again changes nothing.
    """
    if not exact:
        text = _COVER.covered(text)
    cut = text if len(text) <= limit else text[:limit]
    if not cut.isprintable() or _BLANKS.search(cut):
        cut = cut.translate(_TEXT if newlines else _LINE)
    if not cut.isascii():
        cut = PILE.sub(lambda pile: "".join(map(escape, pile.group())), cut)
    if len(text) > limit:
        cut += f"{ELLIPSIS} [{len(text) - limit} more characters]"
    return cut

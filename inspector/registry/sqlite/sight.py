"""What somebody may see, as a condition in SQL.

GLOB matches what `Sight.permits` does, with two differences that are made up for: `[` is special to it, and
it cannot tell NUL, surrogates, U+FFFE and U+FFFF from the end of the text or from one another. These are
stored and compared as characters above Unicode, which SQLite reads and no text of ours has.
"""

import re
from collections.abc import Sequence

from inspector.core.access import Sight

_ABOVE_UNICODE = 0x110000
_ODD = re.compile("[\0\ud800-\udfff\ufffe\uffff]")
_WILD = re.compile(r"[*?]")
_ALL = "*"

Condition = tuple[str, tuple[bytes, ...]]
"""SQL with its parameters."""


def stored(text: str) -> bytes:
    """Any text as UTF-8, ordered as the text is."""
    return text.encode("utf-8", "surrogatepass")


def loaded(data: bytes) -> str:
    """The text that was `stored`."""
    return data.decode("utf-8", "surrogatepass")


def globbed(text: str) -> bytes:
    """A text as the column `name` has it; SQL makes text of it with CAST(? AS TEXT)."""
    if not _ODD.search(text):
        return text.encode()
    return b"".join(_above(ord(one)) if _ODD.match(one) else one.encode() for one in text)


def condition(sight: Sight) -> Condition:
    """What the columns `id` and `name` of a tool must be, "1" if anything will do."""
    granted, parameters = _any_of(sight.patterns)
    if sight.allowlist is None:
        return granted, parameters
    allowed, more = _any_of(sight.allowlist)
    return f"{granted} AND {allowed}", (*parameters, *more)


def _any_of(patterns: Sequence[str]) -> Condition:
    if _ALL in patterns:
        return "1", ()
    exact = [pattern for pattern in patterns if not _WILD.search(pattern)]
    wild = [pattern for pattern in patterns if _WILD.search(pattern)]
    terms = ["name GLOB CAST(? AS TEXT)"] * len(wild)
    if exact:
        terms.append(f"id IN ({', '.join('?' * len(exact))})")
    parameters = (
        *(globbed(pattern.replace("[", "[[]")) for pattern in wild),
        *(stored(pattern) for pattern in exact),
    )
    return (_either(terms) if terms else "0"), parameters


def _either(terms: Sequence[str]) -> str:
    """One of the terms, as a balanced tree: SQLite refuses expressions that are 1,000 deep."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({_either(terms[:half])} OR {_either(terms[half:])})"


def _above(code: int) -> bytes:
    moved = _ABOVE_UNICODE + code
    return bytes((0xF0 | moved >> 18, *(0x80 | moved >> shift & 0x3F for shift in (12, 6, 0))))

"""Texts and patterns as PostgreSQL can store and compare them."""

import re
from collections.abc import Sequence

from inspector.core.access import Sight
from inspector.registry.sql_registry import Condition

# PostgreSQL takes neither of the two, and servers may declare tools with names of them. They are written as a
# lead and digits: NUL and the characters that serve as marks themselves as a lead with two digits, surrogates
# and the other lead with twelve. No mark is a character of a stored text otherwise, so that a pattern finds
# in stored texts exactly what it finds in the original ones. Any other text is stored as it is.

_LOW, _ZERO, _ONE, _HIGH = "\x01", "\x02", "\x03", "\ud7ff"
_LOW_DIGITS, _HIGH_DIGITS = 2, 12
_ODD = re.compile("[\0-\x03\ud7ff-\udfff]")
_WRITTEN = re.compile(f"{_LOW}[{_ZERO}{_ONE}]{{{_LOW_DIGITS}}}|{_HIGH}[{_ZERO}{_ONE}]{{{_HIGH_DIGITS}}}")
_DIGITS = str.maketrans("01", f"{_ZERO}{_ONE}")
_BITS = str.maketrans(f"{_ZERO}{_ONE}", "01")

# One character of the original text, as a regular expression of PostgreSQL over the stored one.
ONE_CHARACTER = f"(?:[^{_LOW}-{_ONE}{_HIGH}]|{_LOW}.{{{_LOW_DIGITS}}}|{_HIGH}.{{{_HIGH_DIGITS}}})"


def stored(text: str) -> str:
    """The text as it is stored; stored texts are in the order of their originals."""
    return _ODD.sub(_marked, text)


def original(text: str) -> str:
    """The text that was stored."""
    return _WRITTEN.sub(_read, text) if _LOW in text or _HIGH in text else text


def _marked(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < ord(_HIGH):
        return f"{_LOW}{code:0{_LOW_DIGITS}b}".translate(_DIGITS)
    return f"{_HIGH}{code - ord(_HIGH):0{_HIGH_DIGITS}b}".translate(_DIGITS)


def _read(found: re.Match[str]) -> str:
    lead, digits = found[0][0], found[0][1:]
    return chr((0 if lead == _LOW else ord(_HIGH)) + int(digits.translate(_BITS), 2))


_WILD = re.compile(r"[*?]")
_STARS = re.compile(r"\*+")
_SPECIAL_IN_LIKE = re.compile(r"[\\%_]")


def seen(sight: Sight) -> Condition:
    """The condition that holds for the stored ids that may be seen; "TRUE" keeps nothing out."""
    granted = _any_of(sight.patterns, "granted")
    if sight.allowlist is None:
        return granted
    allowed = _any_of(sight.allowlist, "allowed")
    return Condition(f"({granted.sql}) AND ({allowed.sql})", {**granted.parameters, **allowed.parameters})


def _any_of(patterns: Sequence[str], name: str) -> Condition:
    """The cheapest test for each: an id compared, LIKE, and a regular expression where `?` occurs."""
    patterns = [_STARS.sub("*", pattern) for pattern in patterns]
    if "*" in patterns:
        return Condition("TRUE")
    tests = (
        (f"{name}_ids", "=", [stored(one) for one in patterns if not _WILD.search(one)]),
        (f"{name}_likes", "LIKE", [_like(one) for one in patterns if "*" in one and "?" not in one]),
        (f"{name}_regexes", "~", [_regex(one) for one in patterns if "?" in one]),
    )
    used = [test for test in tests if test[2]]
    sql = " OR ".join(f"id {operator} ANY(%({key})s)" for key, operator, _values in used)
    return Condition(sql or "FALSE", {key: values for key, _operator, values in used})


def _like(pattern: str) -> str:
    return _SPECIAL_IN_LIKE.sub(r"\\\g<0>", stored(pattern)).replace("*", "%")


def _regex(pattern: str) -> str:
    wild = {"*": ".*", "?": ONE_CHARACTER}
    return f"^{''.join(wild.get(one) or _literal(one) for one in stored(pattern))}$"


def _literal(character: str) -> str:
    """A backslash before a letter or digit would mean something else, and nothing before any other."""
    return character if character.isalnum() or character == "_" else f"\\{character}"

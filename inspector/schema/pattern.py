"""Whether a regular expression compiles by ECMA 262, as far as its form tells; none is ever run.

Looked at are sets and the order in their ranges, groups, what is repeated, and what stands after a \\ with
the flag u, with which JSON Schema wants patterns built (2020-12, 6.4). Not looked at are references to
groups, equal names of groups and the names of Unicode properties.
"""

import re
from functools import lru_cache

_TOKEN = re.compile(
    r"(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?(?:[:=!]|<[=!]|<(?:[^\W\d]|\$)[\w$]*>))?)|(?P<close>\))"
    r"|(?P<often>(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??)|(?P<edge>[|^$]|\\[bB])|(?P<escape>\\.)|(?P<one>[^\\\[])",
    re.DOTALL,
)
# What may stand after a \ with the flag u.
_ESCAPE = (
    r"\\(?:[dDsSwWfnrtv0-9^$\\.*+?()\[\]{}|/]|k(?=<)|c[A-Za-z]|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|u\{[\dA-Fa-f]+\}"
    r"|[pP]\{[\w=]+\})"
)
_WITH_U = re.compile(_ESCAPE)
_MEMBER = re.compile(rf"{_ESCAPE}|\\.|.", re.DOTALL)
_CLASS = re.compile(r"\\[dDsSwWpP]")
_AHEAD, _BEHIND = ("(?=", "(?!"), ("(?<=", "(?<!")
# A longer one is not looked at.
_LONGEST = 2_000


@lru_cache(1_000)
def pattern_flaw(text: str, *, unicode: bool = False) -> str:
    """What is wrong with a pattern, "" if nothing is found; `unicode` is the flag u."""
    opened: list[str] = []
    place, can_repeat = 0, False
    while place < len(text) <= _LONGEST:
        found = _TOKEN.match(text, place)
        if found is None:
            return "a [ is not closed" if text[place] == "[" else "nothing follows a \\"
        kind, said = found.lastgroup, found[0]
        if kind == "open" and said == "(" and text.startswith("?", found.end()):
            return f"no group begins with {text[place : place + 3]}"
        if kind == "close" and not opened:
            return "a ) closes nothing"
        if kind == "often" and not can_repeat:
            return f"{said} has nothing to repeat"
        if flaw := _inner_flaw(found) or (unicode and _flaw_with_u(text, found)):
            return flaw
        begun = opened.pop() if kind == "close" else ""
        opened += [said] if kind == "open" else []
        no_repeats = (*_BEHIND, *_AHEAD) if unicode else _BEHIND
        can_repeat = kind in ("set", "one", "escape") or (kind == "close" and begun not in no_repeats)
        whole = _WITH_U.match(text, place) if unicode and kind == "escape" else None
        place = (whole or found).end()
    return "a ( is not closed" if opened else ""


def _inner_flaw(found: re.Match[str]) -> str:
    """What is wrong inside of a set, or with how often something is repeated."""
    if found["often"] and found[6] and int(found[6]) < int(found[5]):
        return f"{found[0]} is out of order"
    for first, last in _ranges(found["set"] or ""):
        if len(first) == len(last) == 1 and first > last and last.isascii():
            return f"{first}-{last} is out of order"
    return ""


def _flaw_with_u(text: str, found: re.Match[str]) -> str:
    """What is wrong with a part of a pattern only with the flag u."""
    if found["one"] and found[0] in "{}]":
        return f"{found[0]} needs a \\ before it"
    if found["escape"] and _WITH_U.match(text, found.start()) is None:
        return f"{found[0]} means nothing"
    for part in _MEMBER.findall(found["set"] or ""):
        if part[0] == "\\" and part not in ("\\-", "\\b") and not _WITH_U.fullmatch(part):
            return f"{part} means nothing"
    for first, last in _ranges(found["set"] or ""):
        if _CLASS.match(first) or _CLASS.match(last):
            return f"{first}-{last} is no range"
    return ""


def _ranges(members: str) -> list[tuple[str, str]]:
    """The ranges of a set."""
    parts = _MEMBER.findall(members[1:-1].removeprefix("^"))
    found, place = [], 0
    while place + 2 < len(parts):
        is_range = parts[place + 1] == "-"
        found += [(parts[place], parts[place + 2])] if is_range else []
        place += 3 if is_range else 1
    return found

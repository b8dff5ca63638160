"""Finds assignments in text whose value may be a secret: `.env` files, YAML, commands, code.

How sure an assignment is depends on how it is written. `NAME=value` in capitals is one wherever it stands;
any other `name=value` needs a value that no program's text would have there; `name: value`, which prose has
too, also needs a line of its own; `name is value` is prose, so that its value has to look random, or like a
word with a number behind what is called a password.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from inspector.core.argument_secret import looks_random

MARKS = ("token", "key", "secret", "pass", "pwd", "credential", "cookie", "auth", "bearer", "pat", "jwt")
"""What occurs in every name that looks secret, in lower case."""

_NAME, _SIGN, _VERB = (
    r"(?<![A-Za-z0-9_])(?:(?<=\\)(?P<escaped>[nrt]))?(?P<name>[A-Za-z_][A-Za-z0-9_.-]{1,63}+)",
    r"[ \t]*+[:=][ \t]*+",
    r"[ \t]++(?:is|was)(?:[ \t]*+:)?[ \t]++",
)
_WRITTEN, _WRITTEN_OR_SAID = (re.compile(f"{_NAME}(?P<sign>{sign})") for sign in (_SIGN, f"{_SIGN}|{_VERB}"))
_DOUBLE, _SINGLE, _BARE = r"[^\"\\\n]|\\(?![\"n])", r"[^'\n]", r"[^\s\"'`\\]|\\(?![nrt\"'\\])"
_JUDGED = 256
# A value may hold assignments itself, each of which is looked at: only its beginning is judged.
_VALUE = re.compile(
    rf"\\?\"(?P<double>(?:{_DOUBLE}){{1,{_JUDGED}}}+)"
    rf"|'(?P<single>(?:{_SINGLE}){{1,{_JUDGED}}}+)"
    rf"|(?P<bare>(?:{_BARE}){{1,{_JUDGED}}}+)"
)
_REST = {
    kind: re.compile(rf"(?:{character})*+")
    for kind, character in (("double", _DOUBLE), ("single", _SINGLE), ("bare", _BARE))
}
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+")
_LINE_BEFORE = re.compile(
    r"\n[\s\d+→>|*:#\"'-]{0,40}(?:(?:export|set|const|let|var|ENV)[ \t]+)?[\"']?\Z", re.IGNORECASE
)
_LONGEST_BEFORE = 60
_LINE_AFTER = re.compile(r"[ \t]*(?:[,;]?[ \t]*(?:#|//|\n|\r|\\[nr]|\Z))")
_TRAILING = ".,;:)]}>"
_CODE = re.compile(r"[^(){}\[\]<>$]*+[(){}\[\]<>$]|[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)++\Z")
# Not the secret itself, but where it comes from, what to put there, or what was put in its place.
_REFERENCE = re.compile(
    r"\$[A-Za-z_{(]|<|\{\{|%\w+%|(?:os\.|process\.env|env\.)|\.{3}|[*xX•]+\Z"
    r"|(?:~|\.{1,2})/|/(?:etc|usr|var|home|Users|tmp|opt|run|root|mnt|dev|private|Library|bin|srv)\b"
    r"|[A-Za-z][A-Za-z0-9+.-]*://[^\s@?]*\Z"
)
_NUMBER = re.compile(r"[+-]?[\d.,_:/-]+")
_COUNTED = re.compile(r"(?:tokens|keys|auth|authorization|cookies?)\Z", re.IGNORECASE)
_PASSWORD = re.compile(r"pass|pwd|secret", re.IGNORECASE)
_KEY = re.compile(r"keys?", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"([A-Za-z]{2,20})[ \t_-]\Z")
_WORD_WITH_NUMBER = re.compile(
    r"(?!(?:sha|md|base|utf|aes|rsa|argon|int|oauth)\d)[A-Za-z]{3,}\d+", re.IGNORECASE
)
_SPACE, _DIGIT, _SYMBOL = re.compile(r"\s"), re.compile(r"\d"), re.compile(r"[^\w-]")
_SHORTEST, _SHORTEST_LOOSE = 4, 6


class Assigned(NamedTuple):
    """A value with its place in the text; `certain` if the name alone decides whether it is a secret."""

    name: str
    value: str
    start: int
    end: int
    certain: bool


def assignments(text: str, is_named: Callable[[str], bool]) -> Iterator[Assigned]:
    """The assignments whose value could be a secret, of the names that `is_named` says could have one.

    Takes time linear in the text.
    """
    place, pattern = 0, _WRITTEN_OR_SAID if " is" in text or " was" in text else _WRITTEN
    while match := pattern.search(text, place):
        place = match.end()
        if not is_named(match["name"]) or text[max(0, match.start("name") - 1)] in "?&":
            continue
        found = _assigned(text, match)
        if found is not None:
            place = found.end
            yield found


def _assigned(text: str, match: "re.Match[str]") -> Assigned | None:
    given = _VALUE.match(text, match.end())
    if given is None or given.lastgroup is None:
        return None
    name, value, bare = match["name"], given[given.lastgroup], given.lastgroup == "bare"
    tight, certain = match["sign"] == "=", _CAPITALS.fullmatch(name) is not None
    if bare and not (certain and tight):
        value = value.rstrip(_TRAILING)
    start = given.start(given.lastgroup)
    found, is_long = Assigned(name, value, start, start + len(value), certain), len(value) == _JUDGED
    if _is_reference(name, value):
        return None
    if match["sign"].strip(" \t:") in ("is", "was"):
        return _said(found, text[: match.start("name")][-_LONGEST_BEFORE:])
    if not (certain and (tight or not bare)):
        alone = (not bare or is_long or _LINE_AFTER.match(text, found.end)) and _begins_line(text, match)
        plain = certain and ":" in match["sign"] and alone and not _CODE.match(value)
        if not (plain or ((tight or alone) and _is_loose_secret(name, value, bare=bare))):
            return None
    rest = _REST[given.lastgroup].match(text, found.end) if is_long else None
    return found._replace(end=rest.end()) if rest else found


def _said(found: Assigned, before: str) -> Assigned | None:
    """What a sentence says that a secret is; of a key it has to say which: `my API key is …`."""
    is_password = _PASSWORD.search(found.name) and _WORD_WITH_NUMBER.fullmatch(found.value)
    if not (is_password or looks_random(found.value)):
        return None
    word = _WORD_BEFORE.search(before) if _KEY.fullmatch(found.name) else None
    return found._replace(name=f"{word[1]}_{found.name}" if word else found.name, certain=False)


def _is_reference(name: str, value: str) -> bool:
    if len(value) < _SHORTEST or _REFERENCE.match(value):
        return True
    return _NUMBER.fullmatch(value) is not None and not _PASSWORD.search(name)


def _is_loose_secret(name: str, value: str, *, bare: bool) -> bool:
    """Whether a value is one that neither prose nor code would have behind such a name."""
    if len(value) < _SHORTEST_LOOSE or _COUNTED.search(name) or _SPACE.search(value):
        return False
    if bare:
        return _DIGIT.search(value) is not None and not _CODE.match(value)
    return _DIGIT.search(value) is not None or _SYMBOL.search(value) is not None


def _begins_line(text: str, match: "re.Match[str]") -> bool:
    if match["escaped"]:
        return True
    start = match.start("name")
    before = text[max(0, start - _LONGEST_BEFORE) : start]
    return _LINE_BEFORE.search(before if start > _LONGEST_BEFORE else f"\n{before}") is not None

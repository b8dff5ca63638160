"""Finds secrets on command lines, in addresses and in assignments: by option, by name, by their looks.

An argument without a name is a secret only if it looks random: a part of it of at least 6 characters mixes
letters and digits as no word with a number does. A path, a package, a host, a version or a date does not.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from inspector.core.package_run import package_run
from inspector.core.secret_value import looks_secret
from inspector.core.text import expression

_OPTION = expression(r"--?(?P<name>[A-Za-z][\w.-]*)(?:=(?P<value>.*))?", re.DOTALL)
_ATTACHED = expression(r"-(?P<option>[eD])(?P<name>[A-Za-z_]\w*)=.*", re.DOTALL)
_ASSIGNMENT = expression(r"(?P<name>[A-Za-z_][\w.-]*)=(?P<value>.*)", re.DOTALL)
_FIELD = expression(r"(?P<name>[A-Za-z][\w-]*)\s*:\s*(?P<value>.+)", re.DOTALL)
_ADDRESS = expression(r"[A-Za-z][A-Za-z0-9+.-]*://")
_USER_INFO = expression(r"(?P<user>[^/?#\s@:]*)(?::(?P<password>[^/?#\s@]*))?@")
_PATH_END = expression(r"[?#]|\Z")
_PARAMETER = expression(r"(?:(?P<name>[^=&?#;]*)=)?(?P<value>[^&?#;]+)")
_VARIABLES, _HEADERS = frozenset({"e", "env"}), frozenset({"H", "header", "headers"})
_KEY = "k"
_SHORTEST, _LONGEST, _SHORTEST_PART, _LONG_BASE64 = 8, 4096, 6, 32
_SEPARATORS = expression(r"[-_.:,=+~]+")
_MIXED = expression(r"(?=.*\d)(?=.*[A-Za-z])")
_FILE = expression(r".*\.[A-Za-z][A-Za-z0-9]{0,4}")
_BASE64 = expression(rf"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+/]{{{_LONG_BASE64},}}={{0,2}}")
# Words with a number behind them (`utf8`, `fetchPage2`, `ISO8859`) or before them, and a time within a date.
_WORD_AND_NUMBER = expression(
    r"(?=[A-Za-z]{1,16}\d)(?:(?:[A-Z]?[a-z]++){1,4}+|[A-Z]{1,5})\d{1,4}"
    r"|\d{1,4}[A-Za-z]{1,12}|\d+|[A-Za-z]+|\d{8}T\d{4,6}Z?"
)
_SAYS_SO = expression(r"secret|token(?!i)|passw|api_?key", re.IGNORECASE)
_SEGMENT = expression(r"[^/]+")


class Found(NamedTuple):
    """A value on a command line by its place in a word, under a name that says whether it is a secret."""

    word: int
    start: int
    end: int
    name: str


def secrets_among(words: Sequence[str]) -> Iterator[Found]:
    """What may be secret of a command line; its program and the package that it runs are not."""
    run = package_run(tuple(words))
    package = run.name if run is not None else ""
    option = ""
    for index, word in enumerate(words):
        if index == 0:
            yield from _address_secrets(index, 0, word)
        elif attached := _ATTACHED.fullmatch(word):
            yield from _value(index, attached.start("name"), word, attached["option"])
            option = ""
        elif written := _OPTION.fullmatch(word):
            option = written["name"]
            if written["value"] is not None:
                yield from _value(index, written.start("value"), word, option)
                option = ""
        elif not (package and package in word):
            yield from _value(index, 0, word, option)
            option = ""


def secrets_of_address(address: str) -> Iterator[Found]:
    """What may be secret of an address: a password, and what looks random in its path, query and fragment."""
    return _address_secrets(0, 0, address)


def looks_random(text: str) -> bool:
    """Whether it can hardly be a name: see this module."""
    if not _SHORTEST <= len(text) <= _LONGEST or not text.isascii() or not text.isprintable():
        return False
    if "/" in text:
        return _BASE64.fullmatch(text) is not None
    if any(mark in text for mark in " @\\<>(){}$\"'`|") or _FILE.fullmatch(text):
        return False
    parts = _SEPARATORS.split(text)
    mixed = (part for part in parts if len(part) >= _SHORTEST_PART and _MIXED.match(part))
    if any(not _WORD_AND_NUMBER.fullmatch(part) for part in mixed):
        return True
    return _SAYS_SO.search(text) is not None and any(map(str.isdecimal, text))


def _value(index: int, start: int, word: str, option: str) -> Iterator[Found]:
    """What may be secret of a word from `start` on, which is the value of an option, if any."""
    value = word[start:]
    if option in _VARIABLES and (assigned := _ASSIGNMENT.fullmatch(value)):
        yield Found(index, start + assigned.start("value"), len(word), assigned["name"])
    elif option in _HEADERS and (field := _FIELD.fullmatch(value)):
        yield Found(index, start + field.start("value"), len(word), field["name"])
    elif option == _KEY or (option and looks_secret(option)):
        yield Found(index, start, len(word), option if option != _KEY else "key")
    elif _ADDRESS.match(value):
        yield from _address_secrets(index, start, word)
    elif (assigned := _ASSIGNMENT.fullmatch(value)) and looks_secret(assigned["name"]):
        yield Found(index, start + assigned.start("value"), len(word), assigned["name"])
    elif any(map(str.isspace, value)):
        yield from _nested(index, start, word)
    elif looks_random(value):
        yield Found(index, start, len(word), f"key {index}")


def _nested(index: int, start: int, word: str) -> Iterator[Found]:
    """What may be secret of a command within a word, as of `sh -c`."""
    try:
        words = shlex.split(word[start:])
    except ValueError:
        return
    if len(words) < 2:
        return
    for found in secrets_among(words):
        value = words[found.word][found.start : found.end]
        for place in re.finditer(re.escape(value), word) if value else ():
            yield Found(index, *place.span(), found.name)


def _address_secrets(index: int, start: int, word: str) -> Iterator[Found]:
    scheme = _ADDRESS.match(word, start)
    if scheme is None:
        return
    at = scheme.end()
    if info := _USER_INFO.match(word, at):
        at = info.end()
        if info["password"]:
            yield Found(index, *info.span("password"), "password")
        if looks_random(unquote(info["user"])):
            yield Found(index, *info.span("user"), "key")
    ending = _PATH_END.search(word, at)
    end = ending.start() if ending else len(word)
    for segment in _SEGMENT.finditer(word, at, end):
        if segment.start() > at and looks_random(unquote(segment[0])):
            yield Found(index, *segment.span(), "key")
    for parameter in _PARAMETER.finditer(word, end):
        name, value = parameter["name"] or "", unquote(parameter["value"])
        if looks_secret(name) or looks_random(value):
            yield Found(index, *parameter.span("value"), name if looks_secret(name) else "key")


# How sure an assignment is depends on how it is written. `NAME=value` in capitals is one wherever it stands;
# any other `name=value` needs a value that no program's text would have there; `name: value`, which prose has
# too, also needs a line of its own; `name is value` is prose, so that its value has to look random, or like a
# word with a number behind what is called a password.

MARKS = ("token", "key", "secret", "pass", "pwd", "credential", "cookie", "auth", "bearer", "pat", "jwt")
"""What occurs in every name that looks secret, in lower case."""

_NAME, _SIGN, _VERB = (
    r"(?<![A-Za-z0-9_])(?:(?<=\\)(?P<escaped>[nrt]))?(?P<name>[A-Za-z_][A-Za-z0-9_.-]{1,63}+)",
    r"[ \t]*+[:=][ \t]*+",
    r"[ \t]++(?:is|was)(?:[ \t]*+:)?[ \t]++",
)
_WRITTEN, _WRITTEN_OR_SAID = (expression(f"{_NAME}(?P<sign>{sign})") for sign in (_SIGN, f"{_SIGN}|{_VERB}"))
_DOUBLE, _SINGLE, _BARE = r"[^\"\\\n]|\\(?![\"n])", r"[^'\n]", r"[^\s\"'`\\]|\\(?![nrt\"'\\])"
_JUDGED = 256
# A value may hold assignments itself, each of which is looked at: only its beginning is judged.
_VALUE = expression(
    rf"\\?\"(?P<double>(?:{_DOUBLE}){{1,{_JUDGED}}}+)"
    rf"|'(?P<single>(?:{_SINGLE}){{1,{_JUDGED}}}+)"
    rf"|(?P<bare>(?:{_BARE}){{1,{_JUDGED}}}+)"
)
_REST = {
    kind: expression(rf"(?:{character})*+")
    for kind, character in (("double", _DOUBLE), ("single", _SINGLE), ("bare", _BARE))
}
_CAPITALS = expression(r"[A-Z][A-Z0-9_]+")
_LINE_BEFORE = expression(
    r"\n[\s\d+→>|*:#\"'-]{0,40}(?:(?:export|set|const|let|var|ENV)[ \t]+)?[\"']?\Z", re.IGNORECASE
)
_LONGEST_BEFORE = 60
_LINE_AFTER = expression(r"[ \t]*(?:[,;]?[ \t]*(?:#|//|\n|\r|\\[nr]|\Z))")
_TRAILING = ".,;:)]}>"
_CODE = expression(r"[^(){}\[\]<>$]*+[(){}\[\]<>$]|[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)++\Z")
# Not the secret itself, but where it comes from, what to put there, or what was put in its place.
_REFERENCE = expression(
    r"\$[A-Za-z_{(]|<|\{\{|%\w+%|(?:os\.|process\.env|env\.)|\.{3}|[*xX•]+\Z"
    r"|(?:~|\.{1,2})/|/(?:etc|usr|var|home|Users|tmp|opt|run|root|mnt|dev|private|Library|bin|srv)\b"
    r"|[A-Za-z][A-Za-z0-9+.-]*://[^\s@?]*\Z"
)
_NUMBER = expression(r"[+-]?[\d.,_:/-]+")
_COUNTED = expression(r"(?:tokens|keys|auth|authorization|cookies?)\Z", re.IGNORECASE)
_PASSWORD = expression(r"pass|pwd|secret", re.IGNORECASE)
_KEY_WORD = expression(r"keys?", re.IGNORECASE)
_WORD_BEFORE = expression(r"([A-Za-z]{2,20})[ \t_-]\Z")
_WORD_WITH_NUMBER = expression(
    r"(?!(?:sha|md|base|utf|aes|rsa|argon|int|oauth)\d)[A-Za-z]{3,}\d+", re.IGNORECASE
)
_SPACE, _DIGIT, _SYMBOL = expression(r"\s"), expression(r"\d"), expression(r"[^\w-]")
_SHORTEST_VALUE, _SHORTEST_LOOSE = 4, 6


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
    word = _WORD_BEFORE.search(before) if _KEY_WORD.fullmatch(found.name) else None
    return found._replace(name=f"{word[1]}_{found.name}" if word else found.name, certain=False)


def _is_reference(name: str, value: str) -> bool:
    if len(value) < _SHORTEST_VALUE or _REFERENCE.match(value):
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

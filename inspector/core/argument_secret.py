"""Finds the secrets on a command line and in an address: behind options, in assignments, by their looks.

An argument without a name is a secret only if it looks random: a part of it of at least 6 characters mixes
letters and digits as no word with a number does. A path, a package, a host, a version or a date does not.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from inspector.core.package_run import package_run
from inspector.core.secret_value import looks_secret

_OPTION = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)(?:=(?P<value>.*))?", re.DOTALL)
_ATTACHED = re.compile(r"-(?P<option>[eD])(?P<name>[A-Za-z_]\w*)=.*", re.DOTALL)
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_][\w.-]*)=(?P<value>.*)", re.DOTALL)
_FIELD = re.compile(r"(?P<name>[A-Za-z][\w-]*)\s*:\s*(?P<value>.+)", re.DOTALL)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_USER_INFO = re.compile(r"(?P<user>[^/?#\s@:]*)(?::(?P<password>[^/?#\s@]*))?@")
_PATH_END = re.compile(r"[?#]|\Z")
_PARAMETER = re.compile(r"(?:(?P<name>[^=&?#;]*)=)?(?P<value>[^&?#;]+)")
_VARIABLES, _HEADERS = frozenset({"e", "env"}), frozenset({"H", "header", "headers"})
_KEY = "k"
_SHORTEST, _LONGEST, _SHORTEST_PART, _LONG_BASE64 = 8, 4096, 6, 32
_SEPARATORS = re.compile(r"[-_.:,=+~]+")
_FILE = re.compile(r".*\.[A-Za-z][A-Za-z0-9]{0,4}")
_BASE64 = re.compile(rf"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+/]{{{_LONG_BASE64},}}={{0,2}}")
# Words with a number behind them (`utf8`, `fetchPage2`, `ISO8859`) or before them, and a time within a date.
_WORD_AND_NUMBER = re.compile(
    r"(?=[A-Za-z]{1,16}\d)(?:(?:[A-Z]?[a-z]++){1,4}+|[A-Z]{1,5})\d{1,4}"
    r"|\d{1,4}[A-Za-z]{1,12}|\d+|[A-Za-z]+|\d{8}T\d{4,6}Z?"
)
_SAYS_SO = re.compile(r"secret|token(?!i)|passw|api_?key", re.IGNORECASE)
_SEGMENT = re.compile(r"[^/]+")


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
    if any(len(part) >= _SHORTEST_PART and not _WORD_AND_NUMBER.fullmatch(part) for part in parts):
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

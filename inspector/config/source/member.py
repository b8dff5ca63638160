"""Adds a member to an object of a JSON file's text, or takes one out; every other character stays.

Comments and trailing commas stay as they are, and so do the file's indentation and its line ends.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspector.config.json_text import without_comments

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_STEP = 2


@dataclass(frozen=True, slots=True)
class _Member:
    """Where a member begins and ends, and where its value begins."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in the text: where its braces are, its members, and its trailing comma (-1 for none)."""

    opening: int
    closing: int
    members: tuple[_Member, ...]
    comma: int = -1


def with_member(text: str, path: Sequence[str], key: str, value: Any) -> str:
    """The text with a member behind the last one of the object that `path` leads to.

    The text is a JSON object that has been read before; KeyError if the path leads to none.
    """
    found = _find(without_comments(text), path)
    line = "\r\n" if "\r\n" in text else "\n"
    inside = text[found.opening : found.closing]
    if "\n" not in inside and found.members:
        written = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
        return _inserted(text, found, f" {written}")
    outer = _indent(text, found.closing) if "\n" in inside else _indent(text, found.opening)
    inner = _indent(text, found.members[-1].start) if found.members else outer + " " * _STEP
    unit = inner.removeprefix(outer) or " " * _STEP
    dumped = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"{line}{inner}")
    written = f"{line}{inner}{json.dumps(key, ensure_ascii=False)}: {dumped}"
    if not found.members:
        before, after = text[: found.opening + 1], text[found.opening + 1 :]
        closing = "" if "\n" in inside else f"{line}{outer}"
        return f"{before}{written}{closing}{after}"
    return _inserted(text, found, written)


def without_member(text: str, path: Sequence[str], key: str) -> str:
    """The text without a member of the object that `path` leads to; KeyError if there is none."""
    plain = without_comments(text)
    found = _find(plain, path)
    names = [member.key for member in found.members]
    if key not in names:
        raise KeyError(key)
    at = names.index(key)
    member = found.members[at]
    start = len(text[: member.start].rstrip())
    is_last = at == len(names) - 1
    after = plain.find(",", member.end, found.closing)
    if not is_last or found.comma >= 0:
        return text[:start] + text[member.end : after] + text[after + 1 :]
    if not at:
        return text[:start] + text[member.end :]
    comma = plain.find(",", found.members[at - 1].end)
    return text[:comma] + text[comma + 1 : start] + text[member.end :]


def _inserted(text: str, found: _Object, written: str) -> str:
    """The text with a member behind the last one, whose comma stands where the file's style has it."""
    end = len(text[: found.closing].rstrip())
    if found.comma >= 0:
        return f"{text[:end]}{written},{text[end:]}"
    last = found.members[-1].end
    return f"{text[:last]},{text[last:end]}{written}{text[end:]}"


def _indent(text: str, position: int) -> str:
    """The white space that the position's line begins with."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _find(plain: str, path: Sequence[str]) -> _Object:
    found = _object(plain, plain.index("{"))
    for name in path:
        member = next((one for one in found.members if one.key == name), None)
        if member is None or plain[member.value] != "{":
            raise KeyError(name)
        found = _object(plain, member.value)
    return found


def _object(plain: str, opening: int) -> _Object:
    members: list[_Member] = []
    position, comma = opening + 1, -1
    while plain[position := _next(plain, position)] != "}":
        string = _STRING.match(plain, position)
        if string is None:
            raise KeyError(plain[position])
        value = _next(plain, _next(plain, string.end()) + 1)
        end = _value_end(plain, value)
        members.append(_Member(json.loads(string[0], strict=False), position, value, end))
        position, comma = _next(plain, end), -1
        if plain[position] == ",":
            position, comma = position + 1, position
    return _Object(opening, position, tuple(members), comma)


def _next(plain: str, position: int) -> int:
    """The next position that is no white space."""
    while plain[position].isspace() or plain[position] == "\ufeff":
        position += 1
    return position


def _value_end(plain: str, start: int) -> int:
    depth, position = 0, start
    while True:
        if plain[position] == '"':
            string = _STRING.match(plain, position)
            position = string.end() if string is not None else position + 1
        else:
            depth += (plain[position] in "{[") - (plain[position] in "}]")
            position += 1
        if not depth and (plain[position - 1] in '"}]' or plain[position] in ",}] \t\r\n"):
            return position

"""Edits the text of a configuration file in place: what else is in it stays as it is written.

Places that look right are tried in turn, and the first edit counts after which the file says exactly what it
should say. What is written in a way in which no place looks right is a KeyError.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from inspector.config.file import bare_json, without_comments

DECODER = json.JSONDecoder(strict=False)
YAML = (".yaml", ".yml")
_STEP = 2


def parsed(text: str, suffix: str) -> Any:
    """What the text of a file says. Raises ValueError or RecursionError."""
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix not in YAML:
        # Most files have no comments, and to look for them in one of megabytes takes a second.
        with suppress(ValueError):
            return json.loads(text, strict=False)
        return json.loads(bare_json(text), strict=False)
    import yaml

    from inspector.config.yaml_text import Loader

    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        # Its own text has a piece of the file, which may be a secret.
        at = getattr(error, "problem_mark", None)
        where = f" (at line {at.line + 1})" if at is not None else ""
        raise ValueError(f"{getattr(error, 'problem', None) or 'it is not YAML'}{where}") from error


def entry_at(data: Any, path: Sequence[str]) -> dict[str, Any]:
    """The object that the keys lead to, or the names of what is in a list; empty if there is none."""
    for key in path:
        if isinstance(data, list):
            data = next((one for one in data if isinstance(one, dict) and one.get("name") == key), None)
        else:
            data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def line_of(text: str, *keys: str) -> int:
    """The line of the last of these keys, each of which stands behind the one before; 0 if one does not."""
    at = 0
    for key in map(re.escape, keys):
        where = re.compile(
            rf"(?<![\w-])[\"']?{key}[\"']?\s*[]:=.]|\bname[\"']?\s*[:=]\s*[\"']?{key}(?![\w-])"
        )
        if (found := where.search(text, at)) is None:
            return 0
        at = found.end()
    return text.count("\n", 0, at) + 1


def first_valid(candidates: Iterable[str], suffix: str, wanted: Any, key: str) -> str:
    """The first text that says what is wanted. KeyError if none does."""
    for text in candidates:
        with suppress(ValueError):
            if parsed(text, suffix) == wanted:
                return text
    raise KeyError(key)


# Members of objects. Comments and trailing commas stay as they are, and so do indentation and line ends.


def with_item(text: str, path: Sequence[str], value: Any, suffix: str = ".json") -> str:
    """The text where the keys lead to this value, whether they led to another one, or to nothing yet.

    Objects that are missing on the way come with it; lists and what TOML and YAML have else are written on
    one line. KeyError if something that is no object is in the way.
    """
    wanted = parsed(text, suffix)
    inner, depth = wanted, 0
    while isinstance(inner, dict) and depth < len(path) - 1 and path[depth] in inner:
        inner, depth = inner[path[depth]], depth + 1
    key = path[depth]
    if not isinstance(inner, dict):
        raise KeyError(key)
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    is_new = key not in inner
    inner[key] = value
    if suffix not in (".toml", *YAML):
        edits = _with_member(text, path[:depth], key, value) if is_new else _with_other(text, key, value)
    else:
        edits = _with_line(text, path[:depth], key, value, suffix, is_new=is_new)
    return first_valid(edits, suffix, wanted, key)


def without_member(text: str, path: Sequence[str], key: str) -> str:
    """The text without a member of the object that `path` leads to; KeyError if there is none."""
    wanted = parsed(text, ".json")
    del entry_at(wanted, path)[key]
    return first_valid(_without_member(text, key), ".json", wanted, key)


def _members(bare: str, key: str) -> Iterator[tuple[int, int, int]]:
    """Where the members of that name may begin, their values begin, and those end."""
    spellings = "|".join(re.escape(json.dumps(key, ensure_ascii=is_ascii)) for is_ascii in (False, True))
    for found in re.finditer(rf"(?:{spellings})\s*:\s*", bare):
        with suppress(ValueError):
            yield found.start(), found.end(), DECODER.raw_decode(bare, found.end())[1]


def _with_other(text: str, key: str, value: Any) -> Iterator[str]:
    for start, at, end in _members(bare_json(text), key):
        lines = re.search(r"\n([ \t]*)\S", text[at:end])
        outer = _indent(text, start)
        unit = (lines[1].removeprefix(outer) or " " * _STEP) if lines else None
        dumped = json.dumps(value, ensure_ascii=False, indent=unit)
        line = "\r\n" if "\r\n" in text else "\n"
        yield edited(text, [(at, end, dumped.replace("\n", f"{line}{outer}"))])


def _with_line(
    text: str, above: Sequence[str], key: str, value: Any, suffix: str, *, is_new: bool
) -> Iterator[str]:
    """A key of TOML or YAML with another value; a new one below a header, before a sibling or in braces."""
    written = json.dumps(value, ensure_ascii=False)
    if not is_new:
        for found in re.finditer(KEY.format(re.escape(key)) + _VALUE, text, re.MULTILINE):
            behind = " " if found["list"] else ""
            yield edited(text, [(*found.span("value"), f"{behind}{written}")])
        return
    line, sign = "\r\n" if "\r\n" in text else "\n", " = " if suffix == ".toml" else ": "
    at = text.find(above[-1]) if above else 0
    places = _HEADER if suffix == ".toml" else _SIBLING
    for found in near(places, text, at):
        behind, ahead = ("", line) if suffix != ".toml" else (line, "")
        yield edited(
            text, [(found.end(), found.end(), f"{behind}{found['indent']}{key}{sign}{written}{ahead}")]
        )
    for found in near(_BRACE, text, at):
        yield edited(text, [(found.end(), found.end(), f"{key}{sign}{written}, ")])


def _with_member(text: str, path: Sequence[str], key: str, value: Any) -> Iterator[str]:
    bare, line = bare_json(text), "\r\n" if "\r\n" in text else "\n"
    name_of = json.dumps(key, ensure_ascii=False)
    whole = [(0, bare.find("{"), len(bare.rstrip()))]
    for start, opening, end in _members(bare, path[-1]) if path else whole:
        closing = end - 1
        last, behind = len(bare[:closing].rstrip()), len(text[:closing].rstrip())
        inside, is_empty = text[opening:closing], last == opening + 1
        if "\n" not in inside and not is_empty:
            written = f" {name_of}: {json.dumps(value, ensure_ascii=False)}"
        else:
            outer = _indent(text, start)
            first = re.match(r"\{\s*?\n([ \t]*)(?=\S)", bare[opening:last])
            inner = first[1] if first else outer + " " * _STEP
            unit = inner.removeprefix(outer) or " " * _STEP
            dumped = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"{line}{inner}")
            ending = f"{line}{outer}" if "\n" not in inside else ""
            written = f"{line}{inner}{name_of}: {dumped}{ending}"
        if text[last] == ",":
            yield f"{text[:behind]}{written},{text[behind:]}"
        else:
            comma = "" if is_empty else ","
            yield f"{text[:last]}{comma}{text[last:behind]}{written}{text[behind:]}"


def _without_member(text: str, key: str) -> Iterator[str]:
    plain = without_comments(text)
    for start, _, end in _members(bare_json(text), key):
        begin, before = len(text[:start].rstrip()), len(plain[:start].rstrip())
        if comma := re.match(r"\s*,", plain[end:]):
            after = end + comma.end()
            yield text[:begin] + text[end : after - 1] + text[after:]
        elif plain[before - 1] == ",":
            yield text[: before - 1] + text[before:begin] + text[end:]
        else:
            yield text[:begin] + text[end:]


def _indent(text: str, position: int) -> str:
    """The white space that the position's line begins with."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


# Keys and values, in JSON, TOML and YAML.

KEY = r"(?:^|(?<=[\s{{,])|(?<=[\"']))(?:{})[\"']?[ \t]*[:=][ \t]*"
TOKEN = r"(?:\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\s\"'\[\]{},#|>][^\n\"'\[\]{},#]*?(?=\s*(?:[],}\n#]|\Z)))"
# A list on a line or on several, a list of dashes, or another value.
_VALUE = rf"(?P<value>\[[^\]]*\]|(?P<list>(?:[ \t]*\r?\n[ \t]*- [^\n]*)+)|{TOKEN})"
_HEADER = re.compile(r"^(?P<indent>[ \t]*)\[[^\[\n][^\n]*\][ \t]*(?:#[^\r\n]*)?", re.MULTILINE)
_SIBLING = re.compile(r"^(?=(?P<indent>[ \t]*)(?:cmd|command|uri|url|type|name)[ \t]*:)", re.MULTILINE)
_BRACE = re.compile(r"\{[ \t]*")


def near(pattern: re.Pattern[str], text: str, position: int) -> list[re.Match[str]]:
    """What is found, the nearest first: an entry's keys stand together."""
    return sorted(pattern.finditer(text), key=lambda found: abs(found.start() - position))


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with other texts from some positions to others."""
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text

"""Edits the text of a configuration file in place: what else is in it stays as it is written.

Places that look right are tried in turn, and the first edit counts after which the file says exactly what it
should say. What is written in a way in which no place looks right is a KeyError.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import product
from typing import Any

from inspector.config.file import bare_json, without_comments

_DECODER = json.JSONDecoder(strict=False)
_YAML = (".yaml", ".yml")
_STEP = 2


def parsed(text: str, suffix: str) -> Any:
    """What the text of a file says. Raises ValueError or RecursionError."""
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix not in _YAML:
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


def _first(candidates: Iterable[str], suffix: str, wanted: Any, key: str) -> str:
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
    if suffix not in (".toml", *_YAML):
        edits = _with_member(text, path[:depth], key, value) if is_new else _with_other(text, key, value)
    else:
        edits = _with_line(text, path[:depth], key, value, suffix, is_new=is_new)
    return _first(edits, suffix, wanted, key)


def without_member(text: str, path: Sequence[str], key: str) -> str:
    """The text without a member of the object that `path` leads to; KeyError if there is none."""
    wanted = parsed(text, ".json")
    del entry_at(wanted, path)[key]
    return _first(_without_member(text, key), ".json", wanted, key)


def _members(bare: str, key: str) -> Iterator[tuple[int, int, int]]:
    """Where the members of that name may begin, their values begin, and those end."""
    spellings = "|".join(re.escape(json.dumps(key, ensure_ascii=is_ascii)) for is_ascii in (False, True))
    for found in re.finditer(rf"(?:{spellings})\s*:\s*", bare):
        with suppress(ValueError):
            yield found.start(), found.end(), _DECODER.raw_decode(bare, found.end())[1]


def _with_other(text: str, key: str, value: Any) -> Iterator[str]:
    for start, at, end in _members(bare_json(text), key):
        lines = re.search(r"\n([ \t]*)\S", text[at:end])
        outer = _indent(text, start)
        unit = (lines[1].removeprefix(outer) or " " * _STEP) if lines else None
        dumped = json.dumps(value, ensure_ascii=False, indent=unit)
        line = "\r\n" if "\r\n" in text else "\n"
        yield _edited(text, [(at, end, dumped.replace("\n", f"{line}{outer}"))])


def _with_line(
    text: str, above: Sequence[str], key: str, value: Any, suffix: str, *, is_new: bool
) -> Iterator[str]:
    """A key of TOML or YAML with another value; a new one below a header, before a sibling or in braces."""
    written = json.dumps(value, ensure_ascii=False)
    if not is_new:
        for found in re.finditer(_KEY.format(re.escape(key)) + _VALUE, text, re.MULTILINE):
            behind = " " if found["list"] else ""
            yield _edited(text, [(*found.span("value"), f"{behind}{written}")])
        return
    line, sign = "\r\n" if "\r\n" in text else "\n", " = " if suffix == ".toml" else ": "
    at = text.find(above[-1]) if above else 0
    places = _HEADER if suffix == ".toml" else _SIBLING
    for found in _near(places, text, at):
        behind, ahead = ("", line) if suffix != ".toml" else (line, "")
        yield _edited(
            text, [(found.end(), found.end(), f"{behind}{found['indent']}{key}{sign}{written}{ahead}")]
        )
    for found in _near(_BRACE, text, at):
        yield _edited(text, [(found.end(), found.end(), f"{key}{sign}{written}, ")])


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


def _own(text: str, path: Sequence[str], suffix: str) -> tuple[str, str, str, Sequence[str]]:
    """What stands before an entry, its own text, what stands behind, and the keys to it in that.

    Each edit that is tried is parsed: of JSON only the entry, as a file may have megabytes of others.
    """
    if suffix in (".toml", *_YAML):
        return "", text, "", path
    bare = text
    try:
        json.loads(text, strict=False)
    except ValueError:
        bare = bare_json(text)
    at = len(bare) - len(bare.lstrip())
    for key in path:
        at = _value_of(bare, at, key)
    end = _DECODER.raw_decode(bare, at)[1]
    return text[:at], text[at:end], text[end:], ()


_COLON, _COMMA = re.compile(r"\s*:\s*"), re.compile(r"[\s,]*")


def _value_of(bare: str, at: int, key: str) -> int:
    """Where the value of a member of the object at that position begins. KeyError without one."""
    found, at = -1, _COMMA.match(bare, at + 1).end()  # type: ignore[union-attr]
    while bare[at : at + 1] == '"':
        name, at = _DECODER.raw_decode(bare, at)
        at = _COLON.match(bare, at).end()  # type: ignore[union-attr]
        found = at if name == key else found
        at = _COMMA.match(bare, _DECODER.raw_decode(bare, at)[1]).end()  # type: ignore[union-attr]
    if found < 0:
        raise KeyError(key)
    return found


# The command and the arguments of a server's entry, in JSON, TOML and YAML.

_KEY = r"(?:^|(?<=[\s{{,])|(?<=[\"']))(?:{})[\"']?[ \t]*[:=][ \t]*"
_TOKEN = r"(?:\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\s\"'\[\]{},#|>][^\n\"'\[\]{},#]*?(?=\s*(?:[],}\n#]|\Z)))"
_COMMAND = re.compile(rf"{_KEY.format('command|cmd')}(?P<word>{_TOKEN})", re.MULTILINE)
_ARGS = re.compile(rf"{_KEY.format('args')}(?:\[\s*|\r?\n(?P<dash>[ \t]*- ))", re.MULTILINE)
# A list on a line or on several, a list of dashes, or another value.
_VALUE = rf"(?P<value>\[[^\]]*\]|(?P<list>(?:[ \t]*\r?\n[ \t]*- [^\n]*)+)|{_TOKEN})"
_HEADER = re.compile(r"^(?P<indent>[ \t]*)\[[^\[\n][^\n]*\][ \t]*(?:#[^\r\n]*)?", re.MULTILINE)
_SIBLING = re.compile(r"^(?=(?P<indent>[ \t]*)(?:cmd|command|uri|url|type|name)[ \t]*:)", re.MULTILINE)
_BRACE = re.compile(r"\{[ \t]*")
# So many keys of a name are tried beside an address, the nearest first.
_NEAREST = 3
_BETWEEN = r"(?:\s*,\s*|\s*\n[ \t]*- )"


def with_command_ahead(text: str, path: Sequence[str], words: Sequence[str], suffix: str = ".json") -> str:
    """The text where the entry starts these words, and has what it started before behind them.

    Nothing else changes, not even how the entry's own words are written. KeyError unless it has a command.
    """
    before, text, behind, path = _own(text, path, suffix)
    wanted = parsed(text, suffix)
    entry = entry_at(wanted, path)
    key = _command_key(entry)
    entry["args"], has_args = [*words[1:], entry[key], *(entry.get("args") or ())], "args" in entry
    entry[key] = words[0]
    return before + _first(_with_words(text, words, has_args=has_args), suffix, wanted, key) + behind


def _with_words(text: str, words: Sequence[str], *, has_args: bool) -> Iterator[str]:
    first, *rest = _written(words)
    for command in _COMMAND.finditer(text):
        start, end = command.span("word")
        own = [*rest, command["word"]]
        if not has_args:
            for form in (
                ', "args": [{}]',
                ", args: [{}]",
                "\nargs = [{}]",
                f"\n{_column(text, command)}args: [{{}}]",
            ):
                yield text[:start] + first + form.format(", ".join(own)) + text[end:]
        for args in _near(_ARGS, text, start):
            at, dash = args.end(), args["dash"]
            ahead = f"\n{dash}".join(own) if dash else ", ".join(own)
            is_empty = not dash and text[at] == "]"
            ahead += "" if is_empty else f"\n{dash}" if dash else ", "
            yield _edited(text, [(start, end, first), (at, at, ahead)])


_TO_VARIABLES = {"headers": "env", "http_headers": "env", "bearer_token_env_var": "env_vars"}


def with_command_instead(
    text: str, path: Sequence[str], key: str, words: Sequence[str], suffix: str = ".json"
) -> str:
    """The text where the entry starts these words over stdio instead of having an address under `key`.

    Its headers become variables; Goose has names of its own. KeyError if it has a command or variables, too.
    """
    before, text, behind, path = _own(text, path, suffix)
    wanted = parsed(text, suffix)
    entry, is_goose = entry_at(wanted, path), key == "uri"
    names = {old: "envs" if is_goose else new for old, new in _TO_VARIABLES.items() if old in entry}
    command = "cmd" if is_goose else "command"
    if (
        key not in entry
        or len(set(names.values())) < len(names)
        or {command, "args", *names.values()} & set(entry)
    ):
        raise KeyError(key)
    del entry[key]
    entry[command], entry["args"] = words[0], list(words[1:])
    for old, new in names.items():
        value = entry.pop(old)
        entry[new] = [value] if isinstance(value, str) else value
    if "type" in entry:
        entry["type"] = "stdio"
    candidates = _instead(text, key, command, words, names, suffix, "type" in entry)
    return before + _first(candidates, suffix, wanted, key) + behind


def _instead(
    text: str,
    key: str,
    command: str,
    words: Sequence[str],
    names: Mapping[str, str],
    suffix: str,
    has_type: bool,
) -> Iterator[str]:
    first, *rest = _written(words)
    args = ", ".join(rest)
    for found in re.finditer(rf"{_KEY.format(re.escape(key))}{_TOKEN}", text, re.MULTILINE):
        changes = [_renamed(text, old, new, found.start()) for old, new in names.items()]
        if has_type:
            types = re.compile(rf"{_KEY.format('type')}(?P<word>{_TOKEN})", re.MULTILINE)
            near = _near(types, text, found.start())[:_NEAREST]
            changes.append([(*one.span("word"), '"stdio"') for one in near])
        forms = ['{}": {}, "args": [{}]']
        if suffix == ".toml":
            forms = ["{} = {}\nargs = [{}]", "{} = {}, args = [{}]"]
        elif suffix in _YAML:
            forms = [f"{{}}: {{}}\n{_column(text, found)}args: [{{}}]", "{}: {}, args: [{}]"]
        for form in forms:
            for edits in product([(*found.span(), form.format(command, first, args))], *changes):
                yield _edited(text, edits)


def _renamed(text: str, old: str, new: str, position: int) -> list[tuple[int, int, str]]:
    """The edits that may rename a key near there; a text becomes a list of it."""
    key = re.compile(rf"(?<![\w-]){old}(?=[\"']?\s*[]:=.])(?P<text>\s*=\s*(?P<word>{_TOKEN}))?")
    return [
        (*one.span(), f"{new} = [{one['word']}]")
        if new == "env_vars" and one["text"]
        else (one.start(), one.start() + len(old), new)
        for one in _near(key, text, position)[:_NEAREST]
    ]


def reverted(text: str, path: Sequence[str], changed: str, original: str, suffix: str = ".json") -> str:
    """The text with the entry as in the original: only those of its lines change that were changed.

    KeyError if the entry is not as in the changed one.
    """
    before, now, behind, inner = _own(text, path, suffix)
    (_, old, _, _), (_, new, _, _) = _own(changed, path, suffix), _own(original, path, suffix)
    lines, others = old.splitlines(keepends=True), new.splitlines(keepends=True)
    wanted = parsed(now, suffix)
    entry = entry_at(wanted, inner)
    entry.clear()
    entry.update(entry_at(parsed(new, suffix), inner))
    for tag, *at in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        was = "".join(lines[at[0] : at[1]])
        if tag != "equal" and was:
            now = now.replace(was, "".join(others[at[2] : at[3]]), 1)
    return before + _first([now], suffix, wanted, path[-1]) + behind


def without_command_ahead(text: str, path: Sequence[str], words: Sequence[str], suffix: str = ".json") -> str:
    """The text that `with_command_ahead` had before it, but for an empty list of arguments.

    KeyError unless the entry starts these words.
    """
    before, text, behind, path = _own(text, path, suffix)
    wanted = parsed(text, suffix)
    entry = entry_at(wanted, path)
    key, own = _command_key(entry), len(words)
    if [entry[key], *entry["args"][: own - 1]] != list(words) or len(entry["args"]) < own:
        raise KeyError(key)
    entry[key], entry["args"] = entry["args"][own - 1], entry["args"][own:]
    return before + _first(_without_words(text, words), suffix, wanted, key) + behind


def _without_words(text: str, words: Sequence[str]) -> Iterator[str]:
    first, *rest = _written(words)
    ahead = "".join(re.escape(word) + _BETWEEN for word in rest)
    started = re.compile(rf"{_ARGS.pattern}(?P<ahead>{ahead}(?P<word>{_TOKEN}){_BETWEEN}?)", re.MULTILINE)
    for command in _COMMAND.finditer(text):
        for args in _near(started, text, command.start()) if command["word"] == first else ():
            yield _edited(text, [(*command.span("word"), args["word"]), (*args.span("ahead"), "")])


def _near(pattern: re.Pattern[str], text: str, position: int) -> list[re.Match[str]]:
    """What is found, the nearest first: an entry's keys stand together."""
    return sorted(pattern.finditer(text), key=lambda found: abs(found.start() - position))


def _column(text: str, found: re.Match[str]) -> str:
    """As many spaces as there are characters before the key, behind which a quotation mark may stand."""
    return " " * (found.start() - text.rfind("\n", 0, found.start()) - 1)


def _command_key(entry: dict[str, Any]) -> str:
    """Goose has a name of its own for it."""
    return "cmd" if "cmd" in entry else "command"


def _written(words: Iterable[str]) -> list[str]:
    """The words in quotation marks, as all three formats have them."""
    return [json.dumps(word, ensure_ascii=False) for word in words]


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text

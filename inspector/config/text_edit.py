"""Edits the text of a configuration file in place: what else is in it stays as it is written."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.config.file import bare_json, without_comments

# Comments and trailing commas stay as they are, and so do the file's indentation and its line ends.

_DECODER = json.JSONDecoder(strict=False)
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
    found = _find(text, path)
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
    found = _find(text, path)
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


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where the values of a server's entry are in a text, and the items of its `args`.

    `between` separates two items, `new_args` is what adds `args` behind the command.
    """

    values: Mapping[str, Span]
    items: Sequence[Span]
    between: str = ", "
    new_args: str = ', "args": [{}]'

    @property
    def command_key(self) -> str:
        """Goose has a name of its own for it."""
        return "cmd" if "cmd" in self.values else "command"


def with_command_ahead(text: str, path: Sequence[str], words: Sequence[str], suffix: str = ".json") -> str:
    """The text where the entry starts these words, and has what it started before behind them.

    Nothing else changes, not even how the entry's own words are written. KeyError unless it has a command.
    """
    entry = _ENTRIES.get(suffix, _json_entry)(text, path)
    start, end = entry.values[entry.command_key]
    first, *rest = _written(words)
    ahead = entry.between.join([*rest, text[start:end]])
    edits = [(start, end, first)]
    if "args" not in entry.values:
        edits.append((end, end, entry.new_args.format(ahead)))
    elif entry.items:
        edits.append((entry.items[0][0], entry.items[0][0], ahead + entry.between))
    else:
        opening = entry.values["args"][0] + 1
        edits.append((opening, opening, ahead))
    was = entry_at(parsed(text, suffix), path)
    args = [*words[1:], was[entry.command_key], *(was.get("args") or ())]
    return _checked(text, _edited(text, edits), path, suffix, {entry.command_key: words[0], "args": args})


def without_command_ahead(text: str, path: Sequence[str], words: Sequence[str], suffix: str = ".json") -> str:
    """The text that `with_command_ahead` had before it, but for an empty list of arguments.

    KeyError unless the entry starts these words.
    """
    entry = _ENTRIES.get(suffix, _json_entry)(text, path)
    start, end = span = entry.values[entry.command_key]
    said = [text[slice(*span)] for span in (span, *entry.items)]
    own = len(words)
    if said[:own] != _written(words) or len(said) == own:
        raise KeyError("command")
    after = entry.items[own][0] if len(entry.items) > own else entry.items[own - 1][1]
    was = entry_at(parsed(text, suffix), path)["args"]
    changes = {entry.command_key: was[own - 1], "args": was[own:]}
    edits = [(start, end, said[own]), (entry.items[0][0], after, "")]
    return _checked(text, _edited(text, edits), path, suffix, changes)


def with_value(text: str, path: Sequence[str], key: str, value: str, suffix: str = ".json") -> str:
    """The text where the entry has another text for a key that it has. KeyError otherwise."""
    entry = _ENTRIES.get(suffix, _json_entry)(text, path)
    start, end = entry.values[key]
    return _checked(text, _edited(text, [(start, end, _written([value])[0])]), path, suffix, {key: value})


def parsed(text: str, suffix: str) -> Any:
    """What the text of a file says. Raises ValueError or RecursionError."""
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix not in _ENTRIES:
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
    """The entry that the keys lead to, or the names of what is in a list; empty if there is none."""
    for key in path:
        if isinstance(data, list):
            data = next((one for one in data if isinstance(one, dict) and one.get("name") == key), None)
        else:
            data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _checked(text: str, after: str, path: Sequence[str], suffix: str, changes: Mapping[str, Any]) -> str:
    """The changed text. KeyError if it says anything else than before but for these changes."""
    wanted = parsed(text, suffix)
    entry_at(wanted, path).update(changes)
    try:
        if parsed(after, suffix) == wanted:
            return after
    except ValueError:
        pass
    raise KeyError(path[-1])


def _written(words: Iterable[str]) -> list[str]:
    """The words in quotation marks, as all three formats have them."""
    return [json.dumps(word, ensure_ascii=False) for word in words]


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _json_entry(text: str, path: Sequence[str]) -> _Entry:
    values = {member.key: (member.value, member.end) for member in _find(text, path).members}
    items, plain, bare = list[Span](), without_comments(text), bare_json(text)
    if "args" in values:
        at = _next(plain, plain.index("[", values["args"][0]) + 1)
        while plain[at] != "]":
            items.append((at, _DECODER.raw_decode(bare, at)[1]))
            at = _next(plain, items[-1][1])
            at = _next(plain, at + 1) if plain[at] == "," else at
    return _Entry(values, items)


_TOML_TOKEN = re.compile(r"#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_TOML_VALUE = re.compile(r"^[ \t]*([\w-]+)[ \t]*=[ \t]*(?=[\"'\[])", re.MULTILINE)
_TOML_TABLE = re.compile(r"^[ \t]*(\[[^\[\]\n]+\])\s*?$", re.MULTILINE)


def _toml_entry(text: str, path: Sequence[str]) -> _Entry:
    """An entry with a table of its own, as Codex writes it; KeyError for all else."""
    tokens = {found.start(): found.end() for found in _TOML_TOKEN.finditer(text)}
    plain = _TOML_TOKEN.sub(lambda found: found[0][0] + " " * (len(found[0]) - 1), text)
    tables = [
        (found.end(), tomllib.loads(text[slice(*found.span(1))]))
        for found in _TOML_TABLE.finditer(plain.replace("#", " "))
    ]
    wanted: Any = {}
    for key in reversed(path):
        wanted = {key: wanted}
    start = next((at for at, keys in tables if keys == wanted), -1)
    if start < 0:
        raise KeyError(path[-1])
    end = next((at for at, _ in tables if at > start), len(text))
    values = {}
    for found in _TOML_VALUE.finditer(plain, start, end):
        at = found.end()
        values[found[1]] = at, tokens[at] if at in tokens else plain.index("]", at) + 1
    first, last = values.get("args", (0, 0))
    items = [span for span in tokens.items() if first < span[0] < last and text[span[0]] != "#"]
    return _Entry(values, items, new_args="\nargs = [{}]")


def _yaml_entry(text: str, path: Sequence[str]) -> _Entry:
    """An entry in a mapping, or in a list whose entries have names, as Continue writes it."""
    import yaml

    node: Any = yaml.compose(text, yaml.SafeLoader)
    for key in path:
        node = _yaml_child(node, key)
    if not isinstance(node, yaml.MappingNode):
        raise KeyError(path[-1])
    values = {name.value: (one.start_mark.index, one.end_mark.index) for name, one in node.value}
    args, items, between = _yaml_child(node, "args"), list[Span](), ", "
    if "args" in values:
        if not isinstance(args, yaml.SequenceNode):
            raise KeyError("args")
        items = [(one.start_mark.index, one.end_mark.index) for one in args.value]
        between = ", " if args.flow_style else f"\n{' ' * args.start_mark.column}- "
    indent = " " * node.start_mark.column
    new_args = ", args: [{}]" if node.flow_style else f"\n{indent}args: [{{}}]"
    return _Entry(values, items, between, new_args)


def _yaml_child(node: Any, key: str) -> Any:
    """What a mapping has for the key, or the one of that name in a list; None without."""
    for part in getattr(node, "value", ()):
        name, found = part if isinstance(part, tuple) else (_yaml_child(part, "name"), part)
        if getattr(name, "value", None) == key:
            return found
    return None


_ENTRIES: Mapping[str, Callable[[str, Sequence[str]], _Entry]] = {
    ".toml": _toml_entry,
    ".yaml": _yaml_entry,
    ".yml": _yaml_entry,
}


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


def _find(text: str, path: Sequence[str]) -> _Object:
    plain, bare = without_comments(text), bare_json(text)
    found = _object(plain, bare, plain.index("{"))
    for name in path:
        member = next((one for one in found.members if one.key == name), None)
        if member is None or plain[member.value] != "{":
            raise KeyError(name)
        found = _object(plain, bare, member.value)
    return found


def _object(plain: str, bare: str, opening: int) -> _Object:
    """The object that opens there; `bare` is the text without trailing commas, too."""
    members: list[_Member] = []
    position, comma = opening + 1, -1
    while plain[position := _next(plain, position)] != "}":
        key, end = _DECODER.raw_decode(bare, position)
        value = _next(plain, _next(plain, end) + 1)
        end = _DECODER.raw_decode(bare, value)[1]
        members.append(_Member(key, position, value, end))
        position, comma = _next(plain, end), -1
        if plain[position] == ",":
            position, comma = position + 1, position
    return _Object(opening, position, tuple(members), comma)


def _next(plain: str, position: int) -> int:
    """The next position that is no white space."""
    while plain[position].isspace() or plain[position] == "\ufeff":
        position += 1
    return position

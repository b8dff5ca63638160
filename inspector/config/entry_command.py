"""Edits the command that a server's entry starts, in JSON, TOML and YAML, as `text_edit` edits all else."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import product
from typing import Any

from inspector.config.file import bare_json
from inspector.config.text_edit import (
    DECODER,
    KEY,
    TOKEN,
    YAML,
    edited,
    entry_at,
    first_valid,
    near,
    parsed,
)

_COMMAND = re.compile(rf"{KEY.format('command|cmd')}(?P<word>{TOKEN})", re.MULTILINE)
_ARGS = re.compile(rf"{KEY.format('args')}(?:\[\s*|\r?\n(?P<dash>[ \t]*- ))", re.MULTILINE)
# So many keys of a name are tried beside an address, the nearest first.
_NEAREST = 3
_BETWEEN = r"(?:\s*,\s*|\s*\n[ \t]*- )"


def _own(text: str, path: Sequence[str], suffix: str) -> tuple[str, str, str, Sequence[str]]:
    """What stands before an entry, its own text, what stands behind, and the keys to it in that.

    Each edit that is tried is parsed: of JSON only the entry, as a file may have megabytes of others.
    """
    if suffix in (".toml", *YAML):
        return "", text, "", path
    bare = text
    try:
        json.loads(text, strict=False)
    except ValueError:
        bare = bare_json(text)
    at = len(bare) - len(bare.lstrip())
    for key in path:
        at = _value_of(bare, at, key)
    end = DECODER.raw_decode(bare, at)[1]
    return text[:at], text[at:end], text[end:], ()


_COLON, _COMMA = re.compile(r"\s*:\s*"), re.compile(r"[\s,]*")


def _value_of(bare: str, at: int, key: str) -> int:
    """Where the value of a member of the object at that position begins. KeyError without one."""
    found, at = -1, _COMMA.match(bare, at + 1).end()  # type: ignore[union-attr]
    while bare[at : at + 1] == '"':
        name, at = DECODER.raw_decode(bare, at)
        at = _COLON.match(bare, at).end()  # type: ignore[union-attr]
        found = at if name == key else found
        at = _COMMA.match(bare, DECODER.raw_decode(bare, at)[1]).end()  # type: ignore[union-attr]
    if found < 0:
        raise KeyError(key)
    return found


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
    return before + first_valid(_with_words(text, words, has_args=has_args), suffix, wanted, key) + behind


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
        for args in near(_ARGS, text, start):
            at, dash = args.end(), args["dash"]
            ahead = f"\n{dash}".join(own) if dash else ", ".join(own)
            is_empty = not dash and text[at] == "]"
            ahead += "" if is_empty else f"\n{dash}" if dash else ", "
            yield edited(text, [(start, end, first), (at, at, ahead)])


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
    return before + first_valid(candidates, suffix, wanted, key) + behind


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
    for found in re.finditer(rf"{KEY.format(re.escape(key))}{TOKEN}", text, re.MULTILINE):
        changes = [_renamed(text, old, new, found.start()) for old, new in names.items()]
        if has_type:
            types = re.compile(rf"{KEY.format('type')}(?P<word>{TOKEN})", re.MULTILINE)
            close = near(types, text, found.start())[:_NEAREST]
            changes.append([(*one.span("word"), '"stdio"') for one in close])
        forms = ['{}": {}, "args": [{}]']
        if suffix == ".toml":
            forms = ["{} = {}\nargs = [{}]", "{} = {}, args = [{}]"]
        elif suffix in YAML:
            forms = [f"{{}}: {{}}\n{_column(text, found)}args: [{{}}]", "{}: {}, args: [{}]"]
        for form in forms:
            for edits in product([(*found.span(), form.format(command, first, args))], *changes):
                yield edited(text, edits)


def _renamed(text: str, old: str, new: str, position: int) -> list[tuple[int, int, str]]:
    """The edits that may rename a key near there; a text becomes a list of it."""
    key = re.compile(rf"(?<![\w-]){old}(?=[\"']?\s*[]:=.])(?P<text>\s*=\s*(?P<word>{TOKEN}))?")
    return [
        (*one.span(), f"{new} = [{one['word']}]")
        if new == "env_vars" and one["text"]
        else (one.start(), one.start() + len(old), new)
        for one in near(key, text, position)[:_NEAREST]
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
    return before + first_valid([now], suffix, wanted, path[-1]) + behind


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
    return before + first_valid(_without_words(text, words), suffix, wanted, key) + behind


def _without_words(text: str, words: Sequence[str]) -> Iterator[str]:
    first, *rest = _written(words)
    ahead = "".join(re.escape(word) + _BETWEEN for word in rest)
    started = re.compile(rf"{_ARGS.pattern}(?P<ahead>{ahead}(?P<word>{TOKEN}){_BETWEEN}?)", re.MULTILINE)
    for command in _COMMAND.finditer(text):
        for args in near(started, text, command.start()) if command["word"] == first else ():
            yield edited(text, [(*command.span("word"), args["word"]), (*args.span("ahead"), "")])


def _command_key(entry: dict[str, Any]) -> str:
    """Goose has a name of its own for it."""
    return "cmd" if "cmd" in entry else "command"


def _column(text: str, found: re.Match[str]) -> str:
    """As many spaces as there are characters before the key, behind which a quotation mark may stand."""
    return " " * (found.start() - text.rfind("\n", 0, found.start()) - 1)


def _written(words: Iterable[str]) -> list[str]:
    """The words in quotation marks, as all three formats have them."""
    return [json.dumps(word, ensure_ascii=False) for word in words]

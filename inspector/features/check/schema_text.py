"""Where a tool's schema stands in source files, as JSON or a literal of Python or JavaScript; a new one.

Only what differs is written; all else stays as its author wrote it. It is offered only if what is written
reads as the new schema.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.features.check.source_text import Replacement, text_of, why_lost
from inspector.schema.json_value import JsonObject

_SPACE = r"(?:\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*"
_TOKEN = re.compile(
    _SPACE + r"(?P<token>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`$\\]*`"
    r"|[A-Za-z_$][\w$]*|-?\d[\w.+-]*|[{}\[\](),:+])",
    re.DOTALL,
)
_NAMED: Mapping[str, Any] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}
_QUOTES = "\"'`"
_MOST_READ, _DEEPEST = 200, 60


class _NoLiteralError(ValueError):
    """What stands there is not a value alone."""


@dataclass
class _Node:
    """A value in a text: where it stands, and what it is made of, each with where its key begins."""

    value: Any
    start: int
    end: int
    parts: list[tuple[int, Any, "_Node"]] = field(default_factory=list)


@dataclass
class _Reader:
    text: str
    at: int

    def next(self, *, peek: bool = False) -> tuple[str, int]:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise _NoLiteralError
        self.at = self.at if peek else found.end()
        return found["token"], found.start("token")

    def value(self, depth: int = 0) -> _Node:
        """The value that stands next. Raises _NoLiteralError."""
        token, start = self.next()
        if depth > _DEEPEST:
            raise _NoLiteralError
        if token == "(":
            node = self.value(depth + 1)
            self._expect(")")
        elif token in "{[":
            return self._parts(_Node({} if token == "{" else [], start, 0), depth)
        elif token[0] in _QUOTES:
            node = _Node(_string(token), start, self.at)
            while (more := self.next(peek=True)[0])[0] in f"{_QUOTES}+":
                self.next()
                node.value += _string(more) if more != "+" else _string(self.next()[0])
        else:
            node = _Node(_NAMED[token] if token in _NAMED else _number(token), start, self.at)
        node.end = self.at
        return node

    def _parts(self, whole: _Node, depth: int) -> _Node:
        while (token := self.next(peek=True))[0] not in "}]":
            start = token[1]
            key: Any = len(whole.parts)
            if isinstance(whole.value, dict):
                named = self.next()[0]
                key = _string(named) if named[0] in _QUOTES else named
                self._expect(":")
            part = self.value(depth + 1)
            whole.parts.append((start, key, part))
            if isinstance(whole.value, dict):
                whole.value[key] = part.value
            else:
                whole.value.append(part.value)
            if self.next(peek=True)[0] == ",":
                self.next()
        self.next()
        whole.end = self.at
        return whole

    def _expect(self, token: str) -> None:
        if self.next()[0] != token:
            raise _NoLiteralError


def _string(token: str) -> str:
    if token[0] not in _QUOTES:
        raise _NoLiteralError
    try:
        return token[1:-1] if token[0] == "`" else str(ast.literal_eval(token))
    except (ValueError, SyntaxError) as error:
        raise _NoLiteralError from error


def _number(token: str) -> int | float:
    try:
        return json.loads(token)  # type: ignore[no-any-return]
    except ValueError as error:
        raise _NoLiteralError from error


def schema_replacement(
    files: Sequence[Path], name: str, old: JsonObject, new: JsonObject
) -> Replacement | None:
    """The first file that has a tool's schema in one place, with a new one there; None if none has."""
    for path in files:
        text = "" if why_lost(path) else text_of(path)
        found = list(_found(text, old)) if name in text else []
        if len(found) > 1:
            # Of tools with equal schemas, it is the one behind the tool's name.
            named = [
                one.end()
                for one in re.finditer(rf"[\"'`]{re.escape(name)}[\"'`]|\bdef {re.escape(name)}\b", text)
            ]
            found = [one for one in found if len(named) == 1 and one.start > named[0]][:1]
        if len(found) != 1:
            continue
        node = found[0]
        changed = text[: node.start] + _written(text, node, new, path.suffix) + text[node.end :]
        if any(one.value == new for one in _found(changed, new)):
            return Replacement(path, text.encode(), changed.encode())
    return None


def _found(text: str, schema: JsonObject) -> Iterator[_Node]:
    """Where a schema stands in a text."""
    keys = "|".join(re.escape(key) for key in schema)
    opens = re.compile(rf"\{{{_SPACE}[\"']?(?:{keys})[\"']?\s*:", re.DOTALL)
    for number, one in enumerate(opens.finditer(text) if keys else ()):
        if number > _MOST_READ:
            return
        try:
            node = _Reader(text, one.start()).value()
        except (_NoLiteralError, TypeError):
            continue
        if node.value == schema:
            yield node


def _written(text: str, node: _Node, new: Any, suffix: str) -> str:
    """A value's text with what differs from the new one in its place."""
    own, old = text[node.start : node.end], node.value
    if json.dumps(old) == json.dumps(new):
        return own
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        kept: dict[Any, Any] = dict(enumerate(new))
    elif isinstance(old, dict) and isinstance(new, dict) and node.parts:
        kept = new
    else:
        return _rendered(new, suffix)
    is_bare = text[node.parts[0][0]] not in _QUOTES
    between = text[node.parts[0][2].end : node.parts[1][0]] if len(node.parts) > 1 else ", "
    pieces: list[str] = []
    for start, key, part in node.parts:
        if key in kept:
            pieces.append(text[start : part.start] + _written(text, part, kept[key], suffix))
    for key in (key for key in kept if all(key != one for _, one, _ in node.parts)):
        said = key if is_bare and str(key).isidentifier() else json.dumps(key)
        pieces.append(f"{said}: {_rendered(kept[key], suffix)}")
    first, last = node.parts[0][0], node.parts[-1][2].end
    return text[node.start : first] + between.join(pieces) + text[last : node.end]


def _rendered(value: Any, suffix: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if suffix != ".py":
        return text
    names = {"true": "True", "false": "False", "null": "None"}
    words = re.compile(r"(\"(?:\\.|[^\"\\])*\")|\b(true|false|null)\b")
    return words.sub(lambda one: one[1] or names[one[2]], text)

"""Reads the declarations that searches answered with back into schemas, as filling arguments needs them."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from msgspec import Struct

_DECLARED = re.compile(r"(?:/\*\* ((?:(?!\*/).)*) \*/ )?declare function (\w+)\(input: ", re.DOTALL)
_TOKEN = re.compile(r'/\*\*(.*?)\*/|("(?:[^"\\]|\\.)*")|([\w$.+-]+)|(\S)', re.DOTALL)
_PLAIN = frozenset({"string", "number", "boolean", "null"})


class Declared(Struct, frozen=True):
    """A declared tool, with the schemas of what it takes and returns."""

    name: str
    description: str
    takes: dict[str, Any]
    returns: dict[str, Any]


def declared(text: str) -> Iterator[Declared]:
    """The tools that a text declares; named types are read as anything."""
    for found in _DECLARED.finditer(text):
        reader = _Reader(text, found.end())
        takes = reader.type()
        while reader.take() not in ("<", ""):
            """Pass over `): Promise`."""
        yield Declared(found[2], found[1] or "", takes, reader.type())


class _Reader:
    """Reads types from a place of a text on, a token at a time."""

    def __init__(self, text: str, start: int) -> None:
        self._tokens = _TOKEN.finditer(text, start)
        self._text = self._about = ""
        self.take()

    def take(self, *only: str) -> str:
        """The next token, "" at the end; of given ones `only`, or else none is taken."""
        text = self._text
        if only and text not in only:
            return ""
        following = next(self._tokens, None)
        self._text = following[0] if following is not None else ""
        self._about = (following[1] or "").strip() if following is not None else ""
        return text

    def type(self) -> dict[str, Any]:
        """The schema of the type here, which is one or a union; of an intersection its last part."""
        parts = [self._part()]
        while joint := self.take("|", "&"):
            parts = [*(parts if joint == "|" else ()), self._part()]
        if all("const" in part for part in parts):
            return {"enum": [part["const"] for part in parts]}
        return parts[0] if len(parts) == 1 else {"anyOf": parts}

    def _part(self) -> dict[str, Any]:
        token = self.take()
        schema: dict[str, Any] = {"type": token} if token in _PLAIN else {}
        if token == "{":
            schema = self._members()
        elif token in ("(", "["):
            inner = self._list(")" if token == "(" else "]")
            schema = inner[0] if token == "(" and inner else {"type": "array"}
        elif self.take("<"):
            inner = self._list(">")
            schema = {"type": "array", "items": inner[0]} if token == "Array" else {"type": "object"}
        elif token not in _PLAIN:
            with suppress(ValueError):
                schema = {"const": json.loads(token)}
        while self.take("["):
            self.take("]")
            schema = {"type": "array", "items": schema}
        return schema

    def _list(self, end: str) -> list[dict[str, Any]]:
        found = []
        while not self.take(end) and self._text:
            found.append(self.type())
            self.take(",")
        return found

    def _members(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        required = []
        while not self.take("}") and self._text:
            about = self._about
            if self._text.startswith("/**"):
                self.take()
            token = self.take()
            name = json.loads(token) if token.startswith('"') else token
            if not self.take("?"):
                required.append(name)
            self.take(":")
            members[name] = {**self.type(), **({"description": about} if about else {})}
            self.take(";")
        return {"type": "object", "properties": members, "required": required}

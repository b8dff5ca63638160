"""The marked server as it declares itself, and what is left of its marks in what a client sends."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from inspector.core.error import ProtocolError
from inspector.schema.json_value import JsonObject

SERVER = "marked-server"
"""The name under which a client gets the server: with mcp__NAME__, a tool's name has 20 characters more."""
START = 24
"""So many characters are enough to find one of the server's texts."""
_MARK, _STEP = re.compile(r"(\d{6})\|"), 8
# So much is quoted of what a client puts in the place of the rest.
_TAIL = 20
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions"})


@dataclass(frozen=True, slots=True)
class Marks:
    """What the marked server declares, and what a client is to do with it."""

    instructions: str
    tools: Mapping[str, JsonObject]
    queries: Mapping[str, str]
    loads: Sequence[str]
    calls: Sequence[tuple[str, JsonObject]]
    later: str


class ServerLog:
    """The file in which the marked server notes what it declares, and what the client asks of it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def marks(self) -> Marks:
        """Raises ProtocolError while the server has not been started."""
        for line in self._lines():
            if "instructions" in line:
                tools = {tool["name"]: tool for tool in line["tools"]}
                given = {key: line[key] for key in ("instructions", "queries", "loads", "calls", "later")}
                return Marks(tools=tools, **given)
        raise ProtocolError(
            "the client spoke to its model before it started the marked server",
            hint="Check that it reads the servers it was given, and waits for them.",
        )

    @property
    def messages(self) -> list[JsonObject]:
        """The client's messages in order, each with `method` and `params`."""
        return [line for line in self._lines() if "method" in line]

    def calls(self, tool: str) -> list[int]:
        """Where among the messages the tool was called."""
        return [
            at
            for at, one in enumerate(self.messages)
            if one["method"] == "tools/call" and (one.get("params") or {}).get("name") == tool
        ]

    def _lines(self) -> Iterator[JsonObject]:
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        # The last line may not be complete yet.
        yield from (json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))


def plain(name: str) -> str:
    """The name with an underscore for whatever not every client takes."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def is_name_of(sent: str, name: str) -> bool:
    """Whether a name that was sent ends with a server's or a tool's name, as it is or in plain characters."""
    return sent[-1:] == name[-1:] and f"_{plain(sent)}".endswith(f"_{plain(name)}")


def left_of(text: str, size: int) -> str:
    """Which characters of a result of so many are in a text, in words."""
    found = [int(mark) for mark in _MARK.findall(text)]
    head = next((at for at, mark in enumerate(found) if mark != at * _STEP), len(found))
    if head * _STEP >= size - _STEP:
        return "all reach the model"
    tail = found[head:]
    end = f" and the last {size - tail[0]:,}" if tail and size - tail[-1] <= _STEP else ""
    return f"the first {head * _STEP:,}{end} reach the model"


def cut(whole: str, text: str) -> tuple[int, str, str]:
    """After how many characters one of the server's texts ends in another, what follows, and both in words.

    0 if it is whole.
    """
    sent = text[max(text.find(whole[:START]), 0) :]
    same = (at for at, pair in enumerate(zip(whole, sent, strict=False)) if pair[0] != pair[1])
    kept = next(same, min(len(whole), len(sent)))
    if kept == len(whole):
        return 0, "", f"all {kept:,} characters are sent."
    rest = sent[kept:].partition("\n")[0][:_TAIL].strip()
    then = f", then “{rest}”" if rest else ""
    return kept, rest, f"the first {kept:,} of {len(whole):,} characters are sent{then}."


def keywords(schema: Any) -> Iterator[str]:
    """The keywords of a schema and of those in it."""
    for key, value in schema.items() if isinstance(schema, dict) else ():
        yield key
        named = key in _BY_NAME and isinstance(value, dict)
        for one in value.values() if named else value if isinstance(value, list) else [value]:
            yield from keywords(one)

"""The marked servers: what they declare, what they saw of a client, and how a tool is known again."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from inspector.core.error import ProtocolError
from inspector.features.clients.measured.wire import SentTool
from inspector.schema.json_value import JsonObject, as_object

SERVER = "marked-server"
"""The name of the first server; with mcp__NAME__, a tool's name has 20 characters more."""
HTTP = tuple(
    f"marked-{name}" for name in ("http", "gone", "moved", "sign-in", "flaky", "cut", "silent", "beat")
)
"""Those over HTTP, each with a fault of its own but the first."""
SIGN_IN = "marked-sign-in"
"""The one of them that wants a token."""
SMALL = tuple(
    f"marked-{name}" for name in ("second", "odd", "schemas", "empty", "boolean", "ends", "old", "new")
)
"""Those beside it, each apart from the others for what it may cost them."""
START = 24
"""So many characters are enough to find one of the servers' texts."""
_OWN = "marked"
_MARK = re.compile(r"auk[-_][a-z]\d\d")
_PLACE, _STEP = re.compile(r"(\d{6})\|"), 8
# So much is quoted of what a client puts in the place of the rest.
_TAIL = 20
_BLANK = re.compile(r"\s+")

Key = tuple[str, str]
"""A tool: its server and its name there."""


class Marks(Struct, frozen=True, dict=True):
    """What servers declare, and what a client is to do; `later` comes when tools change.

    `own` is part of the name that each server has in the client.
    """

    instructions: str
    tools: Mapping[Key, JsonObject]
    queries: Mapping[str, str]
    loads: Sequence[Key]
    calls: Sequence[Sequence[tuple[Key, JsonObject]]]
    later: Key
    own: str = _OWN

    @cached_property
    def _by_mark(self) -> Mapping[str, Key]:
        found = {}
        for key, tool in self.tools.items():
            texts = (tool.get("description", ""), *tool["inputSchema"].get("properties", ()))
            if mark := next(filter(None, map(_MARK.search, texts)), None):
                found[mark[0]] = key
        return found

    @cached_property
    def _by_name(self) -> Sequence[tuple[str, str, Key]]:
        """The plain names of server and tool; long ones of tools first, since one may end with another."""
        names = ((plain(server), plain(tool), (server, tool)) for server, tool in self.tools)
        return sorted(names, key=lambda one: -len(one[1]))

    def key_of(self, sent: SentTool) -> Key | None:
        """Which tool this is, by its mark, or without one by its name; None for a tool of the client's."""
        given = as_object((sent.parameters or {}).get("properties"))
        for text in (sent.description, *given):
            if (mark := _MARK.search(text)) and mark[0] in self._by_mark:
                return self._by_mark[mark[0]]
        return self.key_of_name(sent.full_name)

    def key_of_name(self, name: str) -> Key | None:
        """Which tool has this name behind its server's: as it is, cut, or with something after it."""
        if self.own not in name:
            return None
        said = plain(name)
        for server, tool, key in self._by_name:
            _, here, rest = said.partition(server)
            if here and (rest := rest.lstrip("_")) and (rest.startswith(tool) or _is_cut(rest, tool)):
                return key
        return None

    def keys_in(self, text: str) -> list[Key]:
        """The tools whose marks are in a text, or whose names are, in the order in which they come."""
        marks = (self._by_mark.get(one) for one in _MARK.findall(text))
        if found := list(dict.fromkeys(filter(None, marks))):
            return found
        return list(dict.fromkeys(filter(None, map(self.key_of_name, self.words(text)))))

    def words(self, text: str) -> Iterator[str]:
        """What may be a name of a server's tool in a text."""
        return (word for word in re.findall(r"[\w.:/-]+", text) if self.own in word)


def _is_cut(rest: str, tool: str) -> bool:
    """Whether a long name begins as this one does, until it is cut."""
    same = next(
        (at for at, pair in enumerate(zip(rest, tool, strict=False)) if pair[0] != pair[1]), len(rest)
    )
    return same >= START


class ServerLog:
    """The file in which the marked servers note what they declare, and what the client asks of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read, self._known = b"", list[JsonObject]()

    @cached_property
    def marks(self) -> Marks:
        """Raises ProtocolError while the server has not been started."""
        for line in self._lines():
            if "instructions" in line:
                return _marks(line)
        raise ProtocolError(
            "the client spoke to its model before it started the marked server",
            hint="Check that it reads the servers it was given, and waits for them.",
        )

    @property
    def messages(self) -> list[JsonObject]:
        """What the servers noted, in order: messages with `method` and `params`, a call's begin and end."""
        return [line for line in self._lines() if "instructions" not in line]

    def is_listed(self) -> bool:
        """Whether the client has asked the first server for its tools."""
        asked = {one["server"] for one in self.messages if one.get("method") == "tools/list"}
        plan = next((line for line in self._lines() if "instructions" in line), None)
        return plan is not None and next(iter(plan["servers"])) in asked

    def _lines(self) -> list[JsonObject]:
        try:
            text = self._path.read_bytes()
        except OSError:
            return []
        if not text.startswith(self._read):
            self._read, self._known = b"", []
        # The last line may not be complete yet.
        new = text[len(self._read) : text.rfind(b"\n") + 1]
        self._known += map(json.loads, new.decode(errors="replace").splitlines())
        self._read += new
        return self._known


def _marks(line: JsonObject) -> Marks:
    tools = {
        (server, tool["name"]): tool for server, declared in line["servers"].items() for tool in declared
    }
    later = {(SERVER, one["name"]): one for one in line["later"]}
    calls = [[((server, tool), given) for server, tool, given in step] for step in line["calls"]]
    loads = [(server, tool) for server, tool in line["loads"]]
    return Marks(
        line["instructions"], tools | later, line["queries"], loads, calls, next(iter(later), ("", ""))
    )


def plain(name: str) -> str:
    """The name with an underscore for whatever not every client takes."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def left_of(kept: int, tail: int, size: int) -> str:
    """What is kept of a result of so many characters, in words."""
    if kept == size:
        return "all reach the model"
    return f"the first {kept:,}{f' and the last {tail:,}' if tail else ''} reach the model"


def kept_of(text: str, size: int) -> tuple[int, int]:
    """How many of so many characters of marks a text begins with, and with how many it ends."""
    found = _PLACE.findall(text)
    head = next((at for at, mark in enumerate(found) if int(mark) != at * _STEP), len(found))
    if head * _STEP >= size - _STEP:
        return size, 0
    tail = found[head:]
    return head * _STEP, size - int(tail[0]) if tail and size - int(tail[-1]) <= _STEP else 0


def cut(whole: str, text: str) -> tuple[int, str, str]:
    """After how many characters one of the server's texts ends in another, what follows, and both in words.

    0 if it is whole. Lines may be indented.
    """
    sent = text[max(text.find(whole[:START]), 0) :]
    kept, at = _alike(whole, sent, indented=True)
    exactly = _alike(whole, sent, indented=False)
    if kept - exactly[0] < _STEP:
        kept, at = exactly
    # A blank at its end may go.
    if kept >= len(whole.rstrip()):
        return 0, "", f"all {kept:,} characters are sent."
    rest = sent[at:].partition("\n")[0][:_TAIL].strip()
    then = f", then “{rest}”" if rest else ""
    return kept, rest, f"the first {kept:,} of {len(whole):,} characters are sent{then}."


def _alike(whole: str, text: str, *, indented: bool) -> tuple[int, int]:
    """How far both are the same, in each of them."""
    kept = at = len(whole) if text.startswith(whole) else 0
    while kept < len(whole) and at < len(text):
        if indented and whole[kept].isspace() and (blank := _BLANK.match(text, at)):
            at = blank.end()
        elif text[at] == whole[kept]:
            at += 1
        else:
            break
        kept += 1
    return kept, at

"""What every reader of transcripts is: entries in order, also while an answer is still being written.

Of other programs' records each value is read as the type that it should have, or as nothing.
"""

import json
import re
import tomllib
from abc import ABC, abstractmethod
from codecs import BOM_UTF8
from collections.abc import Hashable, Iterable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from msgspec import Struct, field

from inspector.core.message import ToolCall, Usage
from inspector.core.number import LAST
from inspector.features.agents.transcript import (
    AgentTool,
    Answered,
    Asked,
    Begun,
    Called,
    Entry,
    Interrupted,
    Tally,
)
from inspector.schema.json_value import JsonObject, as_list, as_object, as_objects, as_text

_TEXT = files(__package__).joinpath("left_out.toml").read_text(encoding="utf-8")
LEFT_OUT: Mapping[str, Mapping[str, frozenset[str]]] = {
    agent: {what: frozenset(kinds) for what, kinds in told.items()}
    for agent, told in tomllib.loads(_TEXT).items()
}
"""The kinds of records and of parts that are understood and not read, by agent."""
_LARGEST = 2**53
_DEEPEST = 100


text, items, mappings = as_text, as_list, as_objects


def texts(value: object) -> tuple[str, ...]:
    """The texts in a list; what else is in it is passed over."""
    return tuple(item for item in items(value) if isinstance(item, str) and item)


def count(value: object) -> int | None:
    """A count, also one written as decimal text; None for anything that is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < len(str(_LARGEST)):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
        return None
    return int(value) if value == int(value) else None


def number(value: object) -> float | None:
    """A number that is not negative, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
        return None
    return float(value)


def moment(value: object, tally: Tally, *, per_second: int = 1) -> float | None:
    """A time in seconds since 1970: given in ISO 8601, UTC without a zone, or as a number of its units.

    None if there is none. What is no time from 1970 to 9999 is none, and is counted.
    """
    if value is None or value == "":
        return None
    counted = number(value)
    seconds = _iso(value) if isinstance(value, str) else None if counted is None else counted / per_second
    if seconds is None or not 0 <= seconds <= LAST:
        tally.count_malformed("an invalid time")
        return None
    return seconds


def _iso(value: str) -> float | None:
    try:
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def said(content: object) -> str:
    """The text of a message or result: a string, or a list of parts; a part without text is named."""
    if isinstance(content, str):
        return content
    parts = items(content) if isinstance(content, list) else [content]
    return "\n".join(shown for part in parts if (shown := _part(part)))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    found = as_object(part)
    words = found.get("text", found.get("value", found.get("refusal")))
    if isinstance(words, str):
        return words
    kind = text(found.get("type")) or text(found.get("kind"))
    return f"[{kind}]" if kind else ""


def arguments(value: object) -> tuple[JsonObject, str]:
    """A call's arguments, given as an object or as JSON, and what is wrong with them, if anything."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return {}, "the arguments are not JSON"
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        return {}, "the arguments are not an object"
    return (value, "") if is_shallow(value) else ({}, "the arguments are nested too deeply")


def is_shallow(value: object) -> bool:
    """Whether a value can be walked through: nothing of a real call or schema is nested a hundred times."""
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        level = [below for above in level for below in _below(above)]
        if not level:
            return True
    return False


def _below(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


_MCP = "mcp__"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def agent_tool(
    sent: str, definition: JsonObject | None = None, *, before: str = _MCP, between: str = "__"
) -> AgentTool:
    """The tool of a name such as `mcp__shop__list_orders`; any other name is a tool of the agent's own.

    A server whose name holds what stands `between` it and its tool cannot be told from it: it ends at the
    first.
    """
    server, separator, name = sent.removeprefix(before).partition(between)
    if sent.startswith(before) and separator and server and name:
        return AgentTool(name, server, sent, definition)
    return AgentTool(sent, "", sent, definition)


def in_namespace(namespace: str, name: str, definition: JsonObject | None = None) -> AgentTool:
    """The tool of a namespace, or of the server that a namespace such as `mcp__shop` stands for."""
    if not namespace:
        return agent_tool(name, definition)
    if namespace.startswith(_MCP):
        return agent_tool(f"{namespace.rstrip('_')}__{name}", definition)
    return AgentTool(name, namespace, f"{namespace}.{name}", definition)


def server_name(name: str) -> str:
    """A server's name as it is part of its tools' names."""
    return _NOT_IN_NAMES.sub("_", name)


def definition_of(record: dict[str, Any]) -> JsonObject | None:
    """A definition with the keys that Toolsight uses; None if the record holds the name alone."""
    inner = as_object(record.get("function")) or as_object(record.get("schema"))
    found = {**inner, **record}
    keys = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
    schema = next((found[key] for key in keys if key in found), None)
    if schema is None and "description" not in found:
        return None
    return {
        "name": text(found.get("name")),
        "description": text(found.get("description")),
        "parameters": schema if isinstance(schema, dict) and is_shallow(schema) else {},
    }


COPY = "copied history"
"""What was read before, as a kind of what is left out."""
NOT_ASKED = "not written by the user"
_MOST_REMEMBERED = 200_000


class OpenAnswer(Struct):
    """A model's answer while its pieces arrive."""

    id: str
    model: str = ""
    at: float | None = None
    texts: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    usage: Usage = Usage()
    finish_reason: str = ""
    tool_tokens: int | None = None
    dollars: float | None = None

    def say(self, text: str) -> None:
        """Add text; one that begins with what was said last is its longer form."""
        if not text.strip():
            return
        if self.texts and text.startswith(self.texts[-1]):
            self.texts[-1] = text
        else:
            self.texts.append(text)

    def entry(self) -> Answered:
        """The answer as far as it is known."""
        calls = tuple(self.calls.values())
        said = "\n\n".join(self.texts)
        told = (calls, self.usage, self.finish_reason, self.at, self.tool_tokens, self.dollars)
        return Answered(self.id, self.model, said, *told)


def parsed(line: bytes, tally: Tally) -> dict[str, Any] | None:
    """The object that a line is, or None: for a blank line, and, counted, for anything else."""
    line = line.removeprefix(BOM_UTF8).strip()
    if not line:
        return None
    try:
        words = line.decode()
    except UnicodeDecodeError:
        tally.count_malformed("not UTF-8")
        words = line.decode(errors="replace")
    try:
        value = json.loads(words)
    except (ValueError, RecursionError) as error:
        tally.count_malformed("not JSON" if isinstance(error, ValueError) else "nested too deeply")
        return None
    if not isinstance(value, dict):
        tally.count_malformed("not an object")
        return None
    tally.records += 1
    return value


class RecordReader(ABC):
    """Reads the records of one transcript, in the order of the file. Nothing in a record makes it fail.

    The beginning comes first, and behind an answer what came while it was written. `file` is its name.
    """

    file = ""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self._begun: Begun | None = None
        self._answer: OpenAnswer | None = None
        self._calls: dict[str, ToolCall] = {}
        self._seen: dict[Hashable, None] = {}
        self._told = False
        self._ready: list[Entry] = []
        self._held: list[Entry] = []

    def read(self, record: dict[str, Any]) -> list[Entry]:
        """The entries that are finished with this record."""
        self.take(record)
        ready, self._ready = self._ready, []
        return ready

    def feed(self, line: bytes) -> list[Entry]:
        """The entries that are finished with this line; a line that is no record is counted."""
        record = parsed(line, self.tally)
        return [] if record is None else self.read(record)

    @abstractmethod
    def take(self, record: dict[str, Any]) -> None:
        """Read a record; what it says is added, and an answer perhaps opened or closed."""

    def finish(self) -> list[Entry]:
        """The entries that waited for more; what comes after that makes entries of its own."""
        self._close()
        if self._begun is not None:
            self._tell_beginning()
        ready, self._ready = self._ready, []
        return ready

    def _begin(self, begun: Begun) -> None:
        """Set what is known of the session. Once it is told, only another one begins anew."""
        known = self._begun
        if self._told:
            if known is not None and (known.session, known.parent) == (begun.session, begun.parent):
                return
            self._add(begun)
        self._begun = begun

    def _open(self, answer: OpenAnswer) -> OpenAnswer:
        """Begin an answer; the one before it is finished."""
        self._close()
        self._answer = answer
        return answer

    def _part_of(self, key: str, model: str, at: float | None) -> OpenAnswer:
        """The answer of this id, of which this is one more part, or a new one."""
        if self._answer is not None and self._answer.id == key:
            return self._answer
        return self._open(OpenAnswer(key, model, at))

    def _close(self) -> None:
        """Finish the answer that is open, if any."""
        answer, self._answer = self._answer, None
        held, self._held = self._held, []
        for entry in (*((answer.entry(),) if answer is not None else ()), *held):
            self._push(entry)

    def _add(self, entry: Entry) -> None:
        """Add what happened; behind the answer, if one is open."""
        if self._answer is None:
            self._push(entry)
        else:
            self._held.append(entry)

    def _ask(self, words: str, at: float | None) -> None:
        """Add what the user said, which ends the answer before it."""
        self._close()
        self._add(Asked(words, at))

    def _interrupt(self, message: str, at: float | None, *, by_user: bool = False) -> None:
        """Add what stopped the agent, which ends its answer."""
        self._close()
        self._add(Interrupted(message, by_user, at))

    def _call(self, call: ToolCall) -> None:
        """Add a call to the open answer, and remember it until its result comes."""
        if self._answer is not None:
            self._answer.calls[call.id] = call
        self._calls[call.id] = call

    def _returned(
        self,
        call_id: str,
        text: str,
        *,
        ok: bool,
        tool: AgentTool | None = None,
        given: JsonObject | None = None,
        milliseconds: float | None = None,
        at: float | None = None,
    ) -> None:
        """Add a call's result; tool and arguments are those of the call, if none are given."""
        call = self._calls.pop(call_id, None)
        called = tool or agent_tool(call.name if call else "")
        known = given or (call.arguments if call else {})
        self._add(Called(call_id, called, known, text, ok, milliseconds, at))

    def _is_new(self, *key: Hashable) -> bool:
        """Remember the key, the oldest keys for the shortest time; False if it was there already."""
        digest = hash(key)
        if digest in self._seen:
            return False
        self._seen[digest] = None
        if len(self._seen) > _MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return True

    def _is_first(self, *key: Hashable) -> bool:
        """Whether nothing of this key was read before; a copy is counted. What has no id is no copy."""
        if not key[-1] or self._is_new(*key):
            return True
        self.tally.leave_out(COPY)
        return False

    def _push(self, entry: Entry) -> None:
        self._tell_beginning()
        self._ready.append(entry)

    def _tell_beginning(self) -> None:
        if not self._told and self._begun is not None:
            self._ready.append(self._begun)
        self._told = True

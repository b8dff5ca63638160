"""What every reader of transcripts is: entries in order, also while an answer is still being written."""

import json
from abc import ABC, abstractmethod
from codecs import BOM_UTF8
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from inspector.core.message import ToolCall, Usage
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
from inspector.features.agents.transcript_file.field import agent_tool
from inspector.schema.json_value import JsonObject

COPY = "copied history"
"""What was read before, as a kind of what is left out."""
NOT_ASKED = "not written by the user"
_MOST_REMEMBERED = 200_000


@dataclass(slots=True)
class OpenAnswer:
    """A model's answer while its pieces arrive."""

    id: str
    model: str = ""
    at: float | None = None
    texts: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    usage: Usage = Usage()
    finish_reason: str = ""
    tool_tokens: int | None = None

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
        told = (calls, self.usage, self.finish_reason, self.at, self.tool_tokens)
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

    The beginning comes first, and behind an answer what came while it was written.
    """

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

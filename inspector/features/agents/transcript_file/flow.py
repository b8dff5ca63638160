"""Puts entries in order while an answer is still being written."""

from collections.abc import Hashable
from dataclasses import dataclass, field

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

_MOST_REMEMBERED = 200_000
COPY = "copied history"
"""What was read before, as a kind of what is left out."""


@dataclass(slots=True)
class Answer:
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


class Seen:
    """Remembers what was read, the newest first to stay, so that a copy is not read again."""

    def __init__(self, most: int = _MOST_REMEMBERED) -> None:
        self._most = most
        self._keys: dict[int, None] = {}

    def add(self, *key: Hashable) -> bool:
        """Remember the key; False if it was there already."""
        digest = hash(key)
        if digest in self._keys:
            return False
        self._keys[digest] = None
        if len(self._keys) > self._most:
            del self._keys[next(iter(self._keys))]
        return True


class Flow:
    """Entries in their order: the beginning first, and what came while an answer was written behind it."""

    def __init__(self, tally: Tally) -> None:
        self.tally, self.seen = tally, Seen()
        self.begun: Begun | None = None
        self.answer: Answer | None = None
        self.calls: dict[str, ToolCall] = {}
        self._told = False
        self._ready: list[Entry] = []
        self._held: list[Entry] = []

    def begin(self, begun: Begun) -> None:
        """Set  what is known of the session, until the first other entry comes; later it stays as it was."""
        if not self._told:
            self.begun = begun

    def begin_next(self, begun: Begun) -> None:
        """Begin another session of the same transcript; what comes from now on belongs to it."""
        self.begun = begun
        if self._told:
            self.add(begun)

    def open(self, answer: Answer) -> None:
        """Begin an answer; the one before it is finished."""
        self.close()
        self.answer = answer

    def close(self) -> None:
        """Finish the answer that is open, if any."""
        answer, self.answer = self.answer, None
        held, self._held = self._held, []
        if answer is not None:
            self._push(answer.entry())
        for entry in held:
            self._push(entry)

    def add(self, entry: Entry) -> None:
        """Add what happened; behind the answer, if one is open."""
        if self.answer is None:
            self._push(entry)
        else:
            self._held.append(entry)

    def ask(self, words: str, at: float | None) -> None:
        """Add what the user said, which ends the answer before it."""
        self.close()
        self.add(Asked(words, at))

    def interrupt(self, message: str, at: float | None, *, by_user: bool = False) -> None:
        """Add what stopped the agent, which ends its answer."""
        self.close()
        self.add(Interrupted(message, by_user, at))

    @property
    def holds(self) -> bool:
        """Whether anything waits for the end of the answer."""
        return bool(self._held)

    def call(self, call: ToolCall) -> None:
        """Add a call to the open answer, and remember it until its result comes."""
        if self.answer is not None:
            self.answer.calls[call.id] = call
        self.calls[call.id] = call

    def returned(
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
        call = self.calls.pop(call_id, None)
        called = tool or agent_tool(call.name if call else "")
        known = given or (call.arguments if call else {})
        self.add(Called(call_id, called, known, text, ok, milliseconds, at))

    def take(self) -> list[Entry]:
        """The entries that are finished, each once."""
        ready, self._ready = self._ready, []
        return ready

    def finish(self) -> list[Entry]:
        """Everything, also what is open."""
        self.close()
        if self.begun is not None and not self._told:
            self._tell_beginning()
        return self.take()

    def _push(self, entry: Entry) -> None:
        if not self._told:
            self._tell_beginning()
        self._ready.append(entry)

    def _tell_beginning(self) -> None:
        self._told = True
        if self.begun is not None:
            self._ready.append(self.begun)


class PartReader:
    """Reads a part of a transcript's records into the flow of its reader."""

    def __init__(self, flow: Flow) -> None:
        self._flow, self._tally, self._seen = flow, flow.tally, flow.seen

    def _is_first(self, *key: Hashable) -> bool:
        """Whether nothing of this key was read before; a copy is counted. What has no id is no copy."""
        if not key[-1] or self._seen.add(*key):
            return True
        self._tally.leave_out(COPY)
        return False


class FlowReader(PartReader):
    """Reads the records of one transcript."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(Flow(tally))

    def finish(self) -> list[Entry]:
        """The entries that waited for more."""
        return self._flow.finish()

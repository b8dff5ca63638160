"""What a transcript of a real agent says, in one form for every agent that writes one.

A transcript is a file that an agent wrote while it worked: what it was asked, what it answered, which tools
it searched for and called. Readers turn its records into these entries, in the order in which things
happened. `at` is in seconds since 1970, UTC; None if the record has no time.
"""

from collections import Counter

from msgspec import Struct, field

from inspector.core.message import ToolCall, Usage
from inspector.schema.json_value import JsonObject


class AgentTool(Struct, frozen=True):
    """A tool as the agent knows it. `server` is empty for tools of the agent's own, such as a shell.

    `name` is the plain name, `sent` the one that the model reads, such as `mcp__shop__list_orders`.
    `definition` is what the model was sent of it (name, description, parameters), None if the transcript does
    not hold it.
    """

    name: str
    server: str = ""
    sent: str = ""
    definition: JsonObject | None = None


class Begun(Struct, frozen=True):
    """The transcript's session. What it does not say is empty; `parent` is set for a sub-agent's."""

    agent: str
    session: str = ""
    version: str = ""
    folder: str = ""
    model: str = ""
    window: int | None = None
    parent: str = ""
    at: float | None = None


class ToolsOffered(Struct, frozen=True):
    """Tools became known to the model; of `deferred` ones the name alone, until a search loads them."""

    tools: tuple[AgentTool, ...]
    deferred: bool = False
    at: float | None = None


class ToolsWithdrawn(Struct, frozen=True):
    """Tools are no longer known to the model, by the names that it read."""

    sent: tuple[str, ...]
    at: float | None = None


class ServerAnnounced(Struct, frozen=True):
    """A server connected; `instructions` is what the model got from it."""

    server: str
    instructions: str = ""
    at: float | None = None


class ServerTrouble(Struct, frozen=True):
    """A server failed, or waits for a login."""

    server: str
    reason: str
    needs_login: bool = False
    at: float | None = None


class Asked(Struct, frozen=True):
    """What the user wrote."""

    text: str
    at: float | None = None


TOTALS = "totals"


class Answered(Struct, frozen=True):
    """One model call and its answer, whole: records that were streamed in pieces are one entry.

    The names in `calls` are those that the model wrote. A search for tools is one of the calls, too.
    What ends with TOTALS is no answer: it has what several calls took beside what they say themselves.
    `tool_tokens` are those of the tools' definitions, if the agent counted them, `dollars` what it reckons
    that the call cost.
    """

    id: str
    model: str = ""
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = ""
    at: float | None = None
    tool_tokens: int | None = None
    dollars: float | None = None


class Searched(Struct, frozen=True):
    """A search for tools came back. `call_id` is that of its call.

    `query` is what was searched for, `names` the tools that were asked for by name. `found` are the tools
    that it returned, best first, and by that loaded. `waiting` is how many tools were deferred then, if it is
    said.
    """

    call_id: str
    query: str = ""
    names: tuple[str, ...] = ()
    found: tuple[AgentTool, ...] = ()
    limit: int | None = None
    waiting: int | None = None
    error: str = ""
    at: float | None = None


class Called(Struct, frozen=True):
    """A tool call came back. `text` is what the model read; `milliseconds` is None if nobody measured it.

    A result is `unread` if it went to code that the model wrote, which made the call.
    """

    call_id: str
    tool: AgentTool
    arguments: JsonObject = field(default_factory=dict)
    text: str = ""
    ok: bool = True
    milliseconds: float | None = None
    at: float | None = None
    unread: bool = False


class Compacted(Struct, frozen=True):
    """The conversation was replaced by a summary. Tokens before and after, None if not said."""

    text: str = ""
    before: int | None = None
    after: int | None = None
    at: float | None = None


class Interrupted(Struct, frozen=True):
    """The user stopped the agent, or a model call failed with this message."""

    message: str
    by_user: bool = False
    at: float | None = None


Entry = (
    Begun
    | ToolsOffered
    | ToolsWithdrawn
    | ServerAnnounced
    | ServerTrouble
    | Asked
    | Answered
    | Searched
    | Called
    | Compacted
    | Interrupted
)


_LONGEST_KIND = 60
_MOST_KINDS = 50
_OTHERS = "others"


class Tally(Struct):
    """What a reader met: records read, and by kind those that gave no entry.

    `unknown` are kinds that this version does not know, `malformed` what is broken (no JSON, cut off, a field
    of another type), `left_out` what is understood and not needed, or was read before. Nothing of their
    content is kept. Kinds are named by the file: their length and their number are bounded.
    """

    records: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    malformed: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def count_unknown(self, kind: str) -> None:
        """Count a record or a part of one whose kind is not known."""
        _count(self.unknown, kind)

    def count_malformed(self, reason: str) -> None:
        """Count something broken, by what is wrong with it."""
        _count(self.malformed, reason)

    def leave_out(self, kind: str) -> None:
        """Count a record that is understood and gives no entry."""
        _count(self.left_out, kind)


def _count(counter: Counter[str], kind: str) -> None:
    name = kind[:_LONGEST_KIND] or "unnamed"
    counter[name if name in counter or len(counter) < _MOST_KINDS else _OTHERS] += 1


class Counts(Struct):
    """What a transcript says of a session. Tokens and US dollars are None where it says nothing of them."""

    requests: int = 0
    calls: int = 0
    failed: int = 0
    definitions: int = 0
    input: int | None = None
    output: int | None = None
    dollars: float | None = None

    def add(self, entry: Entry) -> None:
        """Count what an entry says."""
        match entry:
            case Called(ok=ok):
                self.calls, self.failed = self.calls + 1, self.failed + (not ok)
            case ToolsOffered(tools=tools) | Searched(found=tools):
                self.definitions += sum(tool.definition is not None for tool in tools)
            case Answered(usage=used):
                self.requests += entry.finish_reason != TOTALS
                told = (used.input_tokens, used.output_tokens, entry.dollars)
                for name, more in zip(("input", "output", "dollars"), told, strict=True):
                    if more is not None:
                        setattr(self, name, (getattr(self, name) or 0) + more)

    @property
    def lacks(self) -> tuple[str, ...]:
        """What the transcript does not have, in words."""
        told = {"input tokens": self.input, "output tokens": self.output, "costs": self.dollars}
        lacking = tuple(f"no {what}" for what, value in told.items() if value is None)
        return lacking if self.definitions else (*lacking, "no tool definitions")

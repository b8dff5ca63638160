"""What the transcripts of most agents have in common: messages of a model, its calls, and what came back.

A reader of such a format says where in a record all this is; how it becomes entries is the same for all.
"""

import re
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.message import ToolCall, Usage
from inspector.features.agents.transcript import TOTALS, AgentTool, Begun, Searched, Tally, ToolsOffered
from inspector.features.agents.transcript_file.record_reader import (
    LEFT_OUT,
    NOT_ASKED,
    OpenAnswer,
    RecordReader,
    agent_tool,
    arguments,
    count,
    definition_of,
    mappings,
    moment,
    said,
    text,
    texts,
)
from inspector.schema.json_value import JsonObject, as_object

Places = tuple[str, str, str, str, str]
"""Where a record has an answer's tokens: input with all that was cached, output with all reasoning, what was
read from the cache, what was written to it, and reasoning. A place is a path such as `cache.read`, or a sum
of them such as `input + cache.read`; "" if there is none."""


def usage_of(record: dict[str, Any], places: Places) -> Usage:
    """The usage at these places."""
    used, output, cached, written, thought = (_sum(record, place) for place in places)
    return Usage(used, output, cached, written, None, thought)


def _sum(record: dict[str, Any], place: str) -> int | None:
    """The sum of the counts at some paths; None if the first of them has none."""
    first, *others = (count(value_at(record, path)) for path in place.split(" + "))
    return None if first is None else first + sum(one or 0 for one in others)


def value_at(value: object, path: str) -> object:
    """What is at a path such as `cache.read`; None if nothing is."""
    for key in path.split("."):
        value = as_object(value).get(key)
    return value


_SELECT = "select:"


def wanted(given: JsonObject) -> tuple[str, tuple[str, ...], int | None]:
    """The query of a search for tools, or the names that were asked for; and how many tools at most."""
    query = text(given.get("query")) or text(given.get("pattern"))
    limit = count(given.get("max_results", given.get("limit")))
    if query.startswith(_SELECT):
        names = (name.strip() for name in query.removeprefix(_SELECT).split(","))
        return "", tuple(name for name in names if name), limit
    return query, texts(given.get("functions")), limit


class Told(Struct, frozen=True):
    """What is told beside a message: of an answer what it took, of another one whether a person wrote it."""

    model: str = ""
    usage: Usage = Usage()
    dollars: float | None = None
    by_person: bool = True


ASKED = Told()
_NOT_READ = frozenset({"thinking", "redacted_thinking", "image", "document", "file"})


class MessageReader(RecordReader):
    """Reads records of messages, behind the record that tells of the whole session, if there is one.

    `USED` is where an answer's tokens are. A tool's name has `BEFORE`, its server, `BETWEEN`, and its plain
    name; `OWN` are tools of the agent's own that look so, too. `SEARCH` is the agent's search for tools.
    `BESIDE` is a key that only the record of the whole session has, `BODY` one that every other has, `TIME`
    where it has its time, of which `PER_SECOND` are a second.
    """

    AGENT: ClassVar[str]
    USED: ClassVar[Places] = ("",) * 5
    BEFORE: ClassVar[str] = "mcp__"
    BETWEEN: ClassVar[str] = "__"
    OWN: ClassVar[frozenset[str]] = frozenset()
    SEARCH: ClassVar[str] = ""
    BESIDE: ClassVar[str] = ""
    BODY: ClassVar[str] = ""
    TIME: ClassVar[str] = "timestamp"
    PER_SECOND: ClassVar[int] = 1

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._beside: dict[str, Any] = {}
        self._model = ""
        self._named: dict[str, AgentTool] = {}
        self._left_out = LEFT_OUT.get(self.AGENT, {}).get("records", frozenset())

    def take(self, record: dict[str, Any]) -> None:
        kind = text(record.get("type")) or text(record.get("kind"))
        if self.BESIDE and self.BESIDE in record:
            self._beside = record
        elif kind in self._left_out:
            self.tally.leave_out(kind)
        elif self.BODY and self.BODY not in record:
            self.tally.count_unknown(kind)
        else:
            self._record(record, kind, self._time(record, self.TIME))

    @abstractmethod
    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        """Read a record of this kind."""

    def _time(self, record: dict[str, Any], path: str) -> float | None:
        return moment(value_at(record, path), self.tally, per_second=self.PER_SECOND)

    def _start(self, session: object, at: float | None = None, **known: object) -> None:
        """Set what is known of the session: its version, folder, model and parent, each as it was read."""
        told = [text(known.get(key)) for key in ("version", "folder", "model", "parent")]
        version, folder, model, parent = told
        self._begin(Begun(self.AGENT, text(session), version, folder, model, parent=parent, at=at))

    def _usage(self, told: object) -> Usage:
        """What an answer took."""
        return usage_of(as_object(told), self.USED)

    def _tool(self, sent: str) -> AgentTool:
        """The tool of a name, with its definition if it was offered."""
        if sent in self.OWN:
            return AgentTool(sent, "", sent)
        return self._named.get(sent) or agent_tool(sent, before=self.BEFORE, between=self.BETWEEN)

    def _offer(self, tools: Iterable[dict[str, Any]], at: float | None) -> None:
        """Add tools by their definitions."""
        offered = {text(one.get("name")): definition_of(one) for one in tools}
        new = {name: replace(self._tool(name), definition=known) for name, known in offered.items() if name}
        self._named |= new
        if new:
            self._close()
            self._add(ToolsOffered(tuple(new.values()), at=at))

    def _found(self, _words: str) -> Iterable[AgentTool]:
        """The tools that a search returned."""
        return ()

    def _named_in(self, pattern: re.Pattern[str], words: str) -> Iterable[AgentTool]:
        """The tools whose names a pattern finds in a text; several may be in one place, with commas."""
        found = (name.strip() for match in pattern.findall(words) for name in match.split(", "))
        return (self._tool(name) for name in found if name)

    def _is_failed(self, block: dict[str, Any]) -> bool:
        """Whether a result is that of a call that failed."""
        return block.get("is_error") is True

    def _asks(self, words: str, at: float | None, *, by_person: bool = True) -> None:
        """Add what a user's message says; what a client inserts in its place is left out."""
        if words.strip() and by_person and not words.lstrip().startswith("<system-reminder>"):
            self._ask(words.strip(), at)
        else:
            self.tally.leave_out(NOT_ASKED)

    def _message(
        self, role: object, key: str, content: object, at: float | None, told: Told = ASKED
    ) -> OpenAnswer | None:
        """Add a message, once: an answer, which is returned, or what came back from calls, or was asked."""
        if role not in ("user", "assistant"):
            self.tally.count_unknown(f"message of {text(role)}")
        elif self._is_first("message", key):
            if role == "assistant":
                answer = self._part_of(key, told.model, at)
                answer.usage, answer.dollars = told.usage, told.dollars
                answer.say(self._blocks(content, at))
                return answer
            if words := self._blocks(content, at):
                self._asks(words, at, by_person=told.by_person)
        return None

    def _blocks(self, content: object, at: float | None) -> str:
        """Add the calls and results among the blocks of a message as Anthropic has them; returns its text."""
        words: list[str] = []
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else mappings(content):
            kind = text(block.get("type"))
            if kind == "text":
                words.append(text(block.get("text")))
            elif kind == "tool_use":
                self._calls_tool(block.get("id"), block.get("name"), block.get("input"))
            elif kind == "tool_result":
                ok, back = not self._is_failed(block), said(block.get("content"))
                self._done(block.get("tool_use_id"), back, at, ok=ok)
            elif kind in _NOT_READ:
                self.tally.leave_out(kind)
            else:
                self.tally.count_unknown(f"block {kind}")
        return "\n".join(words)

    def _calls_tool(self, call_id: object, name: object, given: object) -> None:
        """Add a call to the open answer, once."""
        found, error = arguments(given)
        if self._is_new("call", text(call_id)):
            self._call(ToolCall(text(call_id), text(name), found, error))

    def _done(
        self,
        call_id: object,
        words: str,
        at: float | None,
        *,
        ok: bool,
        tool: AgentTool | None = None,
        given: JsonObject | None = None,
        took: float | None = None,
    ) -> None:
        """Add what came back from a call or a search for tools, once; it `took` so many milliseconds."""
        id_ = text(call_id)
        if not self._is_first("result", id_):
            return
        call = self._calls.get(id_)
        if call is None or not self.SEARCH or call.name != self.SEARCH:
            called = tool or self._tool(call.name if call else "")
            self._returned(id_, words, ok=ok, tool=called, given=given, milliseconds=took, at=at)
            return
        query, names, limit = wanted(self._calls.pop(id_).arguments)
        found = tuple({one.sent: one for one in self._found(words)}.values())
        self._add(Searched(id_, query, names, found, limit, error="" if ok else words, at=at))

    def _totals(self, usage: Usage, *, dollars: float | None = None, model: str = "") -> None:
        """Add what the calls took together, where they do not say it themselves."""
        if usage.input_tokens or usage.output_tokens or dollars:
            self._open(OpenAnswer(TOTALS, model, usage=usage, finish_reason=TOTALS, dollars=dollars))
        self._close()

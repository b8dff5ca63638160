"""Traces of the OpenAI Agents SDK, as its processors get them; see docs/papers/transcripts.md.

A span is exported when it ends: an answer before the tools that it called, an agent after both. So entries
come in the order of the file, and a running agent can be followed.
"""

from collections import deque
from typing import Any

from inspector.core.message import ToolCall
from inspector.features.agents.transcript import (
    AgentTool,
    Asked,
    Begun,
    Entry,
    ServerTrouble,
    Tally,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.field import (
    arguments,
    mappings,
    moment,
    said,
    server_name,
    text,
    texts,
)
from inspector.features.agents.transcript_file.flow import Answer, FlowReader
from inspector.features.agents.transcript_file.openai_item import call_of, is_call, usage_of
from inspector.schema.json_value import as_object

AGENT = "openai-agents"
_OBJECTS = ("trace", "trace.span")
_MOST_PARTS = 8
# Totals of what other spans say, and what is not about models and tools.
_NOT_READ = ("custom", "handoff", "guardrail", "transcription", "speech", "speech_group")


def is_trace(record: dict[str, Any]) -> bool:
    """Whether a record is a trace or a span, or a request that sends a list of them."""
    return any(
        one.get("object") in _OBJECTS and ("workflow_name" in one or "span_data" in one)
        for one in _exported(record)
    )


def _exported(record: dict[str, Any]) -> list[dict[str, Any]]:
    return list(mappings(record.get("data"))) if isinstance(record.get("data"), list) else [record]


class AgentsReader(FlowReader):
    """Reads traces and their spans. Traces of one group are a session."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._groups: dict[str, str] = {}
        self._servers: dict[str, str] = {}
        self._parent = ""
        self._waiting: dict[str, deque[str]] = {}

    def read(self, record: dict[str, Any]) -> list[Entry]:
        """The entries that are finished with this trace or span."""
        for one in _exported(record):
            kind, name = text(one.get("object")), text(one.get("id"))
            if kind not in _OBJECTS:
                self._tally.count_unknown(kind or text(one.get("type")))
            elif not self._is_first(name):
                continue
            elif kind == "trace":
                self._groups[name] = text(one.get("group_id")) or name
            else:
                self._span(one, as_object(one.get("span_data")))
        return self._flow.take()

    def _session(self, trace: str, at: float | None) -> None:
        begun, session = self._flow.begun, self._groups.get(trace, trace)
        if begun is None or begun.session != session:
            self._flow.close()
            self._flow.begin_next(Begun(AGENT, session, at=at))

    def _span(self, span: dict[str, Any], data: dict[str, Any]) -> None:
        kind, began = text(data.get("type")), moment(span.get("started_at"), self._tally)
        ended = moment(span.get("ended_at"), self._tally)
        at = began if ended is None else ended
        if kind in _NOT_READ:
            self._tally.leave_out(f"span {kind}")
            return
        self._session(text(span.get("trace_id")), at)
        error = text(as_object(span.get("error")).get("message"))
        match kind:
            case "response" | "generation":
                self._answer(span, data, at, error)
            case "function":
                took = None if began is None or ended is None else max(0.0, ended - began) * 1000
                self._call(span, data, at, error, took)
            case "mcp_tools":
                self._listed(data, at, error)
            case "agent":
                own = (one for one in texts(data.get("tools")) if not self._own_name(one))
                self._offer(tuple(AgentTool(one, "", one) for one in own), at)
            case _:
                self._tally.count_unknown(f"span {kind}")

    def _answer(self, span: dict[str, Any], data: dict[str, Any], at: float | None, error: str) -> None:
        self._flow.close()
        asked = [one for one in mappings(data.get("input")) if one.get("role") == "user"]
        words = said(asked[-1].get("content")) if asked else text(data.get("input"))
        if words.strip() and self._seen.add("asked", len(asked), words):
            self._flow.add(Asked(words, at))
        answer = Answer(text(data.get("response_id")) or text(span.get("id")), text(data.get("model")), at)
        answer.usage = usage_of(as_object(data.get("usage")))
        self._parent, self._waiting = text(span.get("parent_id")), {}
        self._flow.open(answer)
        for message in mappings(data.get("output")):
            self._say(answer, message)
        if error:
            self._flow.interrupt(error, at)

    def _say(self, answer: Answer, message: dict[str, Any]) -> None:
        """A message of the chat API, or a response with its items."""
        answer.say(said(message.get("content") or ""))
        for one in mappings(message.get("tool_calls")):
            function = as_object(one.get("function"))
            given, broken = arguments(function.get("arguments"))
            self._wait(ToolCall(text(one.get("id")), text(function.get("name")), given, broken))
        for item in mappings(message.get("output")):
            if is_call(text(item.get("type"))):
                self._wait(call_of(item, text(item.get("call_id"))))
            elif item.get("type") == "message":
                answer.say(said(item.get("content") or ""))

    def _wait(self, call: ToolCall) -> None:
        self._flow.call(call)
        self._waiting.setdefault(call.name, deque()).append(call.id)

    def _call(
        self, span: dict[str, Any], data: dict[str, Any], at: float | None, error: str, took: float | None
    ) -> None:
        """A call that came back. It does not say which call of an answer it was: the first of its tool."""
        sent, call_id, answer = text(data.get("name")), text(span.get("id")), self._flow.answer
        given, _ = arguments(data.get("input"))
        if waiting := self._waiting.get(sent):
            call_id = waiting.popleft()
        elif answer is not None and self._parent == text(span.get("parent_id")):
            answer.calls[call_id] = ToolCall(call_id, sent, given)
        name = self._own_name(sent) or sent
        server = server_name(text(as_object(data.get("mcp_data")).get("server"))) or self._servers.get(
            name, ""
        )
        words = said(data.get("output") or "") or error
        tool = AgentTool(name, server, sent)
        self._flow.returned(call_id, words, ok=not error, tool=tool, given=given, milliseconds=took, at=at)

    def _own_name(self, sent: str) -> str:
        """The name that a server gave a tool: the SDK may have put the server's before it, and `__`."""
        name = sent
        for _ in range(_MOST_PARTS):
            if name in self._servers:
                return name
            name = name.partition("__")[2]
        return ""

    def _listed(self, data: dict[str, Any], at: float | None, error: str) -> None:
        server = server_name(text(data.get("server")))
        if error:
            self._flow.add(ServerTrouble(server, error, at=at))
        names = texts(data.get("result"))
        self._servers.update(dict.fromkeys(names, server))
        self._offer(tuple(AgentTool(name, server, name) for name in names), at)

    def _offer(self, tools: tuple[AgentTool, ...], at: float | None) -> None:
        new = tuple(tool for tool in tools if self._seen.add("tool", tool.server, tool.name))
        if new:
            self._flow.add(ToolsOffered(new, at=at))

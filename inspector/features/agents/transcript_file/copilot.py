"""Events of GitHub Copilot CLI, a line each: `{type, data, id, timestamp}`; see docs/papers/transcripts.md.

A usage record, or in older versions an answer, says how many tokens a call took; the totals at the end have
the rest. A sub-agent's events are among those of its session, and are a session of their own here.
"""

from collections import Counter
from typing import Any

from msgspec.structs import replace

from inspector.core.message import ToolCall, Usage
from inspector.features.agents.transcript import TOTALS, AgentTool, Begun, Compacted, Tally
from inspector.features.agents.transcript_file.message import MessageReader
from inspector.features.agents.transcript_file.record_reader import (
    LEFT_OUT,
    OpenAnswer,
    arguments,
    count,
    mappings,
    said,
    server_name,
    text,
)
from inspector.schema.json_value import as_object

AGENT = "copilot-cli"
_READ = frozenset(
    {"session.start", "session.resume", "session.model_change", "session.compaction_complete", "abort"}
    | {"session.error", "session.shutdown", "user.message", "assistant.message", "assistant.turn_end"}
    | {"tool.execution_start", "tool.execution_complete", "session.usage_record"}
)
_NOT_READ = LEFT_OUT[AGENT]["records"]
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "written_tokens")
_INJECTED = ("skill-", "agent-")
_BY_USER = ("user_initiated", "user_abort", "remote_command")


def is_event(record: dict[str, Any]) -> bool:
    """Whether a record is an event of this agent."""
    kind = text(record.get("type"))
    is_whole = isinstance(record.get("data"), dict) and "timestamp" in record and "id" in record
    return kind in _READ | _NOT_READ and is_whole


class CopilotReader(MessageReader):
    """Reads the events of one session and its sub-agents."""

    AGENT = AGENT
    USED = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._main = Begun(AGENT)
        self._agent = ""
        self._tools: dict[str, tuple[AgentTool, float | None]] = {}
        self._used: dict[str, Usage] = {}
        self._counted: Counter[tuple[str, str]] = Counter()

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        data, event = as_object(record.get("data")), text(record.get("id"))
        if record.get("ephemeral") is True:
            self.tally.leave_out(kind)
        elif kind not in _READ:
            self.tally.count_unknown(kind)
        elif self._is_first(event):
            self._of(text(record.get("agentId")) or text(data.get("parentToolCallId")), at)
            self._event(kind, data, at, event)

    def _of(self, agent: str, at: float | None) -> None:
        """What comes next is of this sub-agent, or of the session itself."""
        if self._begun is None:
            self._begin(replace(self._main, at=at))
        if agent != self._agent:
            self._agent, main = agent, self._main
            self._close()
            own = Begun(AGENT, agent, main.version, main.folder, parent=main.session, at=at)
            self._begin(own if agent else replace(main, model="", at=at))

    def _event(self, kind: str, data: dict[str, Any], at: float | None, event: str) -> None:
        match kind:
            case "session.start" | "session.resume" | "session.model_change":
                self._started(data, at)
            case "user.message":
                self._user(data, at)
            case "assistant.message":
                self._answered(data, at, event)
            case "tool.execution_start":
                self._tools[text(data.get("toolCallId"))] = (_tool(data, "toolName"), at)
            case "tool.execution_complete" if data.get("isUserRequested") is not True:
                self._ended(data, at)
            case "session.compaction_complete" if data.get("success") is not False:
                self._compacted(data, at)
            case "session.error" | "abort":
                reason = text(data.get("reason"))
                self._interrupt(text(data.get("message")) or reason, at, by_user=reason in _BY_USER)
            case "session.usage_record":
                used = as_object(data.get("usage"))
                self._used[text(used.get("apiCallId"))] = self._usage(used)
            case "session.shutdown":
                self._shutdown(data, at, event)
            case _:
                self._close()

    def _started(self, data: dict[str, Any], at: float | None) -> None:
        self._model = text(data.get("newModel")) or text(data.get("selectedModel")) or self._model
        if "copilotVersion" in data and not self._main.session:
            folder = text(as_object(data.get("context")).get("cwd"))
            above = text(data.get("detachedFromSpawningParentSessionId"))
            version = text(data.get("copilotVersion"))
            session = text(data.get("sessionId"))
            self._main = Begun(AGENT, session, version, folder, self._model, parent=above, at=at)
            self._begin(self._main)

    def _user(self, data: dict[str, Any], at: float | None) -> None:
        injected = text(data.get("source")).startswith(_INJECTED) and not self._agent
        self._close()
        by_person = not injected and data.get("isAutopilotContinuation") is not True
        self._asks(text(data.get("content")), at, by_person=by_person)

    def _answered(self, data: dict[str, Any], at: float | None, event: str) -> None:
        """An answer, or one more part of it: all parts have the same id."""
        answer_id = text(data.get("apiCallId")) or text(data.get("messageId")) or event
        answer = self._part_of(answer_id, text(data.get("model")) or self._model, at)
        answer.say(text(data.get("content")))
        for request in mappings(data.get("toolRequests")):
            call_id, tool = text(request.get("toolCallId")), _tool(request, "name")
            given, broken = arguments(request.get("arguments"))
            self._call(ToolCall(call_id, tool.sent, given, broken))
            self._tools[call_id] = (tool, None)
        used = self._used.pop(answer_id, None) or Usage(output_tokens=count(data.get("outputTokens")))
        if used != Usage():
            for key in _COUNTS:
                more = (getattr(used, key) or 0) - (getattr(answer.usage, key) or 0)
                self._counted[answer.model, key] += more
            answer.usage = used

    def _ended(self, data: dict[str, Any], at: float | None) -> None:
        call_id = text(data.get("toolCallId"))
        known, began = self._tools.pop(call_id, (_tool(data, "toolName"), None))
        result, error = data.get("result"), as_object(data.get("error"))
        words = said(as_object(result).get("content", result) or "") or text(error.get("message"))
        took = (at - began) * 1000 if at is not None and began is not None and at >= began else None
        ok = data.get("success") is not False
        self._returned(call_id, words, ok=ok, tool=known, milliseconds=took, at=at)

    def _compacted(self, data: dict[str, Any], at: float | None) -> None:
        before, after = count(data.get("preCompactionTokens")), count(data.get("postCompactionTokens"))
        self._close()
        self._add(Compacted(text(data.get("summaryContent")), before, after, at))

    def _shutdown(self, data: dict[str, Any], at: float | None, event: str) -> None:
        """The totals since the start or the last resume, without what single answers said."""
        definitions = count(data.get("toolDefinitionsTokens"))
        metrics, current = as_object(data.get("modelMetrics")), data.get("currentModel")
        for model, metric in sorted(metrics.items(), key=lambda pair: pair[0] == current):
            usage = self._usage(as_object(metric).get("usage"))
            left = {
                key: max(0, found - self._counted[model, key])
                for key in _COUNTS
                if (found := getattr(usage, key)) is not None
            }
            usage = replace(usage, **left)
            if usage.input_tokens or usage.output_tokens or definitions is not None:
                answer = OpenAnswer(f"{model} {event}", model, at, usage=usage, finish_reason=TOTALS)
                answer.tool_tokens, definitions = definitions, None
                self._open(answer)
        self._close()
        self._counted.clear()


def _tool(data: dict[str, Any], key: str) -> AgentTool:
    """The tool of a call, which says itself on which server it is."""
    sent, server = text(data.get(key)), server_name(text(data.get("mcpServerName")))
    return AgentTool(text(data.get("mcpToolName")) or sent, server, sent)

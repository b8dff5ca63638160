"""Sessions of Kimi Code, Mistral Vibe and OpenHands, which keep what happened as events, one after the other.

Kimi writes an event a line, Vibe the same in several files, OpenHands a file each. What is known of the whole
session stands in a file above. In Vibe each model call and each tool call is an action: an intent with the
request, and a result.
"""

import re
from collections.abc import Iterable
from typing import Any

from inspector.core.message import Usage
from inspector.features.agents.transcript import (
    AgentTool,
    Called,
    Compacted,
    Entry,
    Tally,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.message import (
    MessageReader,
    Places,
    Told,
    named,
    usage_of,
    value_at,
)
from inspector.features.agents.transcript_file.record_reader import (
    OpenAnswer,
    agent_tool,
    definition_of,
    mappings,
    moment,
    number,
    said,
    text,
)
from inspector.schema.json_value import as_object


def _offered(tools: object) -> tuple[AgentTool, ...]:
    """The tools of a list of definitions."""
    return tuple(agent_tool(text(one.get("name")), definition_of(one)) for one in mappings(tools))


_KIMI: Places = (
    "inputOther + inputCacheRead + inputCacheCreation",
    *("output", "inputCacheRead", "inputCacheCreation", ""),
)
# What they say is in other records, too, or is not about models and tools.
_KIMI_STATES = frozenset(
    {"metadata", "runtime.set_binding", "mcp.tools_discovered", "permission.set_mode", "agent.turn.started"}
    | {"agent.message.appended", "plugin.session_start", "usage.record", "agent.turn.ended", "turn.ended"}
    | {"token_counting.measured", "token_counting.turn_recorded", "prompt.completed", "turn.prompt"}
)


class KimiReader(MessageReader):
    """Reads the records of one agent of a session of Kimi Code: another than the main one is below it."""

    AGENT = "kimi-code"
    BESIDE = "agents"
    TIME = "time"
    PER_SECOND = 1000

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._model = ""

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        if (agent := text(record.get("agentId"))) and self._begun is None:
            session, folder = text(self._beside.get("id")), self._beside.get("cwd")
            is_main = agent == "main" or not session
            own, parent = (session, "") if is_main else (f"{session}/{agent}", session)
            self._start(own, at, folder=folder, parent=parent)
        match kind:
            case "profile.bind" | "llm.request":
                self._model = text(record.get("model")) or self._model
            case "llm.tools_snapshot":
                if self._is_first("tools", text(record.get("hash"))):
                    self._add(ToolsOffered(_offered(record.get("tools")), at=at))
            case "context.append_message":
                message = as_object(record.get("message"))
                by_person = value_at(message, "origin.kind") == "user"
                if message.get("role") == "user" and self._is_first("message", text(message.get("id"))):
                    self._asks(said(message.get("content")), at, by_person=by_person)
            case "context.append_loop_event":
                self._event(as_object(record.get("event")), at)
            case _ if kind in _KIMI_STATES:
                self.tally.leave_out(kind)
            case _:
                self.tally.count_unknown(kind)

    def _event(self, event: dict[str, Any], at: float | None) -> None:
        kind, key = text(event.get("type")), text(event.get("stepUuid")) or text(event.get("uuid"))
        answer = self._answer if self._answer is not None and self._answer.id == key else None
        match kind:
            case "step.begin" if self._is_first("step", key):
                self._open(OpenAnswer(key, self._model, at))
            case "content.part" if answer is not None and value_at(event, "part.type") == "text":
                if self._is_first("part", text(event.get("uuid"))):
                    answer.say(text(value_at(event, "part.text")))
            case "tool.call":
                self._calls_tool(event.get("toolCallId"), event.get("name"), event.get("args"))
            case "tool.result":
                result = as_object(event.get("result"))
                ok, took = result.get("isError") is not True, number(result.get("durationMs"))
                self._done(event.get("toolCallId"), said(result.get("output", "")), at, ok=ok, took=took)
            case "step.end" if answer is not None:
                answer.usage = usage_of(as_object(event.get("usage")), _KIMI)
                answer.finish_reason = text(event.get("finishReason"))
                self._close()
            case "step.begin" | "content.part" | "step.end":
                self.tally.leave_out(kind)
            case _:
                self.tally.count_unknown(f"event {kind}")


_VIBE: Places = ("input_tokens", "output_tokens", "cached_input_tokens", "", "reasoning_tokens")
_VIBE_STATES = frozenset({"core_input", "command_reserved", "projection_delta", "receipt_succeeded"})
_FOUND = re.compile(r"^(?: *- name:| *\d+\.) (\S+)(?: - [\d.]+)?$", re.MULTILINE)
_BY_CODE = "typescript:"


class VibeReader(MessageReader):
    """Reads the journal of one session of Mistral Vibe. A call's id says whether the model's code made it."""

    AGENT = "vibe"
    BEFORE, BETWEEN = "mcp_", "."
    SEARCH = "search_tool_functions"
    BESIDE = "session_id"
    TIME = "payload.input.determinism.time_unix_ms"
    PER_SECOND = 1000

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._asked: dict[str, dict[str, Any]] = {}
        self._at: float | None = None

    def _found(self, words: str) -> Iterable[AgentTool]:
        return (tool for tool in map(self._tool, named(_FOUND, words)) if tool.server)

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        payload = as_object(record.get("payload"))
        self._at = self._at if at is None else at
        if kind not in ("action_intent", "action_result"):
            known = kind in _VIBE_STATES
            self.tally.leave_out(kind) if known else self.tally.count_unknown(kind)
        elif self._is_first("record", text(record.get("record_sha256"))):
            if self._begun is None:
                self._starts()
            if kind == "action_intent":
                self._intended(text(payload.get("kind")), as_object(payload.get("request")))
            else:
                self._result(text(payload.get("action_id")), as_object(payload.get("result")))

    def _starts(self) -> None:
        beside = self._beside
        folder, parent = value_at(beside, "environment.working_directory"), beside.get("parent_session_id")
        model, began = value_at(beside, "config.model_name"), moment(beside.get("start_time"), self.tally)
        self._start(beside.get("session_id"), began, folder=folder, model=model, parent=parent)

    def _intended(self, kind: str, request: dict[str, Any]) -> None:
        """A request to a model has the messages since the one before; one for a tool has the call."""
        if kind not in ("completion", "tool"):
            self.tally.leave_out(f"action {kind}")
            return
        self._asked[text(request.get("action_id"))] = request
        sent = as_object(request.get("model_input"))
        for message in mappings(value_at(sent, "messages.messages")):
            words, role = said(message.get("content")), message.get("role")
            if role == "tool":
                self._done(
                    message.get("tool_call_id"), words, self._at, ok=message.get("outcome") == "success"
                )
            elif role == "user" and self._is_new("asked", text(request.get("turn_id")), words):
                self._asks(words, self._at)
        if offered := _offered(value_at(sent, "tool_catalog.tools")):
            self._close()
            self._add(ToolsOffered(offered, at=self._at))

    def _result(self, action: str, result: dict[str, Any]) -> None:
        request, told = self._asked.pop(action, {}), as_object(result.get("result"))
        if "model_input" in request and result.get("type") == "completion_succeeded":
            self._answered(action, told)
        elif "model_input" in request:
            self._interrupt(text(value_at(told, "error.message")) or text(result.get("type")), self._at)
        elif call := as_object(request.get("call")):
            group, name = text(call.get("group_name")), text(call.get("tool_name"))
            tool = self._tool(f"{group}.{name}") if group.startswith(self.BEFORE) else self._tool(name)
            words = said(told.get("content", [])) or text(value_at(told, "error.message"))
            ok, given = told.get("type") == "success", as_object(call.get("arguments"))
            call_id = text(request.get("call_id"))
            if call_id.startswith(_BY_CODE):
                self._add(Called(call_id, tool, given, words, ok, at=self._at, unread=True))
            else:
                self._done(call_id, words, self._at, ok=ok, tool=tool, given=given)

    def _answered(self, action: str, told: dict[str, Any]) -> None:
        answer = self._open(OpenAnswer(action, text(value_at(self._beside, "config.model_name")), self._at))
        answer.usage = usage_of(as_object(told.get("usage")), _VIBE)
        answer.finish_reason = text(told.get("finish_reason"))
        for part in mappings(told.get("parts")):
            if part.get("type") == "tool_call":
                self._calls_tool(part.get("id"), part.get("name"), part.get("arguments_json"))
            elif part.get("type") == "text":
                answer.say(text(part.get("text")))
            else:
                self.tally.leave_out(f"part {text(part.get('type'))}")


_OPENHANDS: Places = (
    *("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens"),
    "reasoning_tokens",
)
_RESULTS = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})
_OPENHANDS_STATES = frozenset(
    {"ConversationStateUpdateEvent", "CondensationRequest", "PauseEvent", "TokenEvent"}
)


class OpenHandsReader(MessageReader):
    """Reads the events of one conversation of OpenHands; the tokens of each answer are in its state."""

    AGENT = "openhands"
    BESIDE = "stats"

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._used: dict[str, Usage] = {}
        self._dollars = 0.0
        self._tools: dict[str, AgentTool] = {}
        self._model = ""

    def _tool(self, sent: str) -> AgentTool:
        return self._tools.get(sent, AgentTool(sent, "", sent))

    def take(self, record: dict[str, Any]) -> None:
        super().take(record)
        if "stats" not in record:
            return
        for metrics in map(as_object, as_object(value_at(record, "stats.usage_to_metrics")).values()):
            self._dollars += number(metrics.get("accumulated_cost")) or 0.0
            for used in mappings(metrics.get("token_usages")):
                self._used[text(used.get("response_id"))] = usage_of(used, _OPENHANDS)
        self._model = text(value_at(record, "agent.llm.model"))
        folder = value_at(record, "workspace.working_dir")
        self._start(record.get("id"), folder=folder, model=self._model)

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        kind = text(record.get("kind")) or kind
        if not self._is_first("event", text(record.get("id"))):
            return
        if self._begun is None and (kind in _RESULTS or kind in _ANSWERS):
            self._start("", at)
        if kind == "SystemPromptEvent":
            self._offers(record.get("tools"), at)
        elif kind in _ANSWERS:
            message = as_object(record.get("llm_message"))
            words = said(message.get("content", record.get("thought")))
            if kind == "MessageEvent" and message.get("role") != "assistant":
                by_person = record.get("source") == "user"
                self._message(message.get("role"), "", message.get("content"), at, Told(by_person=by_person))
                return
            key, call = text(record.get("llm_response_id")), as_object(record.get("tool_call"))
            answer = self._part_of(key, self._model, at)
            answer.say(words)
            answer.usage = self._used.get(key, Usage())
            if call:
                self._calls_tool(call.get("id"), call.get("name"), call.get("arguments"))
        elif kind in _RESULTS:
            seen = as_object(record.get("observation"))
            words = said(seen.get("content", record.get("error", record.get("rejection_reason", ""))))
            ok = kind == "ObservationEvent" and seen.get("is_error") is not True
            self._done(record.get("tool_call_id"), words, at, ok=ok)
        elif kind == "Condensation":
            self._close()
            self._add(Compacted(text(record.get("summary")), at=at))
        elif kind in _OPENHANDS_STATES:
            self.tally.leave_out(kind)
        else:
            self.tally.count_unknown(kind)

    def _offers(self, tools: object, at: float | None) -> None:
        """Only MCP's tools are there as the model gets them; a server's name ends at the first underscore."""
        for found in (as_object(one.get("mcp_tool")) for one in mappings(tools)):
            if sent := text(found.get("name")):
                self._tools[sent] = agent_tool(sent, definition_of(found), before="", between="_")
        self._add(ToolsOffered(tuple(self._tools.values()), at=at))

    def finish(self) -> list[Entry]:
        self._totals(Usage(), dollars=self._dollars)
        return super().finish()


_ANSWERS = frozenset({"MessageEvent", "ActionEvent"})

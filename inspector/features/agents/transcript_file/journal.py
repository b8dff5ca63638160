"""Sessions of Kimi Code, Mistral Vibe and OpenHands, which keep what happened as events, one after the other.

Kimi writes an event a line, Vibe the same in several files, OpenHands a file each. What is known of the whole
session stands in a file above. In Vibe each model call and each tool call is an action: an intent with the
request, and a result.
"""

import re
from collections.abc import Iterable
from typing import Any

from inspector.core.message import Usage
from inspector.features.agents.transcript import AgentTool, Called, Compacted, Entry, Tally
from inspector.features.agents.transcript_file.message import MessageReader, Told, value_at
from inspector.features.agents.transcript_file.record_reader import (
    OpenAnswer,
    mappings,
    moment,
    number,
    said,
    text,
)
from inspector.schema.json_value import as_object


class KimiReader(MessageReader):
    """Reads the records of one agent of a session of Kimi Code: another than the main one is below it."""

    AGENT = "kimi-code"
    USED = (
        "inputOther + inputCacheRead + inputCacheCreation",
        *("output", "inputCacheRead", "inputCacheCreation", ""),
    )
    BESIDE = "agents"
    TIME = "time"
    PER_SECOND = 1000
    _step = ""

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        if (agent := text(record.get("agentId"))) and self._begun is None:
            session, folder = text(self._beside.get("id")), self._beside.get("cwd")
            is_main = agent == "main" or not session
            own, parent = (session, "") if is_main else (f"{session}/{agent}", session)
            self._start(own, at, folder=folder, parent=parent)
        message = as_object(record.get("message"))
        if kind == "llm.request" and record.get("kind") == "loop":
            # What it binds stands before it, and behind the beginning of its step.
            self._part_of(self._step, text(record.get("model")), at)
        elif kind == "llm.request":
            self.tally.leave_out("a side request")
        elif kind == "llm.tools_snapshot":
            if self._is_first("tools", text(record.get("hash"))):
                self._offer(mappings(record.get("tools")), at)
        elif kind == "context.append_loop_event":
            self._event(as_object(record.get("event")), at)
        elif kind == "context.append_message" and message.get("role") == "user":
            told = Told(by_person=value_at(message, "origin.kind") == "user")
            self._message("user", text(message.get("id")), message.get("content"), at, told)
        else:
            self.tally.count_unknown(kind)

    def _event(self, event: dict[str, Any], at: float | None) -> None:
        kind, key = text(event.get("type")), text(event.get("stepUuid")) or text(event.get("uuid"))
        answer = self._answer if self._answer is not None and self._answer.id == key else None
        match kind:
            case "step.begin":
                self._close()
                self._step = key
            case "content.part" if answer is not None:
                if self._is_first("part", text(event.get("uuid"))):
                    answer.say(self._blocks([event.get("part")], at))
            case "tool.call":
                self._calls_tool(event.get("toolCallId"), event.get("name"), event.get("args"))
            case "tool.result":
                result = as_object(event.get("result"))
                ok, took = result.get("isError") is not True, number(result.get("durationMs"))
                self._done(event.get("toolCallId"), said(result.get("output", "")), at, ok=ok, took=took)
            case "step.end" if answer is not None:
                answer.usage = self._usage(event.get("usage"))
                answer.finish_reason = text(event.get("finishReason"))
                self._close()
            case "content.part" | "step.end":
                self.tally.leave_out(kind)
            case _:
                self.tally.count_unknown(f"event {kind}")


_FOUND = re.compile(r"^(?: *- name:| *\d+\.) (\S+)(?: - [\d.]+)?$", re.MULTILINE)
_BY_CODE = "typescript:"


class VibeReader(MessageReader):
    """Reads the journal of one session of Mistral Vibe. A call's id says whether the model's code made it."""

    AGENT = "vibe"
    USED = ("input_tokens", "output_tokens", "cached_input_tokens", "", "reasoning_tokens")
    BEFORE, BETWEEN = "mcp_", "."
    SEARCH = "search_tool_functions"
    BESIDE = "session_id"
    TIME = "payload.input.determinism.time_unix_ms"
    PER_SECOND = 1000

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._requests: dict[str, dict[str, Any]] = {}
        self._at: float | None = None

    def _found(self, words: str) -> Iterable[AgentTool]:
        return (tool for tool in self._named_in(_FOUND, words) if tool.server)

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        payload, beside = as_object(record.get("payload")), self._beside
        if kind == "core_input":
            self._at = self._at if at is None else at
            self.tally.leave_out(kind)
        elif kind not in ("action_intent", "action_result"):
            self.tally.count_unknown(kind)
        elif self._is_first("record", text(record.get("record_sha256"))):
            if self._begun is None:
                self._model = text(value_at(beside, "config.model_name"))
                began, parent = moment(beside.get("start_time"), self.tally), beside.get("parent_session_id")
                folder = value_at(beside, "environment.working_directory")
                self._start(beside.get("session_id"), began, folder=folder, model=self._model, parent=parent)
            if kind == "action_intent":
                self._intended(text(payload.get("kind")), as_object(payload.get("request")))
            else:
                self._result(text(payload.get("action_id")), as_object(payload.get("result")))

    def _intended(self, kind: str, request: dict[str, Any]) -> None:
        """A request to a model has the messages since the one before; one for a tool has the call."""
        if kind not in ("completion", "tool"):
            self.tally.leave_out(f"action {kind}")
            return
        self._requests[text(request.get("action_id"))] = request
        sent = as_object(request.get("model_input"))
        for message in mappings(value_at(sent, "messages.messages")):
            words, ok = said(message.get("content")), message.get("outcome") == "success"
            if message.get("role") == "tool":
                self._done(message.get("tool_call_id"), words, self._at, ok=ok)
            elif message.get("role") == "user" and self._is_new("asked", text(request.get("turn_id")), words):
                self._asks(words, self._at)
        self._offer(mappings(value_at(sent, "tool_catalog.tools")), self._at)

    def _result(self, action: str, result: dict[str, Any]) -> None:
        request, told = self._requests.pop(action, {}), as_object(result.get("result"))
        error = text(value_at(told, "error.message"))
        if "model_input" in request and result.get("type") == "completion_succeeded":
            self._answered(action, told)
        elif "model_input" in request:
            self._interrupt(error or text(result.get("type")), self._at)
        elif call := as_object(request.get("call")):
            group, name = text(call.get("group_name")), text(call.get("tool_name"))
            tool = self._tool(f"{group}.{name}" if group.startswith(self.BEFORE) else name)
            words, ok = said(told.get("content", [])) or error, told.get("type") == "success"
            call_id, given = text(request.get("call_id")), as_object(call.get("arguments"))
            if call_id.startswith(_BY_CODE):
                self._add(Called(call_id, tool, given, words, ok, at=self._at, unread=True))
            else:
                self._done(call_id, words, self._at, ok=ok, tool=tool, given=given)

    def _answered(self, action: str, told: dict[str, Any]) -> None:
        answer = self._open(OpenAnswer(action, self._model, self._at))
        answer.usage = self._usage(told.get("usage"))
        answer.finish_reason = text(told.get("finish_reason"))
        for part in mappings(told.get("parts")):
            if part.get("type") == "tool_call":
                self._calls_tool(part.get("id"), part.get("name"), part.get("arguments_json"))
            else:
                answer.say(self._blocks([part], self._at))


_RESULTS = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})


class OpenHandsReader(MessageReader):
    """Reads the events of one conversation of OpenHands; the tokens of each answer are in its state."""

    AGENT = "openhands"
    USED = (
        *("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens"),
        "reasoning_tokens",
    )
    BEFORE, BETWEEN = "", "_"
    BESIDE = "stats"
    OWN = frozenset({"file_editor", "task_tracker"})

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        if not self._is_first("event", text(record.get("id"))):
            return
        if kind == "SystemPromptEvent":
            # Only MCP's tools are in it as the model gets them; a server's name ends at the first underscore.
            self._starts()
            self._offer((as_object(one.get("mcp_tool")) for one in mappings(record.get("tools"))), at)
        elif kind == "ActionEvent":
            self._answers(record, said(record.get("thought")), at)
            call = as_object(record.get("tool_call"))
            self._calls_tool(call.get("id"), call.get("name"), call.get("arguments"))
        elif kind == "MessageEvent":
            message = as_object(record.get("llm_message"))
            if message.get("role") == "assistant":
                self._answers(record, said(message.get("content")), at)
            else:
                told = Told(by_person=record.get("source") == "user")
                self._message(message.get("role"), "", message.get("content"), at, told)
        elif kind in _RESULTS:
            seen = as_object(record.get("observation"))
            words = said(seen.get("content", record.get("error", record.get("rejection_reason", ""))))
            ok = kind == "ObservationEvent" and seen.get("is_error") is not True
            self._done(record.get("tool_call_id"), words, at, ok=ok)
        elif kind == "ConversationErrorEvent":
            self._interrupt(text(record.get("detail")) or text(record.get("code")), at)
        elif kind == "Condensation":
            self._close()
            self._add(Compacted(text(record.get("summary")), at=at))
        else:
            self.tally.count_unknown(kind)

    def _starts(self) -> None:
        beside, self._model = self._beside, text(value_at(self._beside, "agent.llm.model"))
        folder = value_at(beside, "workspace.working_dir")
        self._start(beside.get("id"), folder=folder, model=self._model)

    def _metrics(self) -> Iterable[dict[str, Any]]:
        return map(as_object, as_object(value_at(self._beside, "stats.usage_to_metrics")).values())

    def _answers(self, record: dict[str, Any], words: str, at: float | None) -> None:
        """An answer; each of its calls is an event with the same id of the answer."""
        key = text(record.get("llm_response_id"))
        answer = self._part_of(key, self._model, at)
        answer.say(words)
        told = (used for one in self._metrics() for used in mappings(one.get("token_usages")))
        answer.usage = self._usage(next((used for used in told if used.get("response_id") == key), None))

    def finish(self) -> list[Entry]:
        dollars = sum(number(one.get("accumulated_cost")) or 0.0 for one in self._metrics())
        self._totals(Usage(), dollars=dollars)
        return super().finish()

"""Rollouts of Codex: JSON Lines, `{timestamp, type, payload}`; see docs/papers/transcripts.md.

A model call has no record of its own: it begins with the first item of its answer, and ends with its usage.
Files of 2025 have no envelope: their records are the items themselves, below a header.
"""

import re
from dataclasses import replace
from typing import Any

from inspector.core.message import ToolCall, Usage
from inspector.features.agents.transcript import (
    AgentTool,
    Begun,
    Called,
    Compacted,
    Entry,
    Interrupted,
    Tally,
)
from inspector.features.agents.transcript_file.codex_fork import Fork
from inspector.features.agents.transcript_file.field import (
    agent_tool,
    arguments,
    count,
    in_namespace,
    moment,
    number,
    said,
    server_name,
    text,
)
from inspector.features.agents.transcript_file.flow import COPY, Answer, FlowReader
from inspector.features.agents.transcript_file.openai_item import Items, usage_of
from inspector.schema.json_value import as_object

# The end of an MCP call as Codex records it: with its server, its time, and whether it failed.

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|µs|us|ns)")
_MILLISECONDS = {"s": 1000.0, "ms": 1.0, "µs": 1e-3, "us": 1e-3, "ns": 1e-6}


def _mcp_end(payload: dict[str, Any], call: ToolCall | None, at: float | None) -> Called:
    """The end of a call; without the call itself, where it was made by code that the model wrote."""
    invocation = as_object(payload.get("invocation"))
    name, server = text(invocation.get("tool")), server_name(text(invocation.get("server")))
    known = agent_tool(call.name) if call else AgentTool(name, server, f"mcp__{server}__{name}")
    tool = known if known.server else AgentTool(name, server, known.sent)
    words, ok = _outcome(payload.get("result"))
    given, _ = arguments(as_object(invocation.get("arguments")))
    took = _milliseconds(payload.get("duration"))
    return Called(text(payload.get("call_id")), tool, given, words, ok, took, at, unread=True)


def _outcome(result: object) -> tuple[str, bool]:
    """The text of a result, and whether it is one: Rust's `Ok` or `Err`, or the result itself."""
    found = as_object(result)
    if "Err" in found:
        return text(found["Err"]) or said(found["Err"]), False
    answer = as_object(found.get("Ok")) or found
    failed = answer.get("isError", answer.get("is_error")) is True
    return said(answer.get("content", [])), not failed


def _milliseconds(duration: object) -> float | None:
    parts = as_object(duration)
    if parts:
        seconds, nanos = number(parts.get("secs")), number(parts.get("nanos"))
        return None if seconds is None else seconds * 1000 + (nanos or 0) / 1e6
    match = _DURATION.fullmatch(text(duration).strip())
    return float(match[1]) * _MILLISECONDS[match[2]] if match else None


_USAGE = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
_CONVERSATION = frozenset({"response_item", "event_msg", "turn_context"})
_STATES = frozenset(
    {"world_state", "inter_agent_communication", "inter_agent_communication_metadata", "retained_context"}
    | {"security_risk_score", "realtime_item"}
)
# What is said in them is in other records, too, or is not about tools.
_EVENTS = frozenset(
    {"user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "context_compacted"}
    | {"agent_reasoning_section_break", "thread_rolled_back", "entered_review_mode", "exited_review_mode"}
    | {"patch_apply_begin", "patch_apply_end", "web_search_begin", "web_search_end", "image_generation_end"}
    | {"exec_command_begin", "exec_command_end", "item_started", "thread_goal_updated"}
    | {"sub_agent_activity", "mcp_tool_call_begin", "view_image_tool_call", "thread_name_updated"}
)
# Completed items that other records have, too. What code of the model called is in these alone.
_ITEMS = frozenset(
    {"UserMessage", "HookPrompt", "AgentMessage", "Plan", "Reasoning", "WebSearch", "ImageView", "Sleep"}
    | {"CollabAgentToolCall", "SubAgentActivity", "ImageGeneration", "FileChange", "ContextCompaction"}
    | {"FunctionCallOutput", "Extension", "CommandExecution", "DynamicToolCall"}
)
_ENVELOPED = _CONVERSATION | _STATES | {"session_meta", "compacted", "token_usage_record"}


def is_header(record: dict[str, Any]) -> bool:
    """Whether a record is the first line of a file of 2025, which has no type."""
    is_named = isinstance(record.get("id"), str) and isinstance(record.get("timestamp"), str)
    return "type" not in record and is_named and ("instructions" in record or "git" in record)


def _bare(record: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A record without an envelope, as one with it. Tools were named `SERVER__TOOL` then."""
    if is_header(record):
        return "session_meta", record
    if "record_type" in record:
        return "world_state", record
    name = text(record.get("name"))
    is_of_server = "__" in name and not name.startswith("mcp__")
    return "response_item", {**record, "name": f"mcp__{name}"} if is_of_server else record


def _ended(item: dict[str, Any]) -> dict[str, Any]:
    """A completed MCP call, as the event that older versions wrote of it."""
    error = as_object(item.get("error"))
    failed = bool(error) or item.get("status") == "failed"
    result = {"Err": text(error.get("message"))} if failed else {"Ok": item.get("result")}
    return {**item, "call_id": item.get("id"), "invocation": item, "result": result}


def _ran(item: dict[str, Any], at: float | None) -> Called:
    """A command that code ran, or a tool of the client that it called."""
    tool = in_namespace(text(item.get("namespace")), text(item.get("tool")) or "exec_command")
    given, _ = arguments(item.get("arguments") or {"command": item.get("command")})
    words = text(item.get("aggregated_output")) or said(item.get("content_items", []))
    ok, took = item.get("status") != "failed", _milliseconds(item.get("duration"))
    return Called(text(item.get("id")), tool, given, words, ok, took, at, unread=True)


class CodexReader(FlowReader):
    """Reads the records of one thread."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._items = Items(self._flow)
        self._has_session = False
        self._fork: Fork | None = None
        self._total: tuple[int | None, ...] = ()
        self._last_totals: dict[str, Any] = {}
        self._has_records = False
        self._last_paid: Usage | None = None
        self._ends: dict[str, Called] = {}

    def read(self, record: dict[str, Any]) -> list[Entry]:
        """The entries that are finished with this record."""
        kind, payload = text(record.get("type")), as_object(record.get("payload"))
        at = moment(record.get("timestamp"), self._tally)
        if "payload" not in record and kind not in _ENVELOPED:
            kind, payload = _bare(record)
        if not payload:
            self._tally.count_malformed("a record without a payload")
        elif as_object(record.get("metadata")).get("delivered_assistant_message"):
            self._tally.leave_out(COPY)
        elif kind == "session_meta":
            self._session(payload, at)
        else:
            record_of = (kind, payload, at)
            for own in (record_of,) if self._fork is None else self._fork.own(record_of):
                self._own(*own)
        return self._flow.take()

    def finish(self) -> list[Entry]:
        """The entries that waited for more, such as an answer whose usage has not come."""
        for own in self._fork.ended() if self._fork is not None else ():
            self._own(*own)
        return self._flow.finish()

    def _inherit(self, payload: dict[str, Any]) -> None:
        """Leave out a copy; the fork's own token counts go on from the parent's."""
        self._tally.leave_out(COPY)
        if payload.get("type") == "token_count" and (info := as_object(payload.get("info"))):
            self._last_totals = as_object(info.get("total_token_usage"))
            self._total = _total_of(self._last_totals)

    def _session(self, payload: dict[str, Any], at: float | None) -> None:
        if self._has_session:
            self._tally.leave_out(COPY)
            return
        self._has_session = True
        spawned = as_object(as_object(as_object(payload.get("source")).get("subagent")).get("thread_spawn"))
        parents = (
            payload.get("parent_thread_id"),
            spawned.get("parent_thread_id"),
            payload.get("forked_from_id"),
        )
        parent = next((text(one) for one in parents if text(one)), "")
        began = moment(payload.get("timestamp"), self._tally) or at
        self._fork = Fork(began, at, self._inherit) if parent else None
        self._flow.begin(
            Begun(
                "codex",
                session=text(payload.get("id")) or text(payload.get("session_id")),
                version=text(payload.get("cli_version")),
                folder=text(payload.get("cwd")),
                parent=parent,
                at=at,
            )
        )
        self._items.offer(payload.get("dynamic_tools"), at)

    def _own(self, kind: str, payload: dict[str, Any], at: float | None) -> None:
        if kind in _CONVERSATION and self._flow.begun is None:
            self._flow.begin(Begun("codex", at=at))
        match kind:
            case "response_item":
                self._item(payload, at)
            case "event_msg":
                self._event(payload, at)
            case "turn_context":
                self._turn(payload)
            case "token_usage_record":
                self._recorded(payload, at)
            case "compacted":
                self._items.end_answer()
                self._flow.add(Compacted(text(payload.get("message")), at=at))
            case _ if kind in _STATES:
                self._tally.leave_out(kind)
            case _:
                self._tally.count_unknown(kind)

    def _turn(self, payload: dict[str, Any]) -> None:
        self._items.model = text(payload.get("model")) or self._items.model
        begun = self._flow.begun
        if begun is not None and not begun.model:
            self._flow.begin(replace(begun, model=self._items.model))

    def _window(self, tokens: object) -> None:
        begun = self._flow.begun
        if begun is not None and begun.window is None:
            self._flow.begin(replace(begun, window=count(tokens)))

    def _item(self, payload: dict[str, Any], at: float | None) -> None:
        call_id = text(payload.get("call_id"))
        end = self._ends.pop(call_id, None)
        if end is None or not text(payload.get("type")).endswith("_output"):
            self._items.read(payload, at)
        elif self._seen.add("result", call_id):
            self._items.results_came()
            words = said(payload.get("output")) or end.text
            self._flow.returned(
                call_id, words, ok=end.ok, tool=end.tool, milliseconds=end.milliseconds, at=at
            )

    def _event(self, payload: dict[str, Any], at: float | None) -> None:
        match text(payload.get("type")):
            case "token_count":
                self._counted(as_object(payload.get("info")), at)
            case "mcp_tool_call_end":
                self._mcp_end(payload, at)
            case "item_completed":
                self._completed(as_object(payload.get("item")), at)
            case "task_started" | "turn_started":
                self._window(payload.get("model_context_window"))
            case "task_complete" | "turn_complete":
                self._items.end_answer()
            case "turn_aborted":
                self._stopped(text(payload.get("reason")), at, by_user=payload.get("reason") == "interrupted")
            case "error":
                self._stopped(text(payload.get("message")), at, by_user=False)
            case kind if kind in _EVENTS:
                self._tally.leave_out(f"event {kind}")
            case kind:
                self._tally.count_unknown(f"event {kind}")

    def _completed(self, item: dict[str, Any], at: float | None) -> None:
        match text(item.get("type")):
            case "McpToolCall":
                self._mcp_end(_ended(item), at)
            case "CommandExecution" | "DynamicToolCall" if self._seen.add("call", text(item.get("id"))):
                self._flow.add(_ran(item, at))
            case kind if kind in _ITEMS:
                self._tally.leave_out(f"item {kind}")
            case kind:
                self._tally.count_unknown(f"item {kind}")

    def _stopped(self, message: str, at: float | None, *, by_user: bool) -> None:
        self._items.end_answer()
        self._flow.add(Interrupted(message, by_user, at))

    def _counted(self, info: dict[str, Any], at: float | None) -> None:
        """A count is repeated whenever limits change: it is a new one only if its total has moved."""
        self._window(info.get("model_context_window"))
        totals = as_object(info.get("total_token_usage"))
        total = _total_of(totals)
        if self._has_records or not info or total == self._total:
            self._tally.leave_out("repeated token count")
            return
        last = as_object(info.get("last_token_usage")) or _moved(totals, self._last_totals)
        self._total, self._last_totals = total, totals
        self._paid(usage_of(last), "", at)

    def _recorded(self, payload: dict[str, Any], at: float | None) -> None:
        """A response's own usage; where there are records, counts say the same again."""
        usage, response = usage_of(as_object(payload.get("usage"))), text(payload.get("response_id"))
        is_told = not self._has_records and self._flow.answer is None and usage == self._last_paid
        self._has_records = True
        if is_told or (response and not self._seen.add("response", response)):
            self._tally.leave_out("repeated token count")
        else:
            self._paid(usage, response, at)

    def _paid(self, usage: Usage, response: str, at: float | None) -> None:
        """Give the open answer its usage, which ends it; without one, the call said nothing that is kept."""
        answer = self._flow.answer
        self._last_paid = usage
        if answer is None and not (usage.input_tokens or usage.output_tokens):
            return
        if answer is None:
            answer = Answer(response or f"usage at {at}", self._items.model, at)
            self._flow.open(answer)
        answer.id = response or answer.id
        answer.usage = usage
        self._items.end_answer()

    def _mcp_end(self, payload: dict[str, Any], at: float | None) -> None:
        call_id = text(payload.get("call_id"))
        call = self._flow.calls.get(call_id)
        end = _mcp_end(payload, call, at)
        if call is not None:
            self._ends[call_id] = end
        elif self._seen.add("result", call_id):
            self._flow.add(end)
        else:
            self._tally.leave_out(COPY)


def _total_of(totals: dict[str, Any]) -> tuple[int | None, ...]:
    return tuple(count(totals.get(key)) for key in _USAGE)


def _moved(totals: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """What was added to the totals; a counter that fell began anew."""
    if (count(totals.get("total_tokens")) or 0) < (count(before.get("total_tokens")) or 0):
        before = {}
    return {key: max(0, (count(totals.get(key)) or 0) - (count(before.get(key)) or 0)) for key in totals}

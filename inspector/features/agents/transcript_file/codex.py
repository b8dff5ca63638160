"""Rollouts of Codex: JSON Lines, `{timestamp, type, payload}`; see docs/papers/transcripts.md.

A model call has no record of its own: it begins with the first item of its answer, and ends with its usage.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from inspector.core.message import ToolCall, Usage
from inspector.features.agents.transcript import AgentTool, Begun, Called, Compacted, Entry, Tally
from inspector.features.agents.transcript_file.message import Places, usage_of
from inspector.features.agents.transcript_file.openai_item import ItemReader
from inspector.features.agents.transcript_file.record_reader import (
    COPY,
    LEFT_OUT,
    OpenAnswer,
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
from inspector.schema.json_value import as_object

_USED: Places = (
    *("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"),
    "reasoning_output_tokens",
)
_TOTALS = (*_USED, "total_tokens")
_KNOWN = LEFT_OUT["codex"]
_STATES = _KNOWN["records"]
KINDS = _STATES | {
    *("response_item", "event_msg", "turn_context", "session_meta", "compacted", "token_usage_record")
}
"""The kinds of its records."""
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
    if parts := as_object(duration):
        seconds, nanos = number(parts.get("secs")), number(parts.get("nanos"))
        return None if seconds is None else seconds * 1000 + (nanos or 0) / 1e6
    match = _DURATION.fullmatch(text(duration).strip())
    return float(match[1]) * _MILLISECONDS[match[2]] if match else None


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


Record = tuple[str, dict[str, Any], float | None]
"""A record's kind, its payload, and its time in seconds since 1970."""


class CodexReader(ItemReader):
    """Reads the records of one thread."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._has_session = False
        self._fork: _Fork | None = None
        self._total: tuple[int | None, ...] = ()
        self._has_records = False
        self._last_paid: Usage | None = None
        self._ends: dict[str, Called] = {}

    def take(self, record: dict[str, Any]) -> None:
        kind, payload = text(record.get("type")), as_object(record.get("payload"))
        at = moment(record.get("timestamp"), self.tally)
        if kind not in KINDS:
            self.tally.count_unknown(kind)
        elif not payload:
            self.tally.count_malformed("a record without a payload")
        elif as_object(record.get("metadata")).get("delivered_assistant_message"):
            self.tally.leave_out(COPY)
        elif kind == "session_meta":
            self._session(payload, at)
        else:
            given = (kind, payload, at)
            for own in (given,) if self._fork is None else self._fork.own(given):
                self._own(*own)

    def finish(self) -> list[Entry]:
        for own in self._fork.ended() if self._fork is not None else ():
            self._own(*own)
        return super().finish()

    def _inherit(self, payload: dict[str, Any]) -> None:
        """Leave out a copy; the fork's own token counts go on from the parent's."""
        self.tally.leave_out(COPY)
        if payload.get("type") == "token_count" and (info := as_object(payload.get("info"))):
            self._total = _total_of(info)

    def _session(self, payload: dict[str, Any], at: float | None) -> None:
        if self._has_session:
            self.tally.leave_out(COPY)
            return
        self._has_session = True
        spawned = as_object(as_object(as_object(payload.get("source")).get("subagent")).get("thread_spawn"))
        parents = (payload, "parent_thread_id"), (spawned, "parent_thread_id"), (payload, "forked_from_id")
        parent = next((text(of[key]) for of, key in parents if text(of.get(key))), "")
        if parent:
            began = moment(payload.get("timestamp"), self.tally) or at
            self._fork = _Fork(began, at, self._inherit)
        own = text(payload.get("id")) or text(payload.get("session_id"))
        version, folder = text(payload.get("cli_version")), text(payload.get("cwd"))
        self._begin(Begun("codex", own, version, folder, parent=parent, at=at))
        self._offer(payload.get("dynamic_tools"), at)

    def _own(self, kind: str, payload: dict[str, Any], at: float | None) -> None:
        if self._begun is None and kind not in _STATES:
            self._begin(Begun("codex", at=at))
        match kind:
            case "response_item":
                self._response_item(payload, at)
            case "event_msg":
                self._event(payload, at)
            case "turn_context":
                self._model = text(payload.get("model")) or self._model
                self._know(model=self._model)
            case "token_usage_record":
                self._recorded(payload, at)
            case "compacted":
                self._close()
                self._add(Compacted(text(payload.get("message")), at=at))
            case _:
                self.tally.leave_out(kind)

    def _know(self, *, model: str = "", window: int | None = None) -> None:
        """Add to what is known of the session, while it is not told yet."""
        if (begun := self._begun) is not None:
            window = window if begun.window is None else begun.window
            self._begin(replace(begun, model=begun.model or model, window=window))

    def _response_item(self, payload: dict[str, Any], at: float | None) -> None:
        call_id = text(payload.get("call_id"))
        end = self._ends.pop(call_id, None)
        if end is None or not text(payload.get("type")).endswith("_output"):
            self._item(payload, at)
        elif self._is_new("result", call_id):
            self._has_results = True
            words = said(payload.get("output")) or end.text
            self._returned(call_id, words, ok=end.ok, tool=end.tool, milliseconds=end.milliseconds, at=at)

    def _event(self, payload: dict[str, Any], at: float | None) -> None:
        match text(payload.get("type")):
            case "token_count":
                self._counted(as_object(payload.get("info")), at)
            case "mcp_tool_call_end":
                self._mcp_ended(payload, at)
            case "item_completed":
                self._completed(as_object(payload.get("item")), at)
            case "task_started" | "turn_started":
                self._know(window=count(payload.get("model_context_window")))
            case "task_complete" | "turn_complete":
                self._close()
            case "thread_settings_applied":
                self._model = text(as_object(payload.get("thread_settings")).get("model")) or self._model
                self._know(model=self._model)
            case "turn_aborted":
                reason = text(payload.get("reason"))
                self._interrupt(reason, at, by_user=reason == "interrupted")
            case "error":
                self._interrupt(text(payload.get("message")), at)
            case kind if kind in _KNOWN["events"]:
                self.tally.leave_out(f"event {kind}")
            case kind:
                self.tally.count_unknown(f"event {kind}")

    def _completed(self, item: dict[str, Any], at: float | None) -> None:
        match text(item.get("type")):
            case "McpToolCall":
                self._mcp_ended(_ended(item), at)
            case "CommandExecution" | "DynamicToolCall" if self._is_new("call", text(item.get("id"))):
                self._add(_ran(item, at))
            case kind if kind in _KNOWN["items"]:
                self.tally.leave_out(f"item {kind}")
            case kind:
                self.tally.count_unknown(f"item {kind}")

    def _mcp_ended(self, payload: dict[str, Any], at: float | None) -> None:
        call_id = text(payload.get("call_id"))
        call = self._calls.get(call_id)
        end = _mcp_end(payload, call, at)
        if call is not None:
            self._ends[call_id] = end
        elif self._is_first("result", call_id):
            self._add(end)

    def _counted(self, info: dict[str, Any], at: float | None) -> None:
        """A count is repeated whenever limits change: it is a new one only if its total has moved."""
        self._know(window=count(info.get("model_context_window")))
        total = _total_of(info)
        if self._has_records or not info or total == self._total:
            self.tally.leave_out("repeated token count")
            return
        self._total = total
        self._paid(usage_of(as_object(info.get("last_token_usage")), _USED), "", at)

    def _recorded(self, payload: dict[str, Any], at: float | None) -> None:
        """A response's own usage; where there are records, counts say the same again."""
        usage, response = usage_of(as_object(payload.get("usage")), _USED), text(payload.get("response_id"))
        is_told = not self._has_records and self._answer is None and usage == self._last_paid
        self._has_records = True
        if is_told or (response and not self._is_new("response", response)):
            self.tally.leave_out("repeated token count")
        else:
            self._paid(usage, response, at)

    def _paid(self, usage: Usage, response: str, at: float | None) -> None:
        """Give the open answer its usage, which ends it; without one, the call said nothing that is kept."""
        self._last_paid = usage
        if self._answer is None and not (usage.input_tokens or usage.output_tokens):
            return
        answer = self._answer or self._open(OpenAnswer(f"usage at {at}", self._model, at))
        answer.id = response or answer.id
        answer.usage = usage
        self._close()


def _total_of(info: dict[str, Any]) -> tuple[int | None, ...]:
    totals = as_object(info.get("total_token_usage"))
    return tuple(count(totals.get(key)) for key in _TOTALS)


# A model takes longer to answer than a copy takes from one record to the next, in seconds.
_INSTANT = 0.2
_MOST_WAITING = 1_000
_MADE_EVENTS = frozenset(
    {"mcp_tool_call_end", "item_completed", "agent_message", "agent_reasoning", "turn_aborted", "error"}
    | {"task_complete", "turn_complete"}
)


class _Fork:
    """Finds the records of a fork that are its own: its rollout begins with a copy of its parent's history.

    Copies are older than the fork, or all of one instant. What a model made in that instant is the parent's,
    as is all before it; what comes behind may be the fork's own first message.
    """

    def __init__(
        self, began: float | None, first: float | None, inherit: Callable[[dict[str, Any]], None]
    ) -> None:
        """`began` is when the fork began, `first` the time of its first line. `inherit` gets each copy."""
        self._began = began
        self._last = began if first is None else first
        self._inherit = inherit
        self._waiting: list[Record] = []
        self._is_head = True

    def own(self, record: Record) -> Sequence[Record]:
        """The records that are the fork's own for certain, now that this one came."""
        kind, payload, at = record
        if at is not None and self._began is not None and at < self._began:
            self._inherit(payload)
            return ()
        if not self._is_head:
            return (record,)
        before, self._last = self._last, at
        is_near = at is not None and (before is None or abs(at - before) <= _INSTANT)
        if not is_near or len(self._waiting) >= _MOST_WAITING:
            return (*self.ended(), record)
        self._waiting.append(record)
        if _is_made(kind, payload):
            for _, copied, _ in self._waiting:
                self._inherit(copied)
            self._waiting.clear()
        return ()

    def ended(self) -> Sequence[Record]:
        """What waited for the end of the copy: it is the fork's own."""
        waiting, self._waiting, self._is_head = self._waiting, [], False
        return waiting


def _is_made(kind: str, payload: dict[str, Any]) -> bool:
    """Whether there is such a record only once a model has answered."""
    part = text(payload.get("type"))
    if kind == "event_msg":
        return part in _MADE_EVENTS or (part == "token_count" and bool(payload.get("info")))
    if kind == "response_item":
        is_said = payload.get("role") == "assistant" or part == "reasoning"
        return is_said or part.endswith(("_call", "_output"))
    return kind in ("compacted", "token_usage_record")

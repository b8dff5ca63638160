"""Transcripts of Claude Code: JSON Lines, a record a line; docs/papers/transcripts.md has the sources.

A reply is written in several records, one for each of its blocks, with the same message id and the usage on
each of them. What was resumed or forked begins with a copy of what went before.
"""

import re
from typing import Any

from msgspec.structs import replace

from inspector.core.message import ToolCall, Usage
from inspector.features.agents.transcript import TOTALS, Begun, Compacted, Entry, Searched, Tally
from inspector.features.agents.transcript_file.claude_context import ContextReader, is_by_person
from inspector.features.agents.transcript_file.message import Places, usage_of, wanted
from inspector.features.agents.transcript_file.record_reader import (
    COPY,
    LEFT_OUT,
    NOT_ASKED,
    OpenAnswer,
    agent_tool,
    arguments,
    count,
    items,
    mappings,
    moment,
    number,
    said,
    text,
    texts,
)
from inspector.schema.json_value import as_object

SEARCH = "ToolSearch"
_SERVER_SEARCH = "tool_search_tool"
_SYNTHETIC = "<synthetic>"
_CONVERSATION = frozenset({"user", "assistant", "system", "attachment"})
STATES = LEFT_OUT["claude-code"]["records"]
"""The kinds of records that are not about models and tools."""
_USED: Places = (
    "input_tokens + cache_creation_input_tokens + cache_read_input_tokens",
    *("output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    "output_tokens_details.thinking_tokens",
)
_INTERRUPTED = "[Request interrupted by user"
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_INSERTED = (
    *("<task-notification>", "<command-name>", "<command-message>", "<local-command-stdout>"),
    *("<local-command-stderr>", "<local-command-caveat>", "<bash-input>", "<bash-stdout>"),
    "Caveat: The mess",
)


def _usage_of(record: dict[str, Any]) -> Usage:
    """The usage, with what was read from and written to the cache as a part of the input.

    All zeros is what some versions write where they do not know it.
    """
    used = usage_of(record, _USED)
    if not any((used.input_tokens, used.output_tokens, used.cached_tokens, used.written_tokens)):
        return Usage()
    hour = count(as_object(record.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    return replace(used, written_hour_tokens=hour)


def _call_of(block: dict[str, Any]) -> ToolCall:
    """The call in a block; a tool of the API's MCP connector gets the name that Claude Code gives it."""
    given, error = arguments(block.get("input"))
    name, server = text(block.get("name")), text(block.get("server_name"))
    return ToolCall(text(block.get("id")), f"mcp__{server}__{name}" if server else name, given, error)


def _is_search(call: ToolCall | None, block: dict[str, Any], details: dict[str, Any]) -> bool:
    """Whether a result is that of a search for tools; its call may be missing."""
    if call is None:
        return block.get("type") == "tool_search_tool_result" or "total_deferred_tools" in details
    is_own = not agent_tool(call.name).server
    return is_own and (call.name == SEARCH or call.name.startswith(_SERVER_SEARCH))


def _references(content: object) -> tuple[str, ...]:
    """The names of the tools that a result refers to, in its order."""
    found = as_object(content).get("tool_references", content)
    named = (block for block in mappings(found) if block.get("type") == "tool_reference")
    return tuple(name for block in named if (name := text(block.get("tool_name"))))


def _error(content: object) -> str:
    told = as_object(content)
    return text(told.get("error_message")) or text(told.get("error_code")) or said(content)


class ClaudeCodeReader(ContextReader):
    """Reads the records of a session or of a sub-agent, whichever the first one belongs to."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._paid: set[str] = set()
        self._compacted: Compacted | None = None
        self._of_sidechain: bool | None = None
        self._dollars = 0.0

    def take(self, record: dict[str, Any]) -> None:
        kind = text(record.get("type"))
        if kind.startswith("api-request"):
            self._request(kind, record)
        elif kind == "cost-state":
            self._reckoned(number(record.get("totalCostUSD")))
        elif kind in STATES or kind.startswith("artifact-"):
            self.tally.leave_out(kind)
        elif kind not in _CONVERSATION:
            self.tally.count_unknown(kind)
        elif self._is_own(record):
            at = moment(record.get("timestamp"), self.tally)
            self._session(record, at)
            if kind == "assistant":
                self._tell_compaction()
                self._assistant(record, at)
            else:
                self._between_answers(kind, record, at)

    def _reckoned(self, dollars: float | None) -> None:
        """Add what the client reckons that the session has cost since it said so last."""
        if self._begun is not None and dollars is not None and dollars > self._dollars:
            cost, self._dollars = dollars - self._dollars, dollars
            self._open(OpenAnswer(f"cost {dollars}", finish_reason=TOTALS, dollars=cost))
            self._close()

    def finish(self) -> list[Entry]:
        self._close()
        self._tell_compaction()
        return super().finish()

    def _is_own(self, record: dict[str, Any]) -> bool:
        """Whether the record belongs to this conversation and was not read before."""
        sidechain = record.get("isSidechain") is True
        if self._of_sidechain is None:
            self._of_sidechain = sidechain
        if not self._is_first("uuid", text(record.get("uuid"))):
            return False
        if sidechain and not self._of_sidechain:
            self.tally.leave_out("sidechain")
            return False
        return True

    def _session(self, record: dict[str, Any], at: float | None) -> None:
        """Begin the session that the record belongs to; a fork's file holds its parent's records, too."""
        session, agent = text(record.get("sessionId")), text(record.get("agentId"))
        own, parent = (agent or session, session) if self._of_sidechain else (session, "")
        begun = self._begun
        if begun is not None and (not session or (begun.session, begun.parent) == (own, parent)):
            return
        self._close()
        self._tell_compaction()
        version, folder = text(record.get("version")), text(record.get("cwd"))
        self._begin(Begun("claude-code", own, version, folder, parent=parent, at=at))

    def _between_answers(self, kind: str, record: dict[str, Any], at: float | None) -> None:
        # A reply that is still streamed has no stop reason yet; results of its first calls may come already.
        if self._answer is not None and self._answer.finish_reason:
            self._close()
        if record.get("isCompactSummary") is True:
            self._close()
            summary = said(as_object(record.get("message")).get("content"))
            self._compacted = replace(self._compacted or Compacted(at=at), text=summary)
            self._tell_compaction()
        elif kind == "attachment":
            self._attachment(as_object(record.get("attachment")), at)
        else:
            self._tell_compaction()
            self._user(record, at) if kind == "user" else self._system(record, at)

    def _user(self, record: dict[str, Any], at: float | None) -> None:
        content = as_object(record.get("message")).get("content")
        words = [content] if isinstance(content, str) else []
        for block in mappings(content):
            kind = text(block.get("type"))
            if kind == "tool_result":
                self._result(block, as_object(record.get("toolUseResult")), at)
            elif kind == "text":
                words.append(text(block.get("text")))
            elif kind in ("image", "document"):
                self.tally.leave_out(kind)
            else:
                self.tally.count_unknown(f"block {kind}")
        if words:
            self._said_by_user("\n".join(words), record, at)
        elif not isinstance(content, list):
            self.tally.count_malformed("a message without content")

    def _said_by_user(self, words: str, record: dict[str, Any], at: float | None) -> None:
        words = _REMINDER.sub("", words).strip()
        if words.startswith(_INTERRUPTED):
            self._interrupt(words, at, by_user=True)
        elif record.get("isMeta") is True or words.startswith(_INSERTED) or not is_by_person(record):
            self.tally.leave_out(NOT_ASKED)
        elif words:
            self._ask(words, at)

    def _system(self, record: dict[str, Any], at: float | None) -> None:
        kind = text(record.get("subtype"))
        if kind != "compact_boundary":
            self.tally.leave_out(f"system {kind}")
            return
        self._close()
        told = as_object(record.get("compactMetadata"))
        before, after = count(told.get("preTokens")), count(told.get("postTokens"))
        self._compacted = Compacted("", before, after, at)

    def _tell_compaction(self) -> None:
        compacted, self._compacted = self._compacted, None
        if compacted is not None:
            self._add(compacted)

    def _assistant(self, record: dict[str, Any], at: float | None) -> None:
        """Add a record of an answer. Each answer is paid once, in however many pieces it is written."""
        message = as_object(record.get("message"))
        if not message:
            self.tally.count_malformed("an answer without a message")
        elif record.get("isApiErrorMessage") is True:
            self._interrupt(said(message.get("content")) or text(record.get("error")), at)
        elif message.get("model") == _SYNTHETIC:
            self.tally.leave_out("synthetic answer")
        else:
            key = text(message.get("id")) or text(record.get("requestId")) or text(record.get("uuid"))
            self._bind(text(record.get("requestRef")), at)
            answer = self._part_of(key, text(message.get("model")), at)
            self._piece(answer, message, at)
            if key in self._paid and not (answer.texts or answer.calls):
                self._answer = None
                self._close()
                self.tally.leave_out(COPY)

    def _piece(self, answer: OpenAnswer, message: dict[str, Any], at: float | None) -> None:
        usage = _usage_of(as_object(message.get("usage")))
        if (usage.output_tokens or 0) >= (answer.usage.output_tokens or 0) and usage != Usage():
            answer.usage = usage
        answer.finish_reason = text(message.get("stop_reason")) or answer.finish_reason
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        for block in blocks:
            if isinstance(block, dict):
                self._block(answer, block, at)
            else:
                self.tally.count_malformed("a block that is not an object")

    def _block(self, answer: OpenAnswer, block: dict[str, Any], at: float | None) -> None:
        kind = text(block.get("type"))
        if kind == "text":
            words = text(block.get("text"))
            if self._is_new("text", answer.id, words):
                answer.say(words)
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            call = _call_of(block)
            if self._is_new("call", call.id):
                self._call(call)
        elif kind.endswith("tool_result"):
            self._result(block, {}, at)
        elif kind in ("thinking", "redacted_thinking"):
            self.tally.leave_out(kind)
        else:
            self.tally.count_unknown(f"block {kind}")

    def _close(self) -> None:
        """Finish the open answer; of one that was told before, as in a copy, the usage was paid then."""
        if (answer := self._answer) is not None and answer.usage != Usage():
            if answer.id in self._paid:
                answer.usage = Usage()
            self._paid.add(answer.id)
        super()._close()

    def _result(self, block: dict[str, Any], details: dict[str, Any], at: float | None) -> None:
        """Add what came back from a call, once; `details` is what the record says of it beside the block."""
        call_id = text(block.get("tool_use_id"))
        if not self._is_new("result", call_id):
            self.tally.leave_out(COPY)
            return
        content = block.get("content")
        call = self._calls.get(call_id)
        failed = block.get("is_error") is True or text(as_object(content).get("type")).endswith("_error")
        if not _is_search(call, block, details):
            self._returned(call_id, said(content), ok=not failed, at=at)
            return
        self._calls.pop(call_id, None)
        query, names, limit = wanted({**details, **(call.arguments if call else {})})
        found = dict.fromkeys(_references(content) or texts(details.get("matches")))
        waiting, error = count(details.get("total_deferred_tools")), _error(content) if failed else ""
        tools = tuple(map(self._tool, found))
        self._add(Searched(call_id, query, names, tools, limit, waiting, error, at))

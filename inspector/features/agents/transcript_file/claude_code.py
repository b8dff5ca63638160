"""Transcripts of Claude Code: JSON Lines, a record a line; docs/papers/transcripts.md has the sources.

A reply is written in several records, one for each of its blocks, with the same message id and the usage on
each of them. What was resumed or forked begins with a copy of what went before.
"""

import re
from dataclasses import astuple, replace
from typing import Any

from inspector.core.message import ToolCall, Usage
from inspector.features.agents.transcript import Asked, Begun, Compacted, Entry, Interrupted, Searched, Tally
from inspector.features.agents.transcript_file.claude_attachment import Attachments
from inspector.features.agents.transcript_file.field import (
    agent_tool,
    arguments,
    count,
    items,
    mappings,
    moment,
    said,
    text,
    texts,
)
from inspector.features.agents.transcript_file.flow import COPY, Answer, Flow, FlowReader, PartReader
from inspector.schema.json_value import as_object

SEARCH = "ToolSearch"
_SERVER_SEARCH = "tool_search_tool"
_SELECT = "select:"


def usage_of(record: dict[str, Any]) -> Usage:
    """The usage, with what was read from and written to the cache as a part of the input.

    All zeros is what some versions write where they do not know it.
    """
    fresh, output = count(record.get("input_tokens")), count(record.get("output_tokens"))
    cached = count(record.get("cache_read_input_tokens"))
    written = count(record.get("cache_creation_input_tokens"))
    hour = count(as_object(record.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    if not any((fresh, output, cached, written)):
        return Usage()
    total = None if fresh is None else fresh + (cached or 0) + (written or 0)
    thought = count(as_object(record.get("output_tokens_details")).get("thinking_tokens"))
    return Usage(total, output, cached, written, hour, thought)


def call_of(block: dict[str, Any]) -> ToolCall:
    """The call in a block; a tool of the API's MCP connector gets the name that Claude Code gives it."""
    given, error = arguments(block.get("input"))
    name, server = text(block.get("name")), text(block.get("server_name"))
    return ToolCall(text(block.get("id")), f"mcp__{server}__{name}" if server else name, given, error)


def is_search(call: ToolCall | None, block: dict[str, Any], details: dict[str, Any]) -> bool:
    """Whether a result is that of a search for tools; its call may be missing."""
    if call is not None and not agent_tool(call.name).server:
        return call.name == SEARCH or call.name.startswith(_SERVER_SEARCH)
    if call is not None:
        return False
    return block.get("type") == "tool_search_tool_result" or "total_deferred_tools" in details


def wanted(call: ToolCall | None, details: dict[str, Any]) -> tuple[str, tuple[str, ...], int | None]:
    """The query of a search, or the names that were asked for; and how many tools at most."""
    given = call.arguments if call else {}
    query = text(given.get("query")) or text(given.get("pattern")) or text(details.get("query"))
    limit = count(given.get("max_results", given.get("limit")))
    if query.startswith(_SELECT):
        names = (name.strip() for name in query.removeprefix(_SELECT).split(","))
        return "", tuple(name for name in names if name), limit
    return query, (), limit


def references(content: object) -> tuple[str, ...]:
    """The names of the tools that a result refers to, in its order."""
    found = as_object(content).get("tool_references", content)
    named = (block for block in mappings(found) if block.get("type") == "tool_reference")
    return tuple(name for block in named if (name := text(block.get("tool_name"))))


# Results of calls in Claude's messages: of tools, and of searches for tools.


class Results(PartReader):
    """Adds results to a flow, each once."""

    def __init__(self, flow: Flow, attachments: Attachments) -> None:
        super().__init__(flow)
        self._attachments = attachments

    def read(self, block: dict[str, Any], details: dict[str, Any], at: float | None) -> None:
        """Add what came back from a call; `details` is what the record says of it beside the block."""
        call_id = text(block.get("tool_use_id"))
        if not self._seen.add("result", call_id):
            self._tally.leave_out(COPY)
            return
        content = block.get("content")
        call = self._flow.calls.get(call_id)
        failed = block.get("is_error") is True or text(as_object(content).get("type")).endswith("_error")
        if not is_search(call, block, details):
            self._flow.returned(call_id, said(content), ok=not failed, at=at)
            return
        self._flow.calls.pop(call_id, None)
        query, names, limit = wanted(call, details)
        found = references(content) or texts(details.get("matches"))
        self._flow.add(
            Searched(
                call_id,
                query,
                names,
                tuple(self._attachments.tool(name) for name in dict.fromkeys(found)),
                limit,
                count(details.get("total_deferred_tools")),
                _error(content) if failed else "",
                at,
            )
        )


def _error(content: object) -> str:
    told = as_object(content)
    return text(told.get("error_message")) or text(told.get("error_code")) or said(content)


# Answers of Claude, put together from the records in which they were written.

_SYNTHETIC = "<synthetic>"


class Answers(PartReader):
    """Adds answers to a flow. Each is paid once, however often and in how many pieces it is written."""

    def __init__(self, flow: Flow, results: Results) -> None:
        super().__init__(flow)
        self._results = results
        self._told: dict[str, Usage] = {}

    def read(self, record: dict[str, Any], at: float | None) -> None:
        """Add a record of an answer."""
        message = as_object(record.get("message"))
        if not message:
            self._tally.count_malformed("an answer without a message")
            return
        if record.get("isApiErrorMessage") is True:
            self.close()
            self._flow.add(Interrupted(said(message.get("content")) or text(record.get("error")), at=at))
            return
        if message.get("model") == _SYNTHETIC:
            self._tally.leave_out("synthetic answer")
            return
        key = text(message.get("id")) or text(record.get("requestId")) or text(record.get("uuid"))
        answer = self._flow.answer
        if answer is None or answer.id != key:
            self.close()
            answer = Answer(key, text(message.get("model")), at)
            self._flow.open(answer)
        self._piece(answer, message, at)
        is_told = key in self._told and self._unpaid(answer) == Usage()
        if is_told and not (answer.texts or answer.calls):
            self._flow.answer = None
            self._flow.close()
            self._tally.leave_out(COPY)

    def _piece(self, answer: Answer, message: dict[str, Any], at: float | None) -> None:
        usage = usage_of(as_object(message.get("usage")))
        if (usage.output_tokens or 0) >= (answer.usage.output_tokens or 0) and usage != Usage():
            answer.usage = usage
        answer.finish_reason = text(message.get("stop_reason")) or answer.finish_reason
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        for block in blocks:
            if isinstance(block, dict):
                self._block(answer, block, at)
            else:
                self._tally.count_malformed("a block that is not an object")

    def _block(self, answer: Answer, block: dict[str, Any], at: float | None) -> None:
        kind = text(block.get("type"))
        if kind == "text":
            words = text(block.get("text"))
            if self._seen.add("text", answer.id, words):
                answer.say(words)
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            call = call_of(block)
            if self._seen.add("call", call.id):
                self._flow.call(call)
        elif kind.endswith("tool_result"):
            self._results.read(block, {}, at)
        elif kind in ("thinking", "redacted_thinking"):
            self._tally.leave_out(kind)
        else:
            self._tally.count_unknown(f"block {kind}")

    def close(self) -> None:
        """Finish the open answer. One reported in part adds the rest, and costs the rest."""
        answer = self._flow.answer
        if answer is None:
            return
        usage = answer.usage
        answer.usage = self._unpaid(answer)
        if usage != Usage():
            self._told[answer.id] = usage
        else:
            self._told.setdefault(answer.id, usage)
        self._flow.close()

    def _unpaid(self, answer: Answer) -> Usage:
        before = self._told.get(answer.id, Usage())
        if before == Usage():
            return answer.usage
        counts = zip(astuple(answer.usage), astuple(before), strict=True)
        more = [max(0, (new or 0) - (old or 0)) for new, old in counts]
        return Usage(*more) if any(more) else Usage()


CONVERSATION = frozenset({"user", "assistant", "system", "attachment"})
STATES = frozenset(
    {"summary", "progress", "last-prompt", "ai-title", "custom-title", "mode", "permission-mode"}
    | {"queue-operation", "file-history-snapshot", "file-history-delta", "bridge-session", "pr-link"}
    | {"agent-name", "agent-color", "atis-latch", "worktree-state", "relocated", "frame-link", "cost-state"}
    | {"fork-context-ref"}
)
_INTERRUPTED = "[Request interrupted by user"
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_NOT_ASKED = (
    *("<task-notification>", "<command-name>", "<command-message>", "<local-command-stdout>"),
    *(
        "<local-command-stderr>",
        "<local-command-caveat>",
        "<bash-input>",
        "<bash-stdout>",
        "Caveat: The mess",
    ),
)


class ClaudeCodeReader(FlowReader):
    """Reads the records of a session or of a sub-agent, whichever the first one belongs to."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._attachments = Attachments(self._flow)
        self._results = Results(self._flow, self._attachments)
        self._answers = Answers(self._flow, self._results)
        self._compacted: Compacted | None = None
        self._of_sidechain: bool | None = None

    def read(self, record: dict[str, Any]) -> list[Entry]:
        """The entries that are finished with this record."""
        kind = text(record.get("type"))
        if kind not in CONVERSATION:
            self._pass_over(kind)
        elif self._is_own(record):
            at = moment(record.get("timestamp"), self._tally)
            self._begin(record, at)
            if kind == "assistant":
                self._tell_compaction()
                self._answers.read(record, at)
            else:
                self._between_answers(kind, record, at)
        return self._flow.take()

    def finish(self) -> list[Entry]:
        """The entries that waited for more; a piece of the last answer that comes later is one by itself."""
        self._answers.close()
        self._tell_compaction()
        return self._flow.finish()

    def _pass_over(self, kind: str) -> None:
        if kind in STATES or kind.startswith("artifact-"):
            self._tally.leave_out(kind)
        else:
            self._tally.count_unknown(kind)

    def _is_own(self, record: dict[str, Any]) -> bool:
        """Whether the record belongs to this conversation and was not read before."""
        sidechain = record.get("isSidechain") is True
        if self._of_sidechain is None:
            self._of_sidechain = sidechain
        if not self._is_first("uuid", text(record.get("uuid"))):
            return False
        if sidechain and not self._of_sidechain:
            self._tally.leave_out("sidechain")
            return False
        return True

    def _begin(self, record: dict[str, Any], at: float | None) -> None:
        """Begin the session that the record belongs to; a fork's file holds its parent's records, too."""
        session, agent = text(record.get("sessionId")), text(record.get("agentId"))
        of_agent = bool(self._of_sidechain)
        own, parent = (agent if of_agent and agent else session), (session if of_agent else "")
        begun = self._flow.begun
        if begun is not None and (not session or (begun.session, begun.parent) == (own, parent)):
            return
        self._answers.close()
        self._tell_compaction()
        self._flow.begin_next(
            Begun(
                "claude-code",
                session=own,
                version=text(record.get("version")),
                folder=text(record.get("cwd")),
                parent=parent,
                at=at,
            )
        )

    def _between_answers(self, kind: str, record: dict[str, Any], at: float | None) -> None:
        answer = self._flow.answer
        # A reply that is still streamed has no stop reason yet; results of its first calls may come already.
        if answer is not None and answer.finish_reason:
            self._answers.close()
        if record.get("isCompactSummary") is True:
            self._summary(said(as_object(record.get("message")).get("content")), at)
            return
        if kind == "attachment":
            self._attachments.read(as_object(record.get("attachment")), at)
            return
        self._tell_compaction()
        if kind == "user":
            self._user(record, at)
        else:
            self._system(record, at)

    def _user(self, record: dict[str, Any], at: float | None) -> None:
        message = as_object(record.get("message"))
        content = message.get("content")
        words = [content] if isinstance(content, str) else []
        details = record.get("toolUseResult")
        for block in mappings(content):
            kind = text(block.get("type"))
            if kind == "tool_result":
                self._results.read(block, as_object(details), at)
            elif kind == "text":
                words.append(text(block.get("text")))
            elif kind in ("image", "document"):
                self._tally.leave_out(kind)
            else:
                self._tally.count_unknown(f"block {kind}")
        if words:
            self._said_by_user("\n".join(words), record, at)
        elif not isinstance(content, list):
            self._tally.count_malformed("a message without content")

    def _said_by_user(self, words: str, record: dict[str, Any], at: float | None) -> None:
        words = _REMINDER.sub("", words).strip()
        if words.startswith(_INTERRUPTED):
            self._answers.close()
            self._flow.add(Interrupted(words, by_user=True, at=at))
        elif record.get("isMeta") is True or words.startswith(_NOT_ASKED) or not _by_human(record):
            self._tally.leave_out("not written by the user")
        elif words:
            self._answers.close()
            self._flow.add(Asked(words, at))

    def _system(self, record: dict[str, Any], at: float | None) -> None:
        kind = text(record.get("subtype"))
        if kind != "compact_boundary":
            self._tally.leave_out(f"system {kind}")
            return
        self._answers.close()
        told = as_object(record.get("compactMetadata"))
        self._compacted = Compacted(
            before=count(told.get("preTokens")),
            after=count(told.get("postTokens")),
            automatic=told.get("trigger") == "auto",
            at=at,
        )

    def _summary(self, summary: str, at: float | None) -> None:
        self._answers.close()
        self._compacted = replace(self._compacted or Compacted(at=at), text=summary)
        self._tell_compaction()

    def _tell_compaction(self) -> None:
        compacted, self._compacted = self._compacted, None
        if compacted is not None:
            self._flow.add(compacted)


def _by_human(record: dict[str, Any]) -> bool:
    return text(as_object(record.get("origin")).get("kind")) in ("", "human")

"""Sessions of Cline CLI, Droid, Continue CLI, fast-agent and gptme: messages with a role and a content.

Cline and Droid have the blocks of Anthropic's API, Continue the calls of OpenAI's chats. Cline, Continue and
fast-agent write one document, Droid and gptme a message a line.
"""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from inspector.core.message import Usage
from inspector.features.agents.transcript import AgentTool, Compacted, Entry
from inspector.features.agents.transcript_file.message import MessageReader, Told, value_at
from inspector.features.agents.transcript_file.record_reader import (
    NOT_ASKED,
    arguments,
    mappings,
    moment,
    number,
    said,
    text,
)
from inspector.schema.json_value import as_object

_INPUT = re.compile(r"</?user_input[^>]*>")


class ClineReader(MessageReader):
    """Reads one session of Cline CLI."""

    AGENT = "cline"
    USED = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "")
    BEFORE = ""
    BESIDE, BODY = "session_id", "messages"
    PER_SECOND = 1000

    def _is_failed(self, block: dict[str, Any]) -> bool:
        return super()._is_failed(block) or '"isError":true' in text(block.get("content"))

    def _asks(self, words: str, at: float | None, *, by_person: bool = True) -> None:
        super()._asks(_INPUT.sub("", words), at, by_person=by_person)

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:  # noqa: ARG002 - has none
        beside, began = self._beside, moment(self._beside.get("started_at"), self.tally)
        folder, model = beside.get("cwd"), beside.get("model")
        version = value_at(record, "origin.version")
        self._start(record.get("sessionId"), began, version=version, folder=folder, model=model)
        for one in mappings(record.get("messages")):
            told = Told(text(value_at(one, "modelInfo.id")), self._usage(one.get("metrics")))
            key, when = text(one.get("id")), self._time(one, "ts")
            self._message(one.get("role"), key, one.get("content"), when, told)
        self._totals(Usage(), dollars=number(value_at(beside, "metadata.totalCost")))


_LOADED = re.compile(r'^(?:L|Already l)oaded \d+ tool\(s\)(?: matching ".*?")?: ([^.\n]+)', re.MULTILINE)


class DroidReader(MessageReader):
    """Reads one session of Droid; the tokens of all of it stand in the settings beside."""

    AGENT = "droid"
    USED = (
        *("inputTokens + cacheReadTokens + cacheCreationTokens", "outputTokens", "cacheReadTokens"),
        *("cacheCreationTokens", "thinkingTokens"),
    )
    BEFORE, BETWEEN = "", "___"
    SEARCH = "ToolSearch"
    BESIDE = "tokenUsage"

    def _found(self, words: str) -> Iterable[AgentTool]:
        return self._named_in(_LOADED, words)

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        if kind == "session_start":
            self._start(record.get("id"), at, folder=record.get("cwd"))
        elif kind == "message":
            one = as_object(record.get("message"))
            told = Told(text(one.get("modelId")), by_person=one.get("visibility") != "llm_only")
            self._message(one.get("role"), text(record.get("id")), one.get("content"), at, told)
        elif kind == "compaction_state":
            self._close()
            self._add(Compacted(text(record.get("summaryText")), at=at))
        else:
            self.tally.count_unknown(kind)

    def finish(self) -> list[Entry]:
        self._totals(self._usage(self._beside.get("tokenUsage")), model=text(self._beside.get("model")))
        return super().finish()


class ContinueReader(MessageReader):
    """Reads one session of Continue CLI. It does not say which server a tool is on: all stand under `mcp`."""

    AGENT = "continue"
    USED = (
        *("prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens"),
        *("prompt_tokens_details.cache_write_tokens", "completion_tokens_details.reasoning_tokens"),
    )
    BODY = "history"
    OWN = frozenset(
        {"Read", "Write", "List", "Bash", "Fetch", "Search", "Checklist", "CheckBackgroundJob", "AskQuestion"}
        | {"Edit", "MultiEdit", "Exit", "Skills", "Status", "Subagent", "Event", "Diff", "UploadArtifact"}
        | {"ReportFailure"}
    )

    def _tool(self, sent: str) -> AgentTool:
        return AgentTool(sent, "" if sent in self.OWN else "mcp", sent)

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:  # noqa: ARG002 - has none
        self._start(record.get("sessionId"), folder=record.get("workspaceDirectory"))
        for place, one in enumerate(mappings(record.get("history"))):
            message = as_object(one.get("message"))
            used, cents = as_object(message.get("usage")), number(value_at(message, "usage.cost_cents"))
            told = Told(text(used.get("model")), self._usage(used), cents / 100 if cents else None)
            self._message(message.get("role"), f"message {place}", said(message.get("content")), None, told)
            for call in mappings(message.get("toolCalls")):
                asked = as_object(call.get("function"))
                self._calls_tool(call.get("id"), asked.get("name"), asked.get("arguments"))
            for state in mappings(one.get("toolCallStates")):
                words = "\n".join(text(part.get("content")) for part in mappings(state.get("output")))
                if "output" in state:
                    self._done(state.get("toolCallId"), words, None, ok=state.get("status") == "done")


class FastAgentReader(MessageReader):
    """Reads the history of one of fast-agent's agents: each agent of a session has its own."""

    AGENT = "fast-agent"
    USED = (
        *("prompt.total", "completion.total", "prompt.cache_read", "prompt.cache_write"),
        "completion.reasoning",
    )
    BEFORE = ""
    BESIDE, BODY = "session_id", "messages"

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:  # noqa: ARG002 - has none
        session, agent = text(self._beside.get("session_id")), text(value_at(self._beside, _ACTIVE))
        own, parent = self.file.removeprefix("history_").removesuffix(".json"), ""
        if agent and own != agent:
            session, parent = f"{session}/{own}", session
        self._start(session, folder=value_at(self._beside, "continuation.cwd"), parent=parent)
        for place, one in enumerate(mappings(record.get("messages"))):
            self._one(f"message {place}", one, self._time(one, self.TIME))

    def _one(self, key: str, one: dict[str, Any], at: float | None) -> None:
        attempts = list(mappings(_channel(one, "fast-agent-usage").get("provider_attempts")))
        used, by_person = attempts[-1] if attempts else {}, one.get("is_template") is not True
        told = Told(text(used.get("model")), self._usage(used), number(used.get("cost_usd")), by_person)
        self._message(one.get("role"), key, one.get("content"), at, told)
        for call_id, call in as_object(one.get("tool_calls")).items():
            self._calls_tool(call_id, value_at(call, "params.name"), value_at(call, "params.arguments"))
        timing = _channel(one, "fast-agent-tool-timing")
        for call_id, result in as_object(one.get("tool_results")).items():
            back, took = as_object(result), number(as_object(timing.get(call_id)).get("timing_ms"))
            ok = back.get("isError") is not True
            self._done(call_id, said(back.get("content", [])), at, ok=ok, took=took)


_ACTIVE = "continuation.active_agent"


def _channel(message: dict[str, Any], name: str) -> dict[str, Any]:
    """What a message carries beside its content: JSON in a text."""
    return dict(arguments(said(as_object(message.get("channels")).get(name, "")))[0])


_CALL = re.compile(r"^@([\w.-]+)\(([^()\s]+)\): ", re.MULTILINE)
_VERSION = re.compile(r"You are gptme v(\S+?),")
_FAILED = "Error executing tool: "


class GptmeReader(MessageReader):
    """Reads one conversation of gptme, whose calls are in the texts."""

    AGENT = "gptme"
    USED = (
        *("input_tokens + cache_read_tokens + cache_creation_tokens", "output_tokens", "cache_read_tokens"),
        *("cache_creation_tokens", "reasoning_tokens"),
    )
    BEFORE, BETWEEN = "", "."
    BODY = "role"

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:  # noqa: ARG002 - has none
        role, words = text(record.get("role")), said(record.get("content"))
        about, key = as_object(record.get("metadata")), f"{at} {hash(words)}"
        if self._begun is None:
            self._start("", at, version=found[1] if (found := _VERSION.match(words)) else "")
        if role == "system" and "tool" in about:
            tool, ok = self._tool(text(about.get("tool"))), not words.startswith(_FAILED)
            self._done(record.get("call_id"), words, at, ok=ok, tool=tool)
        elif role == "system":
            self.tally.leave_out(NOT_ASKED)
        else:
            used, dollars = self._usage(about.get("usage")), number(about.get("cost"))
            by_person, calls = not words.startswith("<system>"), list(_CALL.finditer(words))
            told = Told(text(about.get("model")), used, dollars, by_person)
            shown = words[: calls[0].start()].rstrip() if calls and role == "assistant" else words
            if self._message(role, key, shown, at, told):
                for call in calls:
                    given: object = None
                    with suppress(ValueError, RecursionError):
                        given, _ = json.JSONDecoder().raw_decode(words, call.end())
                    self._calls_tool(call[2], call[1], given)

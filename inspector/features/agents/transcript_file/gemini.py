"""Sessions of Gemini CLI and Qwen Code, whose messages are the Gemini API's: a line each, or one document.

Gemini CLI writes an answer again once its calls have returned. Qwen Code puts the same parts into the frame
that Claude Code's records have.
"""

import re
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from inspector.features.agents.transcript import AgentTool, Compacted, Tally
from inspector.features.agents.transcript_file.message import MessageReader
from inspector.features.agents.transcript_file.record_reader import (
    COPY,
    NOT_ASKED,
    agent_tool,
    arguments,
    count,
    definition_of,
    mappings,
    number,
    said,
    text,
)
from inspector.schema.json_value import as_object

_SHOWN = re.compile(r"(.+) \((.+) MCP Server\)")


class GeminiReader(MessageReader):
    """Reads the messages of one session of Gemini CLI."""

    AGENT = "gemini-cli"
    USED = ("input + tool", "output + thoughts", "cached", "", "thoughts")
    BEFORE, BETWEEN = "mcp_", "_"

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        if "$set" in record:
            self.tally.leave_out("a change")
            for message in mappings(as_object(record["$set"]).get("messages")):
                self.take(message)
        elif "projectHash" in record:
            self._start(record.get("sessionId"), self._time(record, "startTime"))
            for message in mappings(record.get("messages")):
                self.take(message)
        elif "$rewindTo" in record:
            self.tally.leave_out("a rewind")
        elif kind == "gemini":
            self._answered(record, text(record.get("id")), at)
        elif kind != "user":
            self.tally.count_unknown(kind)
        elif self._is_first("message", text(record.get("id"))):
            words = said(record.get("content"))
            returned = any("functionResponse" in part for part in mappings(record.get("content")))
            self._asks(words, at, by_person=not returned and not words.startswith("<session_context>"))

    def _answered(self, message: dict[str, Any], key: str, at: float | None) -> None:
        """An answer, or the same once more: then with its calls, and what they returned."""
        is_open = self._answer is not None and self._answer.id == key
        if is_open or self._is_new("message", key):
            answer = self._part_of(key, text(message.get("model")), at)
            answer.say(said(message.get("content")))
            if "tokens" in message:
                answer.usage = self._usage(message["tokens"])
        else:
            self.tally.leave_out(COPY)
        for call in mappings(message.get("toolCalls")):
            self._tool_call(call)

    def _tool_call(self, call: dict[str, Any]) -> None:
        call_id, sent = text(call.get("id")), text(call.get("name"))
        self._calls_tool(call_id, sent, call.get("args"))
        if "result" not in call:
            return
        shown = _SHOWN.fullmatch(text(call.get("displayName")))
        tool = AgentTool(shown[1], shown[2], sent) if shown else self._tool(sent)
        words = "\n".join(map(_returned, mappings(call.get("result"))))
        at, ok = self._time(call, self.TIME), call.get("status") == "success"
        self._done(call_id, words, at, ok=ok, tool=tool)


def _returned(part: dict[str, Any]) -> str:
    """The text of a result, or of an error, in a part of a message."""
    response = as_object(as_object(part.get("functionResponse")).get("response"))
    return text(response.get("output")) or text(response.get("error")) or said(response.get("content", ""))


_FUNCTION = re.compile(r"<function>(\{.*?\})</function>", re.DOTALL)
_THROUGH = "tool_call"


class QwenReader(MessageReader):
    """Reads the records of one session of Qwen Code."""

    AGENT = "qwen-code"
    USED = (
        *("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", ""),
        "thoughtsTokenCount",
    )
    SEARCH = "tool_search"

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._took: dict[str, float | None] = {}

    def _found(self, words: str) -> Iterable[AgentTool]:
        declared = (arguments(found)[0] for found in _FUNCTION.findall(words))
        return (agent_tool(text(one.get("name")), definition_of(dict(one))) for one in declared if one)

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        message = as_object(record.get("message"))
        if kind not in ("assistant", "tool_result", "user", "system"):
            self.tally.count_unknown(kind)
            return
        if not self._is_first("uuid", text(record.get("uuid"))):
            return
        session, version, folder = (record.get(key) for key in ("sessionId", "version", "cwd"))
        self._start(session, at, version=version, folder=folder)
        if kind == "assistant":
            self._answered(record, message, at)
        elif kind == "tool_result":
            for part in mappings(message.get("parts")):
                self._result(part, as_object(record.get("toolCallResult")), at)
        elif kind == "user":
            by_person = text(record.get("provenance")) in ("", "real_user")
            self._asks(said(message.get("parts")), at, by_person=by_person)
        else:
            self._system(text(record.get("subtype")), as_object(record.get("systemPayload")), at)

    def _answered(self, record: dict[str, Any], message: dict[str, Any], at: float | None) -> None:
        answer = self._part_of(text(record.get("uuid")), text(record.get("model")), at)
        for part in mappings(message.get("parts")):
            call = as_object(part.get("functionCall"))
            if call:
                self._calls_tool(call.get("id"), call.get("name"), call.get("args"))
            elif part.get("thought"):
                self.tally.leave_out("thought")
            else:
                answer.say(text(part.get("text")))
        used = as_object(record.get("usageMetadata"))
        # Whether the answer's count includes reasoning shows in the total alone.
        usage, total = self._usage(used), count(used.get("totalTokenCount"))
        beyond = (total or 0) - (usage.input_tokens or 0)
        is_more = beyond > (usage.output_tokens or 0)
        answer.usage = replace(usage, output_tokens=beyond) if is_more else usage

    def _result(self, part: dict[str, Any], done: dict[str, Any], at: float | None) -> None:
        response = as_object(part.get("functionResponse"))
        if not response:
            self.tally.leave_out(NOT_ASKED)
            return
        call_id = text(response.get("id"))
        call, ok = self._calls.get(call_id), done.get("status") == "success"
        inner = call.arguments if call is not None and call.name == _THROUGH else {}
        tool, given = (
            agent_tool(text(inner.get("name"))) if inner else None,
            as_object(inner.get("arguments")),
        )
        took = self._took.pop(call_id, None)
        self._done(call_id, _returned(part), at, ok=ok, tool=tool, given=given, took=took)

    def _system(self, kind: str, payload: dict[str, Any], at: float | None) -> None:
        event, info = as_object(payload.get("uiEvent")), as_object(payload.get("info"))
        if "tool_call" in text(event.get("event.name")):
            self._took[text(event.get("call_id"))] = number(event.get("duration_ms"))
        if kind == "chat_compression":
            self._close()
            before, after = count(info.get("originalTokenCount")), count(info.get("newTokenCount"))
            self._add(Compacted("", before, after, at))
        else:
            self.tally.leave_out(f"system {kind}")

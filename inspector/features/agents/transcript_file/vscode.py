"""Chats that VS Code exports, and those that it stores: one JSON object with a list of requests.

A request is what the user wrote and all that came of it. Its rounds are the model's calls, where the
extension that answered wrote them; without rounds, all is one answer. Tokens are seldom part of it.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.message import ToolCall
from inspector.features.agents.transcript import AgentTool, Asked, Called, Interrupted, ServerAnnounced
from inspector.features.agents.transcript_file.message import MessageReader
from inspector.features.agents.transcript_file.record_reader import (
    LEFT_OUT,
    OpenAnswer,
    arguments,
    count,
    items,
    mappings,
    said,
    server_name,
    text,
)
from inspector.schema.json_value import as_object

_NOT_READ = LEFT_OUT["vscode"]["parts"]
_DENIED, _SKIPPED, _CANCELLED = 0, 5, 2


class _Round(Struct, frozen=True):
    """A model's call: what it said, and the tools that it called with what came back."""

    id: str
    text: str
    done: tuple[Called, ...]
    at: float | None


class VSCodeReader(MessageReader):
    """Reads chats; each record is one."""

    AGENT = "vscode"
    USED = ("promptTokens", "completionTokens", "", "", "")
    TIME = "creationDate"
    PER_SECOND = 1000

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:  # noqa: ARG002 - has none
        requests = record.get("requests")
        if not isinstance(requests, list):
            self.tally.count_unknown("no chat")
            return
        self._start(record.get("sessionId"), at)
        for request in requests:
            if isinstance(request, dict):
                self._request(request)
            else:
                self.tally.count_malformed("a request that is not an object")

    def _request(self, request: dict[str, Any]) -> None:
        request_id = text(request.get("requestId"))
        if not self._is_first(request_id):
            return
        at = self._time(request, "timestamp")
        message = request.get("message")
        words = text(message) or text(as_object(message).get("text")) or said(as_object(message).get("parts"))
        if words.strip():
            self._add(Asked(words, at))
        result = as_object(request.get("result"))
        shown, invoked = self._parts(request.get("response"), at)
        answer_id = text(request.get("responseId")) or request_id
        rounds = self._rounds(as_object(result.get("metadata")), invoked, at)
        left = tuple(called for called in invoked.values() if not any(called in one.done for one in rounds))
        for one in rounds:
            shown = shown.replace(one.text, "", 1)
        # What the rounds do not have was shown; without rounds that is all there is.
        if left or not rounds or (rounds[-1].done and shown.strip()):
            rounds.append(_Round(answer_id, shown.strip(), left, at))
        for one in rounds:
            self._answered(one, answer_id, text(request.get("modelId")))
        if self._answer is not None:
            self._answer.usage = self._usage(result.get("usage"))
        self._close()
        self._ended(request, as_object(result.get("errorDetails")), at)

    def _rounds(self, metadata: dict[str, Any], invoked: dict[str, Called], at: float | None) -> list[_Round]:
        """The model's calls as the answering extension keeps them."""
        results = as_object(metadata.get("toolCallResults"))
        rounds = []
        for one in mappings(metadata.get("toolCallRounds")):
            done = tuple(_call(call, invoked, results, at) for call in mappings(one.get("toolCalls")))
            began = self._time(one, "timestamp")
            when = at if began is None else began
            rounds.append(_Round(text(one.get("id")), said(one.get("response")), done, when))
        return rounds

    def _answered(self, one: _Round, answer_id: str, model: str) -> None:
        answer = OpenAnswer(one.id or answer_id, model, one.at)
        self._open(answer)
        answer.say(one.text)
        for called in one.done:
            answer.calls[called.call_id] = ToolCall(called.call_id, called.tool.sent, called.arguments)
            self._add(called)

    def _ended(self, request: dict[str, Any], error: dict[str, Any], at: float | None) -> None:
        state = as_object(request.get("modelState")).get("value")
        if request.get("isCanceled") is True or state == _CANCELLED:
            self._add(Interrupted(text(error.get("message")) or "cancelled", by_user=True, at=at))
        elif error:
            self._add(Interrupted(text(error.get("message")) or text(error.get("code")), at=at))

    def _parts(self, response: object, at: float | None) -> tuple[str, dict[str, Called]]:
        """What was shown of the answer, and the tools that were called."""
        shown: list[str] = []
        invoked: dict[str, Called] = {}
        for part in items(response):
            found = as_object(part)
            kind = text(found.get("kind"))
            if kind in ("", "markdownContent"):
                shown.append(said(found.get("content", found)))
            elif kind == "toolInvocationSerialized":
                called = self._invocation(found, at)
                invoked[called.call_id] = called
            elif kind in _NOT_READ:
                self.tally.leave_out(kind)
            else:
                self.tally.count_unknown(f"part {kind}")
        return "".join(shown), invoked

    def _invocation(self, part: dict[str, Any], at: float | None) -> Called:
        source = as_object(part.get("source"))
        server = server_name(text(source.get("label"))) if source.get("type") == "mcp" else ""
        told = text(source.get("instructions"))
        if server and self._is_new("server", server, told):
            self._add(ServerAnnounced(server, told, at))
        sent = text(part.get("toolId"))
        name = sent.removeprefix(f"mcp_{server}_") if server else sent
        details = as_object(part.get("resultDetails"))
        raw = details.get("input", as_object(part.get("toolSpecificData")).get("rawInput"))
        given, _ = arguments(raw)
        refused = _refused(part.get("isConfirmed"))
        ok = not refused and details.get("isError") is not True and part.get("isComplete") is not False
        words = refused or said(details.get("output"))
        return Called(text(part.get("toolCallId")), AgentTool(name, server, sent), given, words, ok, at=at)


def _call(
    call: dict[str, Any], invoked: dict[str, Called], results: dict[str, Any], at: float | None
) -> Called:
    # The id in a round may go on where that of the shown call ends.
    call_id = text(call.get("id"))
    shown = invoked.get(call_id) or invoked.get(call_id.partition("__vscode")[0])
    if shown is not None and (shown.arguments or not call.get("arguments")):
        return shown
    given, _ = arguments(call.get("arguments"))
    words = said(as_object(results.get(call_id)).get("content"))
    if shown is not None:
        invoked[shown.call_id] = replace(shown, arguments=given, text=shown.text or words)
        return invoked[shown.call_id]
    name = text(call.get("name"))
    return Called(call_id, AgentTool(name, "", name), given, words, at=at)


def _refused(confirmed: object) -> str:
    kind = count(as_object(confirmed).get("type"))
    if confirmed is False or kind == _DENIED:
        return "denied"
    return "skipped" if kind == _SKIPPED else ""

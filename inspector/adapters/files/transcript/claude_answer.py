"""Answers of Claude, put together from the records in which they were written."""

from dataclasses import astuple
from typing import Any

from inspector.adapters.files.transcript.claude_message import call_of, usage_of
from inspector.adapters.files.transcript.claude_result import Results
from inspector.adapters.files.transcript.field import items, mapping, said, text
from inspector.adapters.files.transcript.flow import Answer, Flow, Seen
from inspector.domain.message import Usage
from inspector.domain.transcript import Interrupted, Tally

_SYNTHETIC = "<synthetic>"


class Answers:
    """Adds answers to a flow. Each is paid once, however often and in how many pieces it is written."""

    def __init__(self, flow: Flow, results: Results, seen: Seen, tally: Tally) -> None:
        self._flow = flow
        self._results = results
        self._seen = seen
        self._tally = tally
        self._told: dict[str, Usage] = {}

    def read(self, record: dict[str, Any], at: float | None) -> None:
        """Add a record of an answer."""
        message = mapping(record.get("message"))
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
            self._tally.leave_out("copied history")

    def _piece(self, answer: Answer, message: dict[str, Any], at: float | None) -> None:
        usage = usage_of(mapping(message.get("usage")))
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

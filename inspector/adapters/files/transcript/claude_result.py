"""Results of calls in Claude's messages: of tools, and of searches for tools."""

from typing import Any

from inspector.adapters.files.transcript.claude_attachment import Attachments
from inspector.adapters.files.transcript.claude_message import is_search, references, wanted
from inspector.adapters.files.transcript.field import count, mapping, said, text, texts
from inspector.adapters.files.transcript.flow import Flow, Seen
from inspector.domain.transcript import Searched, Tally


class Results:
    """Adds results to a flow, each once."""

    def __init__(self, flow: Flow, attachments: Attachments, seen: Seen, tally: Tally) -> None:
        self._flow = flow
        self._attachments = attachments
        self._seen = seen
        self._tally = tally

    def read(self, block: dict[str, Any], details: dict[str, Any], at: float | None) -> None:
        """Add what came back from a call; `details` is what the record says of it beside the block."""
        call_id = text(block.get("tool_use_id"))
        if not self._seen.add("result", call_id):
            self._tally.leave_out("copied history")
            return
        content = block.get("content")
        call = self._flow.calls.get(call_id)
        failed = block.get("is_error") is True or text(mapping(content).get("type")).endswith("_error")
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
    told = mapping(content)
    return text(told.get("error_message")) or text(told.get("error_code")) or said(content)

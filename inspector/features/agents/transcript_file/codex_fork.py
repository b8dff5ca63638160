"""Tells what a fork of Codex did from the copy of its parent's history that its rollout begins with."""

from collections.abc import Callable, Sequence
from typing import Any

from inspector.features.agents.transcript_file.field import text

Record = tuple[str, dict[str, Any], float | None]
"""A record's kind, its payload, and its time in seconds since 1970."""

# A model takes longer to answer than a copy takes from one record to the next, in seconds.
_INSTANT = 0.2
_MOST_WAITING = 1_000
_MADE_EVENTS = frozenset(
    {"mcp_tool_call_end", "item_completed", "agent_message", "agent_reasoning", "turn_aborted", "error"}
    | {"task_complete", "turn_complete"}
)


class Fork:
    """Finds the records of a fork that are its own.

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
        if not self._goes_on(at):
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

    def _goes_on(self, at: float | None) -> bool:
        before, self._last = self._last, at
        is_near = at is not None and (before is None or abs(at - before) <= _INSTANT)
        return is_near and len(self._waiting) < _MOST_WAITING


def _is_made(kind: str, payload: dict[str, Any]) -> bool:
    """Whether there is such a record only once a model has answered."""
    part = text(payload.get("type"))
    if kind == "event_msg":
        return part in _MADE_EVENTS or (part == "token_count" and bool(payload.get("info")))
    if kind == "response_item":
        is_said = payload.get("role") == "assistant" or part == "reasoning"
        return is_said or part.endswith(("_call", "_output"))
    return kind in ("compacted", "token_usage_record")

"""The events page: groups of kinds to filter by."""

from collections.abc import Sequence

from inspector.domain.event import Record

GROUPS: tuple[tuple[str, frozenset[str]], ...] = (
    ("all", frozenset()),
    ("searches", frozenset({"search", "redundant", "load"})),
    ("calls", frozenset({"call", "result", "reject", "approval"})),
    ("guards", frozenset({"loop", "redundant", "evict"})),
    ("model", frozenset({"request", "response", "delta", "budget", "model", "user", "end"})),
    ("servers", frozenset({"connecting", "ready", "failed", "stopped", "tools", "catalog"})),
    ("errors", frozenset({"error", "failed", "reject"})),
)


def in_group(records: Sequence[Record], group: str) -> tuple[Record, ...]:
    """The records of a group; streamed pieces of answers only where they were asked for."""
    kinds = dict(GROUPS)[group]
    if not kinds:
        return tuple(record for record in records if record.kind != "delta")
    return tuple(record for record in records if record.kind in kinds)

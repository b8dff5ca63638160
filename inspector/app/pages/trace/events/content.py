"""The events page: groups of kinds to filter by, rows with their number, and how the list goes on."""

from collections.abc import Sequence
from dataclasses import replace

from inspector.app.draw.event_row import feed_row
from inspector.domain.events.event import Record
from widgets import Column, Record as Row

COLUMNS = (
    Column("seq", "#", align="right", weight=6, hide_below=50),
    Column("time", "time", width=8, hide_below=44),
    Column("kind", "kind", width=10),
    Column("what", "what", weight=5, min_width=16),
)
GROUPS: tuple[tuple[str, frozenset[str]], ...] = (
    ("all", frozenset()),
    ("searches", frozenset({"search", "redundant", "load", "refresh"})),
    ("calls", frozenset({"call", "result", "reject", "approval"})),
    (
        "guards",
        frozenset({"loop", "redundant", "evict", "reduce", "count", "reject", "gate", "milestone"}),
    ),
    (
        "model",
        frozenset({"request", "response", "delta", "budget", "reduce", "model", "settings", "user", "end"}),
    ),
    ("servers", frozenset({"connecting", "ready", "failed", "stopped", "tools", "catalog", "index"})),
    ("errors", frozenset({"error", "failed", "reject"})),
)


def in_group(records: Sequence[Record], group: str) -> tuple[Record, ...]:
    """The records of a group; streamed pieces of answers only where they were asked for."""
    kinds = dict(GROUPS)[group]
    if not kinds:
        return tuple(record for record in records if record.kind != "delta")
    return tuple(record for record in records if record.kind in kinds)


def event_row(record: Record) -> Row:
    """An event in one line, its number in the stream first."""
    row = feed_row(record)
    return replace(row, cells=(str(record.seq), *row.cells))


def continued(known: Sequence[Record], feed: Sequence[Record]) -> list[Record] | None:
    """`known` and what the feed has beyond it; None where the feed has a gap and the store must be read."""
    last = known[-1].seq if known else 0
    fresh = [record for record in feed if record.seq > last]
    whole = all(record.seq == last + place for place, record in enumerate(fresh, 1))
    return [*known, *fresh] if whole else None

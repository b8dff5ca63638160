"""The events page: groups of kinds to filter by, rows with their number, and how the list goes on."""

from collections.abc import Sequence
from dataclasses import replace

from inspector.app.draw.event_row import feed_row
from inspector.domain.events import AnswerStreamed, Group, Record
from widgets import Column, Record as Row

COLUMNS = (
    Column("seq", "#", align="right", weight=6, hide_below=50),
    Column("time", "time", width=8, hide_below=44),
    Column("kind", "kind", width=10),
    Column("what", "what", weight=5, min_width=16),
)
ALL = "all"
GROUPS: tuple[str, ...] = (ALL, *Group)


def in_group(records: Sequence[Record], group: str) -> tuple[Record, ...]:
    """The records of a group; streamed pieces of answers only where they were asked for."""
    if group == ALL:
        return tuple(record for record in records if not isinstance(record.event, AnswerStreamed))
    return tuple(record for record in records if group in record.event.groups)


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

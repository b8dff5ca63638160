"""The rows of the events page, its groups, and how the list continues from the feed."""

from collections.abc import Sequence
from dataclasses import replace

from inspector.app.draw.event_row import feed_row
from inspector.domain.events import AnswerStreamed, Event, Failed, Group, Record
from widgets import Column, Record as Row

COLUMNS = (
    Column("seq", "#", align="right", weight=6, hide_below=50),
    Column("time", "time", width=8, hide_below=44),
    Column("kind", "kind", width=10),
    Column("what", "what", weight=5, min_width=16),
)
MAIN = "main"
ALL = "all"
GROUPS: tuple[str, ...] = (MAIN, *Group, ALL)


def in_group(records: Sequence[Record], group: str) -> tuple[Record, ...]:
    """Return the records of a group: MAIN has all but routine, ALL all but pieces of streamed answers."""
    if group == MAIN:
        return tuple(record for record in records if not record.event.is_routine)
    if group == ALL:
        return tuple(record for record in records if not isinstance(record.event, AnswerStreamed))
    return tuple(record for record in records if group in record.event.groups)


def event_row(record: Record) -> Row:
    """Return an event in one line, preceded by its number in the stream."""
    row = feed_row(record)
    return replace(row, cells=(str(record.seq), *row.cells))


def full_text(event: Event) -> str:
    """Return an event as a text to read: of an error all there is, of others one line."""
    if isinstance(event, Failed):
        return "\n\n".join(filter(None, (event.summary(), event.hint, event.raw)))
    return event.summary()


def continued(known: Sequence[Record], feed: Sequence[Record]) -> list[Record] | None:
    """Return `known` with the feed's newer records; None if there is a gap, so the store must be read."""
    last = known[-1].seq if known else 0
    fresh = [record for record in feed if record.seq > last]
    whole = all(record.seq == last + offset for offset, record in enumerate(fresh, 1))
    return [*known, *fresh] if whole else None

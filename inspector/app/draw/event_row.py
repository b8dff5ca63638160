"""The event feed, newest last."""

from textual.content import Content

from inspector.app.draw.identity_cache import IdentityCache
from inspector.core.events import Record as EventRecord
from inspector.core.moment import shown_moment
from widgets import Column, Record

COLUMNS = (
    Column("time", width=8, hide_below=50),
    Column("kind", width=10),
    Column("what", weight=5, min_width=16),
)
_SUMMARY_LIMIT = 500
_ROWS_KEPT = 2_000


def feed_rows(records: tuple[EventRecord, ...]) -> tuple[Record, ...]:
    """Return one row per event that is not routine."""
    return tuple(_kept_row(record) for record in records if not record.event.is_routine)


def feed_row(record: EventRecord) -> Record:
    """Return an event in one line: time, kind, summary."""
    what = record.event.summary()[:_SUMMARY_LIMIT]
    at = Content(shown_moment(record.at, "%H:%M:%S"))
    return Record(str(record.seq), (at, record.kind, what), record.event.tone)


_kept_row = IdentityCache(feed_row, most=_ROWS_KEPT)

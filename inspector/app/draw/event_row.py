"""The event feed, newest last."""

from datetime import UTC, datetime

from textual.content import Content

from inspector.domain.events.event import Record as EventRecord
from inspector.domain.events.text import summary
from widgets import Column, Record, Tone

COLUMNS = (
    Column("time", width=8, hide_below=50),
    Column("kind", width=10),
    Column("what", weight=5, min_width=16),
)
TONES: dict[str, Tone] = {
    "failed": "error",
    "error": "error",
    "reject": "error",
    "evict": "warning",
    "reduce": "warning",
    "loop": "warning",
    "redundant": "warning",
    "load": "success",
    "budget": "muted",
    "request": "muted",
    "connecting": "muted",
}
_SUMMARY_LIMIT = 500


def feed_rows(records: tuple[EventRecord, ...]) -> tuple[Record, ...]:
    """One row an event."""
    return tuple(feed_row(record) for record in records)


def feed_row(record: EventRecord) -> Record:
    """An event in one line: when, what kind, what."""
    at = datetime.fromtimestamp(record.at, UTC)
    tone = TONES.get(record.kind, "")
    what = summary(record.event)[:_SUMMARY_LIMIT]
    return Record(str(record.seq), (Content(f"{at:%H:%M:%S}"), record.kind, what), tone)

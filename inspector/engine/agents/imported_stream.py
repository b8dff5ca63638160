"""Writes an imported session's events to the store: only what is new, and many at a time.

A transcript makes the same events again, so those that the store has are counted and passed over. Only the
newest are compared: an agent may have been writing its answer when they were made, and what stands there now
takes their place.
"""

from inspector.domain.events import Event, Record
from inspector.domain.redaction import Redactor
from inspector.engine.ports import EventStore

_COMPARED = 200
_BATCH, _BATCH_CHARACTERS = 500, 2_000_000


class ImportedStream:
    """One session's events on their way to the store.

    `events` counts those that the transcript made so far, `added` those of them that were new to the store;
    `is_new` says that the store knew nothing of the session.
    """

    def __init__(self, session: str, store: EventStore, redactor: Redactor) -> None:
        self.session = session
        self.events = self.added = 0
        self._store = store
        self._redactor = redactor
        newest = store.read(session, limit=_COMPARED)
        self._stored = newest[-1].seq if newest else 0
        self._known = {record.seq: record.event for record in newest}
        self._known.update({record.seq: record.event for record in store.read(session, kinds=("session",))})
        self.is_new = not newest
        self._batch: list[Record] = []
        self._characters = 0

    def put(self, event: Event, at: float) -> Record | None:
        """Take the next event, and return its record if it is new to the store. Raises StoreError."""
        self.events += 1
        if self._is_old(self.events):
            return None
        record = Record(self.session, self.events, at, self._redactor.event(event))
        if self.events <= self._stored:
            if self._known.get(self.events) == record.event:
                return None
            self._cut(self.events - 1)
        self.added += 1
        self._batch.append(record)
        self._characters += len(getattr(event, "text", ""))
        if len(self._batch) >= _BATCH or self._characters >= _BATCH_CHARACTERS:
            self.flush()
        return record

    def flush(self) -> None:
        """Store what was taken so far. Raises StoreError."""
        self._store.append_all(self._batch)
        self._batch, self._characters = [], 0

    def close(self, *, complete: bool) -> None:
        """Store the rest. Of a `complete` transcript nothing else stays in the store. Raises StoreError."""
        self.flush()
        if complete and self.events < self._stored:
            self._cut(self.events)
        self._store.release(self.session)

    def _is_old(self, seq: int) -> bool:
        """Whether the event is stored, and too far back to have changed. The first is always compared."""
        return 1 < seq <= self._stored - _COMPARED

    def _cut(self, after: int) -> None:
        self._store.cut(self.session, after)
        self._stored, self._known = after, {}

"""Writes an imported session's events to the store: only what is new, and many at a time.

A transcript makes the same events again, so those that the store has are counted and passed over. Only the
newest are compared: an agent may have been writing its answer when they were made, and what stands there now
takes their place. An older copy of a transcript takes nothing away: what replaces events is either more than
they are, or later by times of its own. What other rules made is replaced whole, so it has to be known first
that the transcript is no older copy: it is read twice. A session whose first question is another one than the
stored session's is another session, whatever its id: it is kept beside that.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import takewhile

from inspector.core.error import StoreError
from inspector.core.events import Event, ModelResponded, Record, SessionStarted, UserSaid
from inspector.core.ports import EventStore
from inspector.core.redaction import clean
from inspector.features.agents.agent_session import apart

_COMPARED = 200
_HEAD = 200
_NUMBER_SIZE = 4
_TURN = (UserSaid, ModelResponded)
_BATCH, _BATCH_CHARACTERS = 500, 2_000_000


class ImportedStream:
    """One session's events on their way to the store.

    `events` counts those that the transcript made so far, `added` those of them that were new to the store;
    `is_new` says that the store knew nothing of the session, `is_outdated` that other rules made what it has:
    nothing of it was changed. `is_held` says that another program is writing it, so that nothing is.
    """

    def __init__(self, session: str, store: EventStore, is_anew: Callable[[str], bool]) -> None:
        """`is_anew` says of which sessions the events that other rules made are replaced."""
        self.events = self.added = 0
        self.is_outdated = self.is_held = False
        self._is_anew = is_anew
        self._turns = 0
        self._store = store
        self._batch: list[Record] = []
        self._characters = 0
        # What differs from the store's newest events, until it is certain to take their place.
        self._instead: list[Record] = []
        self._at = 0.0
        self._open(session)
        # The events until the first question, which shows whether the stored session is this one.
        self._head: list[tuple[Event, float]] | None = None if self._question is None else []

    def _open(self, session: str) -> None:
        self.session = session
        newest = self._store.read(session, limit=_COMPARED)
        first = self._store.read(session, kinds=(SessionStarted.kind, UserSaid.kind))
        self._stored, self._stored_at = (newest[-1].seq, newest[-1].at) if newest else (0, 0.0)
        self._known = {record.seq: record.event for record in newest}
        self._known.update({record.seq: record.event for record in first[:1]})
        self._question = next((one.event for one in first if isinstance(one.event, UserSaid)), None)
        self.is_new = not newest

    def put(self, event: Event, at: float) -> list[Record]:
        """Take the next event, and return the records that are new to the store. Raises StoreError."""
        if self._head is None:
            return self._taken(event, at)
        self._head.append((event, at))
        return self._decided() if isinstance(event, UserSaid) or len(self._head) == _HEAD else []

    def _decided(self) -> list[Record]:
        """Take the events that waited for the first question."""
        head, self._head = self._head or [], None
        question = clean(head[-1][0]) if head else None
        if isinstance(question, UserSaid) and question != self._question and self._is_read_alike(head[0][0]):
            self._open(apart(self.session, question.text))
        return [record for event, at in head for record in self._taken(event, at)]

    def _is_read_alike(self, start: Event) -> bool:
        """Whether the stored session was made by the same rules, so that its events compare."""
        stored = self._known.get(1)
        return (
            isinstance(stored, SessionStarted)
            and isinstance(start, SessionStarted)
            and stored.origin is not None
            and start.origin is not None
            and stored.origin.reading == start.origin.reading
        )

    def _taken(self, event: Event, at: float) -> list[Record]:
        self.events += 1
        self._at = max(self._at, at)
        self._turns += isinstance(event, _TURN)
        if self.is_held or self.is_outdated or self._is_old(self.events):
            return []
        record = Record(self.session, self.events, at, clean(event))
        if self.events <= self._stored:
            if not self._instead and _is_same(self._known.get(self.events), record.event):
                return []
            if self.events == 1 and not self._is_anew(self.session):
                self.is_outdated = True
                return []
            self._instead.append(record)
            if self.events == 1:
                # Other rules made it, so that nothing after it compares.
                self._replace()
            return [record]
        self._replace()
        self._add(record)
        return [record]

    def _add(self, record: Record) -> None:
        self.added += 1
        self._batch.append(record)
        self._characters += _size(record.event)
        if len(self._batch) >= _BATCH or self._characters >= _BATCH_CHARACTERS:
            self.flush()

    def _replace(self) -> None:
        """Put what differs in the place of what is stored there, if anything does."""
        if not self._instead:
            return
        instead, self._instead = self._instead, []
        self._cut(instead[0].seq - 1)
        for record in instead:
            self._add(record)

    def flush(self) -> None:
        """Store what was taken so far. Raises StoreError."""
        self._decided()
        batch, self._batch, self._characters = self._batch, [], 0
        try:
            self._store.append_all(batch)
        except StoreError:
            newest = self._store.read(self.session, limit=len(batch) + _COMPARED)
            stored = {record.seq: record.event for record in newest}
            if batch[0].seq not in stored:
                raise
            self._store.append_all(self._missing(batch, stored))

    def _missing(self, batch: list[Record], stored: Mapping[int, Event]) -> list[Record]:
        """What the store lacks of these records, as another program wrote some of them at the same time.

        Both read the same transcript; what the store has in the place of what it lacks goes.
        """
        same = takewhile(lambda record: _is_same(stored.get(record.seq), record.event), batch)
        left = batch[len(list(same)) :]
        self.added -= len(batch) - len(left)
        if left and left[0].seq in stored:
            self._store.cut(self.session, left[0].seq - 1)
        return left

    def close(self, *, complete: bool, timed: bool) -> None:
        """Store the rest. Of a `complete` transcript nothing else stays in the store. Raises StoreError.

        One that ends before what is stored is an older copy, and changes nothing. When it ends is known only
        if it is `timed`; a shorter one without times takes nothing away.
        """
        self._decided()
        is_later = timed and self._at > self._stored_at
        if self.is_held:
            return
        if self.is_outdated:
            self.is_outdated = complete and (is_later or self._turns >= self._stored_turns())
        elif complete and (is_later or self._is_as_long(timed)):
            self._replace()
            if self.events < self._stored:
                self._cut(self.events)
        self.flush()
        self._store.release(self.session)

    def _is_as_long(self, timed: bool) -> bool:
        return self.events >= self._stored and (not timed or self._at >= self._stored_at)

    def _stored_turns(self) -> int:
        """What can be compared with events that other rules made: how much was said."""
        return len(self._store.read(self.session, kinds=[one.kind for one in _TURN]))

    def _is_old(self, seq: int) -> bool:
        """Whether the event is stored, and too far back to have changed. The first is always compared."""
        return 1 < seq <= self._stored - _COMPARED

    def _cut(self, after: int) -> None:
        self._store.cut(self.session, after)
        self._stored, self._known = after, {}


def _size(value: object) -> int:
    """About how many characters a value has in the store."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_size(key) + _size(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    if is_dataclass(value):
        return sum(len(one.name) + _size(getattr(value, one.name)) for one in fields(value))
    return _NUMBER_SIZE


def _is_same(stored: Event | None, event: Event) -> bool:
    """Whether an event is the stored one; that the transcript has another name by now does not matter."""
    if isinstance(stored, SessionStarted) and isinstance(event, SessionStarted):
        named = event.origin and stored.origin and replace(event.origin, file=stored.origin.file)
        event = replace(event, origin=named or event.origin)
    return stored == event

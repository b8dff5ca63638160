"""A running session: stores each event, folds it into the state and passes it to the listeners."""

from collections.abc import Callable

from inspector.domain.events import Event, Record, SessionsForgotten
from inspector.domain.fold import apply
from inspector.domain.redaction import Redactor
from inspector.domain.retention import overdue
from inspector.domain.session import SessionState
from inspector.domain.settings import RecordSettings
from inspector.engine.ports import Clock, EventStore

Listener = Callable[[Record], None]


class Session:
    """Numbers and stores events; listeners see an event only after it is stored."""

    def __init__(self, session_id: str, store: EventStore, clock: Clock, redactor: Redactor) -> None:
        self.id = session_id
        self.state = SessionState()
        self._store = store
        self._clock = clock
        self._redactor = redactor
        self._listeners: list[Listener] = []
        self._seq = 0

    def emit(self, event: Event) -> None:
        """Redact, store and apply an event, then notify. Raises StoreError and changes nothing on failure."""
        record = Record(self.id, self._seq + 1, self._clock.now(), self._redactor.event(event))
        self._store.append(record)
        self._seq = record.seq
        self.state = apply(self.state, record)
        for listener in tuple(self._listeners):
            listener(record)

    def forget_others(self, limits: RecordSettings) -> None:
        """Delete recorded sessions that are too old or too many, never this one. Raises StoreError."""
        count, days = limits.max_sessions, limits.max_days
        if count or days:
            due = overdue(self._store.sessions(), max_count=count, max_days=days, now=self._clock.now())
            gone = tuple(session for session in due if session != self.id)
            if gone:
                self._store.forget(gone)
                self.emit(SessionsForgotten(gone))

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Pass every further record to `listener`; call the returned function to stop."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

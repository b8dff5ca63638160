"""A running session: events go in, and come out stored, folded into the state and told to whoever listens."""

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
    """The one place where events get their number. Nothing is shown before it is stored."""

    def __init__(self, session_id: str, store: EventStore, clock: Clock, redactor: Redactor) -> None:
        self.id = session_id
        self.state = SessionState()
        self._store = store
        self._clock = clock
        self._redactor = redactor
        self._listeners: list[Listener] = []
        self._seq = 0

    def emit(self, event: Event) -> None:
        """Redact, store, apply, tell. Raises StoreError, and then nothing has changed."""
        record = Record(self.id, self._seq + 1, self._clock.now(), self._redactor.event(event))
        self._store.append(record)
        self._seq = record.seq
        self.state = apply(self.state, record)
        for listener in tuple(self._listeners):
            listener(record)

    def forget_others(self, limits: RecordSettings) -> None:
        """Delete recorded sessions that are too old or too many; this one stays. Raises StoreError."""
        count, days = limits.max_sessions, limits.max_days
        if count or days:
            due = overdue(self._store.sessions(), max_count=count, max_days=days, now=self._clock.now())
            gone = tuple(session for session in due if session != self.id)
            if gone:
                self._store.forget(gone)
                self.emit(SessionsForgotten(gone))

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have every further record; call what is returned to stop."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

"""A running session: events go in, and come out stored, folded into the state and told to whoever listens."""

from collections.abc import Callable

from inspector.domain.event import Event, Record
from inspector.domain.redaction import Redactor
from inspector.domain.session import SessionState, apply
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

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have every further record; call what is returned to stop."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

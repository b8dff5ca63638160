"""The stream: stores each event, folds it into the state, passes it on; the settings and model in use."""

from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from inspector.core.events import Event, Record
from inspector.core.fold import apply
from inspector.core.ports import ChatModel, Clock, EventStore
from inspector.core.redaction import Redactor
from inspector.core.session import SessionState
from inspector.core.settings import Settings
from inspector.schema.schema import ModelFeatures

Listener = Callable[[Record], None]


class Session(Struct, eq=False):
    """Numbers and stores events; listeners see an event only after it is stored.

    `listeners` get every record; the list is the caller's, who may change it.
    """

    id: str
    _store: EventStore
    _clock: Clock
    redactor: Redactor
    listeners: Sequence[Listener] = ()
    state: SessionState = SessionState()
    _followers: list[tuple[Listener, Collection[str]]] = []
    _seq: int = 0

    def emit(self, event: Event) -> None:
        """Redact, store and apply an event, then notify. Raises StoreError and changes nothing on failure."""
        record = Record(self.id, self._seq + 1, self._clock.now(), self.redactor.event(event))
        self._store.append(record)
        self._seq = record.seq
        self.state = apply(self.state, record)
        for listener in tuple(self.listeners):
            listener(record)
        for listener, kinds in tuple(self._followers):
            if not kinds or event.kind in kinds:
                listener(record)

    def subscribe(self, listener: Listener, kinds: Collection[str] = ()) -> None:
        """Pass every further record to `listener`, or those of some kinds."""
        self._followers.append((listener, kinds))


# Code that depends on them holds the object, not its parts, and reads the parts when it uses them.


class LiveSettings(Struct):
    """The current settings."""

    settings: Settings


class LiveModel(LiveSettings):
    """The current settings and model."""

    model: ChatModel

    @property
    def window(self) -> int:
        """The model's context window in tokens."""
        return self.model.window

    @property
    def features(self) -> ModelFeatures:
        """What the model's provider takes beyond a plain request."""
        return self.model.features

"""What is recorded of a session, and of all others as far as may be seen in this one."""

from collections.abc import Callable, Iterable, Sequence

from inspector.access.reach import is_of, own_sessions
from inspector.access.restriction import AccessControl
from inspector.config.configuration import Configuration
from inspector.core.access import AccessPolicy, Sight
from inspector.core.events import Record, SessionStarted
from inspector.core.ports import SessionSummary
from inspector.core.session import SessionState
from inspector.core.settings import AccessSettings
from inspector.core.stream import Listener, Session
from inspector.session.assembly import Ports, redactor_of


class RecordedSession:
    """A session's stream, what the store has, and who may see it."""

    def __init__(
        self, configuration: Configuration, ports: Ports, access: AccessSettings, session_id: str
    ) -> None:
        # Whoever sees the session: what is consented to, and no page shows.
        self.ports, self.whole_configuration = ports, configuration
        self.access = AccessControl(access, self._servers_for, ports.policy_from)
        self._listeners: list[Listener] = []
        self._past_sessions: list[str] = []
        self._open_session(session_id)

    def _open_session(self, session_id: str) -> None:
        """Begin a stream; what still works for the one before it goes on writing there, unheard."""
        redactor = redactor_of(self.whole_configuration, self.access.sight)
        self._session = Session(session_id, self.ports.store, self.ports.clock, redactor, self._listeners)

    def _servers_for(self, sight: Sight) -> frozenset[str] | None:
        stored = self.ports.stored_tools
        return None if stored is None else stored.servers(sight, self.whole_configuration)

    @property
    def session_id(self) -> str:
        return self._session.id

    @property
    def state(self) -> SessionState:
        return self._session.state

    @property
    def sight(self) -> Sight:
        return self.access.sight

    @property
    def access_policy(self) -> AccessPolicy | None:
        return self.access.policy if self.access.is_administrator else None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Pass every further record to `listener`, on the event loop; what is returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def records(self, kinds: Sequence[str] = ()) -> list[Record]:
        """This session's stream so far, from the store."""
        return self.ports.store.read(self.session_id, kinds=kinds)

    def between(self, after: int, until: int) -> Sequence[Record]:
        """Those of them with a number above the first and up to the second one."""
        return self.ports.store.between(self.session_id, after, until)

    def recorded_sessions(self) -> list[SessionSummary]:
        """The sessions in the store, newest first. Raises StoreError.

        To a user whose sight is restricted, those that were recorded of that user, with the same expert.
        """
        found, sight = self.ports.store.sessions(), self.access.sight
        return found if sight.is_whole else own_sessions(found, sight, self.session_id)

    def recorded(self, session: str, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        """The stream of a session in the store, or the newest of these kinds. Raises StoreError."""
        return self.ports.store.read(session, kinds=kinds, limit=limit) if self._is_seen(session) else []

    def recorded_stream(self, session_id: str, kinds: Sequence[str]) -> Iterable[Record]:
        """Those of these kinds, read in parts; searches lack the parts of their scores. Raises StoreError."""
        return self.ports.store.stream(session_id, kinds, outline=True) if self._is_seen(session_id) else ()

    def recorded_between(self, session_id: str, after: int, until: int) -> list[Record]:
        """Those with a number above the first and up to the second one. Raises StoreError."""
        return self.ports.store.between(session_id, after, until) if self._is_seen(session_id) else []

    def is_recorded_elsewhere(self, session_id: str) -> bool:
        """Whether another program, such as a tap, is recording the session. Raises StoreError."""
        return self._is_seen(session_id) and self.ports.store.is_written(session_id)

    def _is_seen(self, session_id: str) -> bool:
        is_open = session_id == self.session_id or self.access.sight.is_whole
        started = (SessionStarted.kind,)
        return is_open or is_of(self.ports.store.read(session_id, kinds=started), self.access.sight)

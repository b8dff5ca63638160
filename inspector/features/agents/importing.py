"""Imports transcripts: their entries become sessions in the store."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from inspector.core.events import Event, Record
from inspector.core.ports import EventStore, TokenCounter
from inspector.features.agents.agent_session import UNKNOWN_AGENT, AgentSession, entry_key, session_id
from inspector.features.agents.imported_stream import ImportedStream
from inspector.features.agents.transcript import Begun, Entry, Tally

# What imports need of a transcript; the readers of files implement it.


class Transcript(Protocol):
    """What a real agent wrote while it worked, in a file of its own that nothing changes."""

    @property
    def tally(self) -> Tally:
        """How much was read so far, and what of it was not understood."""
        ...

    def entries(self, progress: Callable[[int, int], None], stopped: Callable[[], bool]) -> Iterator[Entry]:
        """What the transcript says, in its order, without holding all of it.

        `progress` gets the bytes read so far and all there are. Ends early once `stopped`. Raises
        ConfigError if the file cannot be read.
        """


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A session of a transcript: all its events, and how many of them the store did not have."""

    id: str
    agent: str
    events: int
    added: int
    is_new: bool


@dataclass(slots=True)
class Imported:
    """What imports did; a session that several transcripts tell of is counted once for each.

    `outdated` are stored sessions that other rules made, and that this reading of the transcript left as they
    were, though it is no older copy. `held` are those that another program is writing: they are left to it.
    """

    sessions: list[ImportedSession] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    is_complete: bool = True
    outdated: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)

    def renew(self, again: "Imported") -> None:
        """Count what another reading of the same transcript did with the sessions that were outdated."""
        anew = {session.id: session for session in again.sessions if session.id in self.outdated}
        self.sessions = [anew.get(session.id, session) for session in self.sessions]
        self.tally, self.is_complete, self.outdated = again.tally, again.is_complete, []

    @property
    def new(self) -> int:
        """How many sessions the store did not have."""
        return sum(session.is_new for session in self.sessions)

    @property
    def grown(self) -> int:
        """How many sessions it had, but not all of."""
        return sum(bool(session.added) and not session.is_new for session in self.sessions)

    @property
    def added(self) -> int:
        """How many events were stored."""
        return sum(session.added for session in self.sessions)

    def add(self, other: "Imported") -> None:
        """Count what another import did too."""
        self.sessions += other.sessions
        self.held += other.held
        self.tally.records += other.tally.records
        self.tally.unknown.update(other.tally.unknown)
        self.tally.malformed.update(other.tally.malformed)
        self.tally.left_out.update(other.tally.left_out)
        self.is_complete = self.is_complete and other.is_complete


class Importer:
    """Stores the sessions in transcripts. What looks like a secret is redacted first."""

    def __init__(self, store: EventStore, counter_for: Callable[[str], TokenCounter]) -> None:
        """`counter_for` takes the name of a model, or of an agent while its model is unknown."""
        self._store = store
        self._counter_for = counter_for

    def run(
        self,
        transcript: Transcript,
        *,
        file: str,
        at: float = 0.0,
        agent: str = "",
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Imported:
        """Import one transcript; what is stored already stays as it is, and only what is new is added.

        `file` is the transcript's name, `at` the time of records that have none, in seconds since 1970,
        `agent` who wrote it if it does not say. If stopped, what was imported so far is a session like any
        other, and the next import completes it. Raises StoreError, and ConfigError if it cannot be read.
        """

        def read(outdated: frozenset[str]) -> Imported:
            run, complete = self._following((file, at, agent), outdated), False
            try:
                for entry in transcript.entries(progress, stopped):
                    run.take(entry)
                    if stopped():
                        break
                complete = not stopped()
            finally:
                done = run.close(complete=complete)
            done.tally = transcript.tally
            return done

        done = read(frozenset())
        if done.outdated and not stopped():
            done.renew(read(frozenset(done.outdated)))
        return done

    def follow(self, *, file: str, at: float = 0.0, agent: str = "") -> "Following":
        """Import entry by entry, as an agent writes them: there is no newer copy of such a transcript."""
        return self._following((file, at, agent), None)

    def _following(self, source: tuple[str, float, str], replaced: frozenset[str] | None) -> "Following":
        return Following(self._store, self._counter_for, source, replaced)


class Following:
    """An import that goes on: each entry's new records are returned."""

    def __init__(
        self,
        store: EventStore,
        counter_for: Callable[[str], TokenCounter],
        source: tuple[str, float, str],
        replaced: frozenset[str] | None,
    ) -> None:
        """`source` is the file's name, the time of records that have none, and the agent.

        `replaced` are the sessions whose events are replaced if other rules made them. None while an agent
        is followed: all of them, and whoever else is writing.
        """
        self._is_live = replaced is None
        self._is_anew = (lambda _session: True) if replaced is None else replaced.__contains__
        self._store = store
        self._counter_for = counter_for
        self._file, self._at, self._agent = source
        self._done = Imported()
        self._open: dict[str, _Open] = {}
        self._current: _Open | None = None
        self._waiting: Begun | None = None
        self._first = ""

    def take(self, entry: Entry) -> list[Record]:
        """Take one entry, and return the records that are new to the store. Raises StoreError."""
        if entry.at is not None:
            self._at = entry.at
        if not isinstance(entry, Begun):
            self._first = self._first or entry_key(entry)
        # A beginning without a time has that of what comes next; one without a name is named by that.
        begun, self._waiting = self._waiting, None
        before = self._begun(begun) if begun is not None else []
        if not isinstance(entry, Begun):
            if self._current is None:
                before += self._begin(self._named(Begun("")))
            return before + self._go_on(entry)
        if entry.at is None or not (entry.session or self._first):
            self._waiting = entry
            return before
        return before + self._begun(entry)

    def _begun(self, entry: Begun) -> list[Record]:
        """A session begins, or one of this transcript goes on."""
        if not (entry.session or self._first):
            return []
        begun = self._named(entry)
        known = self._open.get(self._id(begun))
        if known is None:
            return self._begin(begun)
        self._current = known
        return self._go_on(begun)

    def _id(self, begun: Begun) -> str:
        return session_id(begun, self._file, self._first)

    def flush(self) -> None:
        """Store what was taken so far. Raises StoreError."""
        for one in self._open.values():
            one.stream.flush()

    def close(self, *, complete: bool = True) -> Imported:
        """End the import; a `complete` one has read the whole transcript. Raises StoreError."""
        if self._waiting is not None and complete:
            self._begun(self._waiting)
        self._waiting = None
        for one in self._open.values():
            try:
                if complete:
                    one.put(one.session.end())
            finally:
                one.stream.close(complete=complete, timed=one.is_timed)
            stream = one.stream
            if stream.is_held:
                self._done.held.append(stream.session)
                continue
            if stream.is_outdated:
                self._done.outdated.append(stream.session)
            told = ImportedSession(stream.session, one.agent, stream.events, stream.added, stream.is_new)
            self._done.sessions.append(told)
        self._open, self._current = {}, None
        self._done.is_complete = complete
        return self._done

    def _named(self, begun: Begun) -> Begun:
        return begun if begun.agent else replace(begun, agent=self._agent or UNKNOWN_AGENT)

    def _begin(self, begun: Begun) -> list[Record]:
        """Open a session, which is the current one until another begins."""
        id_ = self._id(begun)
        session = AgentSession(begun, self._counter_for(begun.model or begun.agent), self._file)
        stream = ImportedStream(id_, self._store, self._is_anew)
        stream.is_held = not self._is_live and self._store.is_written(id_)
        opened = _Open(begun.agent, session, stream, self._at, begun.at is not None)
        self._open[id_] = self._current = opened
        return opened.put(iter((session.start(),)))

    def _go_on(self, entry: Entry) -> list[Record]:
        assert self._current is not None
        self._current.at = self._at
        self._current.is_timed = self._current.is_timed or entry.at is not None
        return self._current.put(self._current.session.after(entry))


@dataclass(slots=True)
class _Open:
    """A session that the transcript has begun; `at` is when its newest entry happened.

    `is_timed` says that any of them had a time of its own.
    """

    agent: str
    session: AgentSession
    stream: ImportedStream
    at: float
    is_timed: bool

    def put(self, events: Iterator[Event]) -> list[Record]:
        """Put these events into the stream, and return the records that are new to the store."""
        return [record for event in events for record in self.stream.put(event, self.at)]

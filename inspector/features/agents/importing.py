"""Imports transcripts: their entries become sessions in the store, of which only what is new is written.

A transcript makes the same events again, so those that the store has are counted and passed over. Only the
newest are compared: an agent may have been writing its answer when they were made, and what stands there now
takes their place, if it is no less. A shorter copy of a transcript takes nothing away. What other rules made
is replaced whole.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.events import Event, Record, SessionStarted
from inspector.core.ports import EventStore, TokenCounter
from inspector.core.redaction import clean
from inspector.features.agents.agent_session import UNKNOWN_AGENT, AgentSession, entry_key, session_id
from inspector.features.agents.finding import Findings
from inspector.features.agents.transcript import Asked, Begun, Counts, Entry, Tally

_COMPARED = 200
_BATCH = 100


class ImportedSession(Struct, frozen=True):
    """A session of a transcript: all its events, and how many of them the store did not have."""

    id: str
    agent: str
    events: int
    added: int
    is_new: bool
    counts: Counts = field(default_factory=Counts)


class Imported(Struct):
    """What imports did; a session that several transcripts tell of is counted once for each.

    `transcripts` counts the files that were read, `skipped` are those that could not be, and why. `held` are
    the sessions that another program is writing: they are left to it.
    """

    transcripts: int = 1
    sessions: list[ImportedSession] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    is_complete: bool = True
    held: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)

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
        self.transcripts += other.transcripts
        self.sessions += other.sessions
        self.held += other.held
        self.tally.records += other.tally.records
        self.tally.unknown.update(other.tally.unknown)
        self.tally.malformed.update(other.tally.malformed)
        self.tally.left_out.update(other.tally.left_out)
        self.is_complete = self.is_complete and other.is_complete


class Found(Struct, frozen=True):
    """A folder of an agent, and the files in it that may be transcripts; none of them was opened."""

    agent: str
    folder: str
    files: int
    bytes: int


class AgentLibrary(Protocol):
    """Imports transcripts, and reads what they show. Every method may take long, and belongs in a thread."""

    def folders(self) -> tuple[Found, ...]:
        """Where the known agents keep their transcripts, as far as that is there."""

    def import_from(
        self,
        paths: Sequence[str],
        progress: Callable[[int, int], None],
        stopped: Callable[[], bool],
        last: int | None = None,
    ) -> Imported:
        """Import files, and all transcripts below folders; of all these the `last` newest.

        `progress` gets the bytes done and all there are. Raises ConfigError if none can be read, StoreError.
        """

    def findings(self, session: str) -> Findings:
        """What a session shows. Raises StoreError."""


class Importer(Struct, eq=False):
    """Stores the sessions in transcripts. What looks like a secret is redacted first.

    `_counter_for` takes the name of a model, or of an agent while its model is unknown.
    """

    _store: EventStore
    _counter_for: Callable[[str], TokenCounter]

    def run(
        self,
        entries: Iterable[Entry],
        *,
        file: str,
        at: float = 0.0,
        agent: str = "",
        stopped: Callable[[], bool] = lambda: False,
    ) -> Imported:
        """Import one transcript; what is stored already stays as it is, and only what is new is added.

        `file` is the transcript's name, `at` the time of records that have none, in seconds since 1970,
        `agent` who wrote it if it does not say. If stopped, what was imported so far is a session like any
        other, and the next import completes it. Raises StoreError, and ConfigError if it cannot be read.
        """
        following = self.follow(file=file, at=at, agent=agent, is_live=False)
        complete = False
        try:
            for entry in entries:
                following.take(entry)
                if stopped():
                    break
            complete = not stopped()
        finally:
            done = following.close(complete=complete)
        return done

    def follow(self, *, file: str, at: float = 0.0, agent: str = "", is_live: bool = True) -> "Following":
        """Import entry by entry; `is_live` as an agent writes them, whoever else is writing the session."""
        return Following(self._store, self._counter_for, file, at, agent, is_live)


class Following(Struct, eq=False):
    """An import that goes on: each entry's new records are returned; those without a time have `_at`."""

    _store: EventStore
    _counter_for: Callable[[str], TokenCounter]
    _file: str
    _at: float
    _agent: str
    _is_live: bool
    _done: Imported = field(default_factory=Imported)
    _open: "dict[str, _Open]" = {}
    _current: "_Open | None" = None
    _waiting: Begun | None = None
    _first: str = ""

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
                one.stream.close(complete=complete)
            stream = one.stream
            if stream.is_held:
                self._done.held.append(stream.session)
            else:
                done = (stream.events, stream.added, stream.is_new, one.counts)
                self._done.sessions.append(ImportedSession(stream.session, one.agent, *done))
        self._open, self._current = {}, None
        self._done.is_complete = complete
        return self._done

    def _named(self, begun: Begun) -> Begun:
        return begun if begun.agent else replace(begun, agent=self._agent or UNKNOWN_AGENT)

    def _begin(self, begun: Begun) -> list[Record]:
        """Open a session, which is the current one until another begins."""
        id_ = self._id(begun)
        session = AgentSession(begun, self._counter_for(begun.model or begun.agent), self._file)
        is_held = not self._is_live and self._store.is_written(id_)
        opened = _Open(begun.agent, session, _Stream(id_, self._store, is_held=is_held), self._at)
        self._open[id_] = self._current = opened
        return opened.put(iter((session.start(),)))

    def _go_on(self, entry: Entry) -> list[Record]:
        assert self._current is not None
        # What a person asks next ends no turn: that was over when the last of it happened.
        over = self._current.session.turn_end() if isinstance(entry, Asked) else iter(())
        before = self._current.put(over)
        self._current.at = self._at
        self._current.counts.add(entry)
        return before + self._current.put(self._current.session.after(entry))


class _Stream:
    """One session's events on their way to the store, many at a time.

    `events` counts those that the transcript made so far, `added` those of them that were new to the store;
    `is_new` says that the store knew nothing of the session. Of one that `is_held`, nothing is stored.
    """

    def __init__(self, session: str, store: EventStore, *, is_held: bool) -> None:
        self.session, self.is_held = session, is_held
        self.events = self.added = 0
        self._store = store
        self._batch: list[Record] = []
        # What differs from the store's newest events, until it is certain to take their place.
        self._instead: list[Record] = []
        newest = store.read(session, limit=_COMPARED)
        first = store.read(session, kinds=(SessionStarted.kind,))[:1]
        self._known = {record.seq: record.event for record in (*newest, *first)}
        self._stored = newest[-1].seq if newest else 0
        self.is_new = not newest

    def put(self, event: Event, at: float) -> list[Record]:
        """Take the next event, and return the records that are new to the store. Raises StoreError."""
        self.events += 1
        if self.is_held or 1 < self.events <= self._stored - _COMPARED:
            return []
        record = Record(self.session, self.events, at, clean(event))
        if self.events > self._stored:
            self._replace()
            self._add(record)
        elif self._instead or not _is_same(self._known.get(self.events), record.event):
            self._instead.append(record)
            if self.events == 1:
                # Other rules made it, so that nothing after it compares.
                self._replace()
        else:
            return []
        return [record]

    def _add(self, record: Record) -> None:
        self.added += 1
        self._batch.append(record)
        if len(self._batch) >= _BATCH:
            self.flush()

    def _replace(self) -> None:
        """Put what differs in the place of what is stored there, if anything does."""
        instead, self._instead = self._instead, []
        if instead:
            self._store.cut(self.session, instead[0].seq - 1)
            self._stored, self._known = instead[0].seq - 1, {}
        for record in instead:
            self._add(record)

    def flush(self) -> None:
        """Store what was taken so far. Raises StoreError."""
        batch, self._batch = self._batch, []
        self._store.append_all(batch)

    def close(self, *, complete: bool) -> None:
        """Store the rest; of a `complete` transcript also what is as long as what it replaces."""
        if self.is_held:
            return
        if complete and self.events >= self._stored:
            self._replace()
        self.flush()
        self._store.release(self.session)


def _is_same(stored: Event | None, event: Event) -> bool:
    """Whether an event is the stored one; that the transcript has another name by now does not matter."""
    if isinstance(stored, SessionStarted) and isinstance(event, SessionStarted):
        named = event.origin and stored.origin and replace(event.origin, file=stored.origin.file)
        event = replace(event, origin=named or event.origin)
    return stored == event


class _Open(Struct):
    """A session that the transcript has begun; `at` is when its newest entry happened."""

    agent: str
    session: AgentSession
    stream: _Stream
    at: float
    counts: Counts = field(default_factory=Counts)

    def put(self, events: Iterator[Event]) -> list[Record]:
        """Put these events into the stream, and return the records that are new to the store."""
        return [record for event in events for record in self.stream.put(event, self.at)]

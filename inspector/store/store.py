"""Event streams: in SQLite, one row per event, and in memory for what is not recorded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from inspector.core.error import StoreError
from inspector.core.events import (
    CallFinished,
    CatalogBuilt,
    CatalogEntry,
    Event,
    ModelSwitched,
    Record,
    SearchPerformed,
    SessionStarted,
)
from inspector.core.ports import SessionAge, SessionSummary, StoreVersion, ToolOutcomes
from inspector.core.turns import turns
from inspector.store.codec import UnreadableEvent, as_column, decode, decode_value, encode, encode_value
from inspector.store.database import InDatabase, WriterLocks
from inspector.store.part import apart, keep, shortened, together, whole

# To read a catalog takes fewer than so many others.
_WHOLE_EVERY = 50

_UPSERT_SESSION = """
INSERT INTO session (id, started_at, ended_at, config, model, agent, user, expert)
VALUES (:session, :at, :at, coalesce(:config, ''), coalesce(:model, ''), coalesce(:agent, ''),
    coalesce(:user, ''), coalesce(:expert, ''))
ON CONFLICT (id) DO UPDATE SET
    ended_at = max(ended_at, :at), config = coalesce(:config, config), model = coalesce(:model, model),
    agent = coalesce(:agent, agent), user = coalesce(:user, user), expert = coalesce(:expert, expert)
"""
_INSERT_EVENT = (
    "INSERT INTO event (session, seq, at, kind, server, tool, payload, definitions, kept) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_PART = 250
_SELECT = (
    "SELECT seq, at, kind, payload, (SELECT text FROM definitions WHERE hash = event.definitions), kept "
    "FROM event WHERE session = ? "
)
_BETWEEN = f"{_SELECT} AND seq > ? AND seq <= ? ORDER BY seq"
_NEXT_PART = f"{_SELECT} AND seq > ? {{}} ORDER BY seq LIMIT ?"
_OUTLINED = _NEXT_PART.replace("event.definitions)", "event.definitions AND kind <> 'search')")
_SUMMARIES = """
SELECT id, started_at, ended_at, config, model, count(event.kind),
    count(*) FILTER (WHERE kind = 'search'), count(*) FILTER (WHERE kind = 'result'), agent, user, expert,
    coalesce((
        SELECT substr(json_extract(payload, '$.text'), 1, 200) FROM event AS said
        WHERE said.session = session.id AND said.kind = 'user' ORDER BY said.seq LIMIT 1
    ), '')
FROM session LEFT JOIN event ON event.session = session.id
GROUP BY id ORDER BY started_at DESC, id DESC
"""


# By session, as that is what events are indexed by.
_OUTCOMES = """
SELECT event.tool, count(*), sum(NOT coalesce(json_extract(payload, '$.ok'), 0)), max(at)
FROM session JOIN event ON event.session = session.id
WHERE kind = 'result' AND event.tool IS NOT NULL AND json_valid(payload) GROUP BY event.tool
"""


class SqliteStore(InDatabase):
    """An EventStore in a file that `sqlite3` can open too. The file is opened on first use.

    A session that it appends to counts as being written until `release`, `close` or the end of the process.
    `skipped` counts the events that the last `read` left out because this version cannot read them.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._writers = WriterLocks(path)
        # Of each session the last catalog's number and entries, and how many came before it.
        self._catalogs: dict[str, tuple[int, Sequence[CatalogEntry], int]] = {}
        self.skipped = 0

    def append(self, record: Record) -> None:
        """Commit the record: after this returns, even a killed process loses nothing. Raises StoreError.

        A power failure may take the newest records: a commit is in the log, but not forced to the disk.
        A second record with the same session and number is an error: two programs are writing one session.
        """
        self.append_all((record,))

    def append_all(self, records: Sequence[Record]) -> None:
        """Commit records of one session together, as `append` does one. Raises StoreError."""
        if not records:
            return
        # Taken out until it is stored: what follows a failure is stored whole.
        session, last = records[0].session, self._catalogs.pop(records[0].session, None)
        rows = []
        for record in records:
            event, of = record.event, None
            if isinstance(event, CatalogBuilt):
                before, last = last, (record.seq, event.entries, last[2] + 1 if last else 0)
                if before and last[2] % _WHOLE_EVERY:
                    event, pieces = shortened(event, before[1])
                    of = encode_value([before[0], *pieces])
            rows.append((*_row(record, event), of))
        with self._database.transaction() as connection:
            # Within the transaction: another program sees a session only once it is marked as written.
            self._writers.hold(session)
            connection.executemany(_UPSERT_SESSION, map(_session_row, records))
            for *row, listed, of in rows:
                hash_ = keep(connection, listed.encode()) if listed else None
                connection.execute(_INSERT_EVENT, (*row, hash_, of))
        if last:
            self._catalogs[session] = last

    def cut(self, session: str, after: int) -> None:
        """Delete the session's records after that number. Raises StoreError."""
        self._catalogs.pop(session, None)
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM event WHERE session = ? AND seq > ?", (as_column(session), after))
            if after < 1:
                connection.execute("DELETE FROM session WHERE id = ?", (as_column(session),))

    def read(self, session: str, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        """A session's records in order, of the given kinds or of all; `limit` keeps the newest."""
        sql = f"{_SELECT} {_of_kinds(kinds)} ORDER BY seq DESC LIMIT ?"
        rows = self._database.rows(sql, (as_column(session), *kinds, -1 if limit is None else max(limit, 0)))
        records = list(self._readable(session, reversed(rows)))
        self.skipped = len(rows) - len(records)
        return records

    def between(self, session: str, after: int, until: int) -> list[Record]:
        """Those with a number above `after` and up to `until`. Raises StoreError."""
        return list(
            self._readable(session, self._database.rows(_BETWEEN, (as_column(session), after, until)))
        )

    def stream(self, session: str, kinds: Sequence[str] = (), *, outline: bool = False) -> Iterator[Record]:
        """The records that `read` returns, _PART of them in memory at a time. Raises StoreError.

        `outline` is that of `decode`.
        """
        # Not by the index of kinds: every part would be sorted anew.
        after, sql = -1, (_OUTLINED if outline else _NEXT_PART).format(_of_kinds(kinds, "+kind"))
        while rows := self._database.rows(sql, (as_column(session), after, *kinds, _PART)):
            yield from self._readable(session, rows, outline=outline)
            after = rows[-1][0]

    def sessions(self) -> list[SessionSummary]:
        """Every stored session, newest first."""
        rows = self._database.rows(_SUMMARIES)
        running = self._writers.running(row[0] for row in rows)
        return [SessionSummary(*(*row, row[0] in running)) for row in rows]

    def version(self) -> StoreVersion:
        """See `EventStore`. What this store writes itself is no change."""
        ((changes,),) = self._database.rows("PRAGMA data_version")
        ((agent_at,),) = self._database.rows("SELECT max(ended_at) FROM session WHERE agent != ''")
        return StoreVersion((changes, self._writers.held()), agent_at or 0.0)

    def ages(self) -> list[SessionAge]:
        """When every session recorded here had its last event, without reading the events."""
        sql = "SELECT id, ended_at FROM session WHERE agent = ''"
        return [SessionAge(*row) for row in self._database.rows(sql)]

    def outcomes(self) -> Mapping[str, ToolOutcomes]:
        """How the calls of every tool ended, by its id, whoever made them. Raises StoreError."""
        rows = self._database.rows(_OUTCOMES)
        return {tool: ToolOutcomes(*numbers) for tool, *numbers in rows}

    def forget(self, sessions: Sequence[str]) -> tuple[str, ...]:
        """Delete these sessions, except those that any program is writing, and return what was deleted.

        Raises StoreError; nothing is deleted then.
        """
        with self._database.transaction() as connection:
            free = [session for session in sessions if not self._writers.is_held(session)]
            rows = [(as_column(session),) for session in free]
            connection.executemany("DELETE FROM event WHERE session = ?", rows)
            gone = [
                session
                for session, row in zip(free, rows, strict=True)
                if connection.execute("DELETE FROM session WHERE id = ?", row).rowcount
            ]
            for session in free:
                self._writers.discard(session)
        return tuple(gone)

    def is_written(self, session: str) -> bool:
        """Whether anyone else is writing the session, or that is unknown. Raises StoreError."""
        try:
            return self._writers.is_held_elsewhere(session)
        except OSError as error:
            hint = "Check the permissions of the folder next to the database."
            raise StoreError(f"cannot tell whether {session} is being written: {error}", hint=hint) from error

    def release(self, session: str) -> None:
        """Say that this store writes the session no more, so that it may be deleted when its time comes."""
        self._catalogs.pop(session, None)
        self._writers.release(session)

    def close(self) -> None:
        """Close the file and release its sessions; the next call opens it again."""
        self._catalogs.clear()
        self._writers.close()
        super().close()

    def _readable(self, session: str, rows: Iterable[Any], *, outline: bool = False) -> Iterator[Record]:
        """The records of these rows, except those that this version cannot read."""
        last: dict[int, CatalogBuilt] = {}
        for seq, at, kind, payload, listed, of in rows:
            try:
                event = decode(kind, payload, outline=outline)
                if listed is not None:
                    event = together(event, listed)
                if isinstance(event, CatalogBuilt):
                    event = self._whole(session, event, of, last) if of else event
                    last = {seq: event}
            except UnreadableEvent:
                continue
            yield Record(session, seq, at, event)

    def _whole(
        self, session: str, event: CatalogBuilt, of: str, known: Mapping[int, CatalogBuilt]
    ) -> CatalogBuilt:
        """The catalog with the entries that it has of an earlier one. Raises UnreadableEvent."""
        seq, *pieces = decode_value(of)
        before = known.get(seq) or next((one.event for one in self.between(session, seq - 1, seq)), None)
        if not isinstance(before, CatalogBuilt):
            raise UnreadableEvent(f"event {seq}, of which a catalog has entries, cannot be read")
        return whole(event, before.entries, pieces)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _of_kinds(kinds: Sequence[str], column: str = "kind") -> str:
    return f"AND {column} IN ({', '.join('?' * len(kinds))})" if kinds else ""


def _row(record: Record, event: Event) -> tuple[Any, ...]:
    tool = _text_of(event, "tool")
    server = _text_of(event, "server") or (tool.partition(":")[0] if tool else None)
    try:
        short, part = apart(event)
        payload, listed = encode(short), encode(part) if part else ""
    except (ValueError, TypeError, RecursionError) as error:
        hint = "This is a bug in Toolsight; the session continues without this entry."
        raise StoreError(f"a “{event.kind}” event cannot be stored: {error}", hint=hint) from error
    return (as_column(record.session), record.seq, record.at, event.kind, server, tool, payload, listed)


def _session_row(record: Record) -> dict[str, object]:
    event = record.event
    told: dict[str, str | None] = dict.fromkeys(("config", "agent", "user", "expert", "model"))
    if isinstance(event, SessionStarted):
        agent = event.origin.agent if event.origin is not None else None
        told |= {"config": event.config, "agent": agent, "user": event.user, "expert": event.expert}
    if isinstance(event, SessionStarted | ModelSwitched):
        told["model"] = event.model
    row = {name: None if text is None else as_column(text) for name, text in told.items()}
    return {"session": as_column(record.session), "at": record.at, **row}


def _text_of(event: Event, attribute: str) -> str | None:
    value = getattr(event, attribute, None)
    return as_column(value) if isinstance(value, str) else None


class MemoryStore:
    """An EventStore in memory. Tests say which sessions are `written_elsewhere`."""

    def __init__(self) -> None:
        self.written_elsewhere: set[str] = set()
        self._streams: dict[str, dict[int, Record]] = {}
        self._written: set[str] = set()

    def append(self, record: Record) -> None:
        self._written.add(record.session)
        stream = self._streams.setdefault(record.session, {})
        if record.seq in stream:
            hint = "Two programs may be writing the same session; start a new one."
            raise StoreError(f"{record.session} already has an event {record.seq}", hint=hint)
        stream[record.seq] = record

    def append_all(self, records: Sequence[Record]) -> None:
        before = {session: dict(stream) for session, stream in self._streams.items()}
        try:
            for record in records:
                self.append(record)
        except StoreError:
            self._streams = before
            raise

    def cut(self, session: str, after: int) -> None:
        kept = {seq: record for seq, record in self._streams.pop(session, {}).items() if seq <= after}
        if kept:
            self._streams[session] = kept

    def read(self, session: str, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        stream = self._streams.get(session, {})
        records = [stream[seq] for seq in sorted(stream) if not kinds or stream[seq].kind in kinds]
        return records if limit is None else records[max(len(records) - max(limit, 0), 0) :]

    def between(self, session: str, after: int, until: int) -> list[Record]:
        return [record for record in self.read(session) if after < record.seq <= until]

    def stream(
        self,
        session: str,
        kinds: Sequence[str] = (),
        *,
        outline: bool = False,  # noqa: ARG002
    ) -> Iterator[Record]:
        yield from self.read(session, kinds=kinds)

    def version(self) -> StoreVersion:
        changes = {
            session: len(stream) for session, stream in self._streams.items() if session not in self._written
        }
        agent_at = max((one.ended_at for one in self.sessions() if one.agent), default=0.0)
        return StoreVersion((changes, set(self.written_elsewhere)), agent_at)

    def ages(self) -> list[SessionAge]:
        return [SessionAge(one.id, one.ended_at) for one in self.sessions() if not one.agent]

    def forget(self, sessions: Sequence[str]) -> tuple[str, ...]:
        free = [session for session in sessions if session not in self._written]
        return tuple(session for session in free if self._streams.pop(session, None) is not None)

    def is_written(self, session: str) -> bool:
        return session in self.written_elsewhere

    def release(self, session: str) -> None:
        self._written.discard(session)

    def sessions(self) -> list[SessionSummary]:
        summaries = [_summary(session, tuple(stream.values())) for session, stream in self._streams.items()]
        return sorted(summaries, key=lambda summary: (summary.started_at, summary.id), reverse=True)


def _summary(session: str, records: Sequence[Record]) -> SessionSummary:
    told = list(turns(records))
    start = next((event for turn in reversed(told) for event in reversed(turn.of(SessionStarted))), None)
    return SessionSummary(
        session,
        started_at=records[0].at,
        ended_at=max(record.at for record in records),
        config=start.config if start else "",
        model=told[-1].session.model,
        events=len(records),
        searches=sum(record.kind == SearchPerformed.kind for record in records),
        calls=sum(record.kind == CallFinished.kind for record in records),
        agent=told[-1].session.agent,
        user=start.user if start else "",
        expert=start.expert if start else "",
        question=next((turn.said.text[:200] for turn in told if turn.said), ""),
    )

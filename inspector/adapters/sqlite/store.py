"""Event streams in SQLite, one row per event."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from inspector.adapters.sqlite.codec import UnreadableEvent, decode, encode
from inspector.adapters.sqlite.database import BUSY_TIMEOUT_MS, SqliteDatabase
from inspector.domain.error import StoreError
from inspector.domain.events import Event, ModelSwitched, Record, SessionStarted
from inspector.engine.ports import SessionSummary

_UPSERT_SESSION = """
INSERT INTO session (id, started_at, ended_at, config, model)
VALUES (:session, :at, :at, coalesce(:config, ''), coalesce(:model, ''))
ON CONFLICT (id) DO UPDATE SET
    ended_at = max(ended_at, :at), config = coalesce(:config, config), model = coalesce(:model, model)
"""
_INSERT_EVENT = (
    "INSERT INTO event (session, seq, at, kind, server, tool, payload) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SUMMARIES = """
SELECT id, started_at, ended_at, config, model, count(event.kind),
    count(*) FILTER (WHERE kind = 'search'), count(*) FILTER (WHERE kind = 'result')
FROM session LEFT JOIN event ON event.session = session.id
GROUP BY id ORDER BY started_at DESC, id DESC
"""


class SqliteStore:
    """An EventStore in a file that `sqlite3` can open too. The file is opened on first use.

    `skipped` counts the events that the last `read` left out because this version cannot read them.
    """

    def __init__(self, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        self._database = SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)
        self.skipped = 0

    def append(self, record: Record) -> None:
        """Commit the record: after this returns, even a killed process loses nothing. Raises StoreError.

        A second record with the same session and number is an error: two programs are writing one session.
        """
        row = _row(record)
        with self._database.transaction() as connection:
            connection.execute(_UPSERT_SESSION, _session_row(record))
            connection.execute(_INSERT_EVENT, row)

    def read(self, session: str, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        """A session's records in order, of the given kinds or of all; `limit` keeps the newest."""
        wanted = ", ".join("?" * len(kinds))
        where = f"AND kind IN ({wanted}) " if kinds else ""
        sql = f"SELECT seq, at, kind, payload FROM event WHERE session = ? {where}ORDER BY seq DESC LIMIT ?"
        rows = self._database.rows(sql, (_plain(session), *kinds, -1 if limit is None else max(limit, 0)))
        records = []
        for seq, at, kind, payload in reversed(rows):
            try:
                records.append(Record(session, seq, at, decode(kind, payload)))
            except UnreadableEvent:
                continue
        self.skipped = len(rows) - len(records)
        return records

    def sessions(self) -> list[SessionSummary]:
        """Every stored session, newest first."""
        return [SessionSummary(*row) for row in self._database.rows(_SUMMARIES)]

    def forget(self, sessions: Sequence[str]) -> None:
        """Delete these sessions with all their records. Raises StoreError; nothing is deleted then."""
        rows = [(_plain(session),) for session in sessions]
        with self._database.transaction() as connection:
            connection.executemany("DELETE FROM event WHERE session = ?", rows)
            connection.executemany("DELETE FROM session WHERE id = ?", rows)

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _row(record: Record) -> tuple[object, ...]:
    event = record.event
    tool = _text_of(event, "tool")
    server = _text_of(event, "server") or (tool.partition(":")[0] if tool else None)
    try:
        payload = encode(event)
    except (ValueError, TypeError, RecursionError) as error:
        hint = "This is a bug in Toolsight; the session continues without this entry."
        raise StoreError(f"a “{event.kind}” event cannot be stored: {error}", hint=hint) from error
    return (_plain(record.session), record.seq, record.at, event.kind, server, tool, payload)


def _session_row(record: Record) -> dict[str, object]:
    event = record.event
    return {
        "session": _plain(record.session),
        "at": record.at,
        "config": _plain(event.config) if isinstance(event, SessionStarted) else None,
        "model": _plain(event.model) if isinstance(event, SessionStarted | ModelSwitched) else None,
    }


def _text_of(event: Event, attribute: str) -> str | None:
    value = getattr(event, attribute, None)
    return _plain(value) if isinstance(value, str) else None


def _plain(text: str) -> str:
    """The text as a column can store it: SQLite's text is UTF-8, which has no lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

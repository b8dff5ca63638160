"""The successful calls of recorded sessions, read beside the sessions that are being written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.core.inertia import CallTrail, PastCall, PersonaTrail, TaskCalls, Viewer
from inspector.core.ranking import Outcome
from inspector.store.codec import TaskTrail, as_column, decode_value
from inspector.store.database import BUSY_TIMEOUT_MS, SqliteDatabase

_SESSIONS = "SELECT id FROM session WHERE id <> ? ORDER BY ended_at DESC, id DESC"
_VIEWERS = """
SELECT id FROM session WHERE id <> ? AND user = ? AND user <> '' AND expert IN ('', ?)
ORDER BY ended_at DESC, id DESC
"""
_PERSONA = """
    WHEN 'session' THEN json_extract(payload, '$.origin.agent', '$.settings.inertia.persona', '$.toolset',
        '$.user')
    WHEN 'settings' THEN json_extract(payload, '$.settings.inertia.persona', '$.profile')
"""
# With several paths json_extract returns JSON, in which text stays escaped: not all of it is UTF-8.
_EVENTS = f"""
SELECT kind, at, CASE kind {_PERSONA}
    WHEN 'user' THEN json_extract(payload, '$.text', '$.text')
    WHEN 'call' THEN json_extract(payload, '$.call_id', '$.by')
    WHEN 'result' THEN json_extract(payload, '$.call_id', '$.tool', '$.ok')
    WHEN 'search' THEN json_extract(payload, '$.by', '$.report.request.query') END,
    CASE kind WHEN 'search' THEN (
        SELECT json_group_array(json(json_extract(value, '$.score.tool_id', '$.outcome')))
        FROM json_each(payload, '$.report.hits')
    ) END
FROM event WHERE session = ? AND kind IN ('session', 'settings', 'user', 'search', 'call', 'result')
    AND json_valid(payload)
ORDER BY seq
"""
_CALLS = f"""
SELECT kind, at, CASE kind {_PERSONA}
    WHEN 'call' THEN json_extract(payload, '$.tool', '$.by')
    ELSE 'null' END
FROM event WHERE session = ? AND kind IN ('session', 'settings', 'user', 'call') AND json_valid(payload)
ORDER BY seq
"""


class SqliteCallHistory:
    """A CallHistory in the database that holds the sessions, over a connection of its own.

    Each session is read at once, and nothing is locked between two of them.
    """

    def __init__(self, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        """Nothing is opened yet. `busy_timeout_ms` is how long to wait for another program's lock."""
        self._database = SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)

    def successful_calls(self, *, but: str = "", viewer: Viewer | None = None) -> Iterator[PastCall]:
        """The calls of every session but that one, or of the viewer's, newest first. Raises StoreError."""
        if viewer is None:
            found = self._database.rows(_SESSIONS, (but,))
        else:
            named = (as_column(viewer.user), as_column(viewer.expert))
            found = self._database.rows(_VIEWERS, (but, *named))
        for (session,) in found:
            yield from self._of(session)

    def _of(self, session: str) -> Iterator[PastCall]:
        trail = CallTrail()
        for kind, at, fields, hits in self._database.rows(_EVENTS, (session,)):
            found = decode_value(fields)
            _follow(trail, kind, found)
            match kind, found:
                case "user", [str(text), _]:
                    trail.said(text)
                case "search", [by, str(query)]:
                    trail.searched(by or "model", query, _results(decode_value(hits)))
                case "call", [str(call_id), by]:
                    trail.called(call_id, by or "model")
                case "result", [str(call_id), str(tool), ok]:
                    call = trail.finished(call_id, tool, at, ok=ok is True)
                    if call is not None:
                        yield call

    def tasks(self, *, but: str = "") -> Iterator[TaskCalls]:
        """What models called for each message, the newest session first. Raises StoreError."""
        for (session,) in self._database.rows(_SESSIONS, (but,)):
            yield from self._tasks_of(session)

    def _tasks_of(self, session: str) -> Iterator[TaskCalls]:
        trail = TaskTrail()
        for kind, at, fields in self._database.rows(_CALLS, (session,)):
            found = decode_value(fields)
            _follow(trail, kind, found)
            match kind, found:
                case "user", _:
                    yield from trail.said()
                case "call", [str(tool), by]:
                    trail.called(by or "model", tool, at)
        yield from trail.said()

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()


def _follow(trail: PersonaTrail, kind: str, fields: Any) -> None:
    match kind, fields:
        case "session", [agent, chosen, toolset, user]:
            trail.started(_text(agent), _text(chosen), _text(toolset), _text(user))
        case "settings", [chosen, _]:
            trail.set(_text(chosen))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _results(hits: Any) -> frozenset[str]:
    """The ids of the hits that the search returned."""
    known = set(Outcome)
    return frozenset(tool for tool, outcome in hits if outcome in known and Outcome(outcome).is_result)

"""Recorded sessions: their successful calls, read beside those being written, and how long they are kept."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from inspector.core.error import StoreError
from inspector.core.events import Decision as Decision, Failed, SessionsForgotten
from inspector.core.events.base import Actor
from inspector.core.ports import (
    DAY,
    OWN_PERSONA,
    Clock,
    EventStore,
    PastCall,
    SessionAge,
    TaskCalls,
    ToolOutcomes,
    Viewer,
)
from inspector.core.stream import LiveSettings, Session
from inspector.store.codec import as_column, decode_value
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
    WHEN 'result' THEN json_extract(payload, '$.tool', '$.ok') END
FROM event WHERE session = ? AND kind IN ('session', 'settings', 'result') AND json_valid(payload)
ORDER BY seq
"""
_CALLS = f"""
SELECT kind, at, CASE kind {_PERSONA}
    WHEN 'call' THEN json_extract(payload, '$.tool', '$.by')
    ELSE 'null' END
FROM event WHERE session = ? AND kind IN ('session', 'settings', 'user', 'call') AND json_valid(payload)
ORDER BY seq
"""
# By session, as that is what events are indexed by.
_OUTCOMES = """
SELECT event.tool, count(*), sum(NOT coalesce(json_extract(payload, '$.ok'), 0)), max(at)
FROM session JOIN event ON event.session = session.id
WHERE kind = 'result' AND event.tool IS NOT NULL AND json_valid(payload) GROUP BY event.tool
"""


def persona_of(agent: str, chosen: str, toolset: str, user: str = "") -> str:
    """Whose habits a session shows: the agent's it was imported from, else the name given to it.

    Without either they are those of the user who sees it or, where a policy tells of none, of the toolset.
    """
    return agent or chosen or user or toolset or OWN_PERSONA


class PersonaTrail:
    """The persona of a session, which its settings can change while it runs."""

    def __init__(self) -> None:
        self._agent = self._toolset = self._chosen = self._user = ""

    def started(self, agent: str, chosen: str, toolset: str, user: str = "") -> None:
        """The session began: an imported one of that agent, or Toolsight's own, of that user if any."""
        self._agent, self._chosen, self._toolset, self._user = agent, chosen, toolset, user

    def set(self, chosen: str) -> None:
        """The settings changed: the name of the session's habits is this one now."""
        self._chosen = chosen

    @property
    def persona(self) -> str:
        """Whose habits the session shows now."""
        return persona_of(self._agent, self._chosen, self._toolset, self._user)


class TaskTrail(PersonaTrail):
    """The calls of one message at a time; a message without calls is no task."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[str, float]] = []

    def called(self, by: Actor, tool: str, at: float) -> None:
        """A tool was called; only the model's calls count."""
        if by == "model":
            self._calls.append((tool, at))

    def said(self) -> Iterator[TaskCalls]:
        """The user said something, or the session ended: the task before it, if there was one."""
        if self._calls:
            yield TaskCalls(self.persona, tuple(self._calls))
        self._calls = []


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
        trail = PersonaTrail()
        for kind, at, fields in self._database.rows(_EVENTS, (session,)):
            found = decode_value(fields)
            _follow(trail, kind, found)
            match kind, found:
                case "result", [str(tool), True]:
                    yield PastCall(tool, at, trail.persona)

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

    def outcomes(self) -> Mapping[str, ToolOutcomes]:
        """How the calls of every tool ended, by its id, whoever made them. Raises StoreError."""
        rows = self._database.rows(_OUTCOMES)
        return {tool: ToolOutcomes(*numbers) for tool, *numbers in rows if isinstance(tool, str)}

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


# A year of a dozen sessions a day; lists and statistics over all sessions stay quick.
MAX_SESSIONS = 5_000


def overdue(sessions: Sequence[SessionAge], *, max_days: float, now: float) -> tuple[str, ...]:
    """The ids of the sessions to delete, oldest first: those that are too old, or beyond the newest 5,000."""
    by_age = sorted(sessions, key=lambda session: (session.ended_at, session.id))
    too_old = [session.id for session in by_age if now - session.ended_at > max_days * DAY]
    kept = by_age[len(too_old) :]
    too_many = [session.id for session in kept[: max(len(kept) - MAX_SESSIONS, 0)]]
    return (*too_old, *too_many)


# An app may stay open for weeks; limits are in days, so an hour more or less does not matter.
EVERY_SECONDS = 60 * 60.0


class Retention:
    """Applies the settings `record` to the other sessions of the store: at once, then every `every` seconds.

    A session that any program is writing stays, however old it is.
    """

    def __init__(
        self,
        session: Session,
        store: EventStore,
        clock: Clock,
        live: LiveSettings,
        *,
        every: float = EVERY_SECONDS,
    ) -> None:
        self._session = session
        self._store = store
        self._clock = clock
        self._live = live
        self._every = every
        self._due = asyncio.Event()
        self._is_ending = False
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Run in the background until `aclose`."""
        if self._running is None:
            self._running = asyncio.create_task(self._run(), name="retention")

    def run_now(self) -> None:
        """Do not wait for the next time, because the limits have changed."""
        self._due.set()

    async def aclose(self) -> None:
        """Finish deleting the session that is being deleted, if any, and stop. Raises StoreError."""
        self._is_ending = True
        self._due.set()
        if self._running is not None:
            await self._running

    async def _run(self) -> None:
        while not self._is_ending:
            self._due.clear()
            await self.sweep()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._due.wait()

    async def sweep(self) -> None:
        """Delete what is due now; the session records which, or why nothing could be deleted."""
        gone: list[str] = []
        try:
            await asyncio.to_thread(self._delete, gone)
        except StoreError as error:
            self._session.emit(Failed("retention", error.message, error.hint))
        if gone:
            self._session.emit(SessionsForgotten(tuple(gone)))

    def _delete(self, gone: list[str]) -> None:
        """Delete session by session, so that nobody who writes waits long; note each in `gone`."""
        limits = self._live.settings.record
        if not limits.max_days:
            return
        for session in overdue(self._store.ages(), max_days=limits.max_days, now=self._clock.now()):
            if self._is_ending:
                return
            if session != self._session.id:
                gone += self._store.forget((session,))

"""Recorded sessions: their successful calls, read beside those being written, and how long they are kept."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

from inspector.core.error import StoreError
from inspector.core.events import (
    CallFinished,
    CallStarted,
    Event,
    Failed,
    SessionsForgotten,
    SessionStarted,
    SettingsChanged,
    UserSaid,
)
from inspector.core.ports import (
    DAY,
    OWN_PERSONA,
    Clock,
    EventStore,
    PastCall,
    SessionAge,
    SessionSummary,
    TaskCalls,
    Viewer,
)
from inspector.core.stream import LiveSettings, Session
from inspector.schema.json_value import as_object

_STARTS = (SessionStarted.kind, SettingsChanged.kind)


def persona_of(agent: str, chosen: str, toolset: str, user: str = "") -> str:
    """Whose habits a session shows: the agent's it was imported from, else the name given to it.

    Without either they are those of the user who sees it or, where a policy tells of none, of the toolset.
    """
    return agent or chosen or user or toolset or OWN_PERSONA


class _Persona:
    """Whose habits a session shows, which its settings can change while it runs."""

    def __init__(self) -> None:
        self._start: SessionStarted | None = None
        self._chosen = ""

    def follow(self, event: Event) -> None:
        """Take note of what the session says of itself."""
        if isinstance(event, SessionStarted):
            self._start = event
        if isinstance(event, SessionStarted | SettingsChanged):
            chosen = as_object(event.settings.get("inertia")).get("persona")
            self._chosen = chosen if isinstance(chosen, str) else ""

    def __str__(self) -> str:
        start = self._start
        agent = start.origin.agent if start is not None and start.origin is not None else ""
        toolset, user = (start.toolset, start.user) if start is not None else ("", "")
        return persona_of(agent, self._chosen, toolset, user)


class RecordedCalls:
    """A CallHistory over stored sessions. Each is read at once, and nothing is locked between two of them."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    def successful_calls(self, *, but: str = "", viewer: Viewer | None = None) -> Iterator[PastCall]:
        """The calls of every session but that one, or of the viewer's, newest first. Raises StoreError."""
        for session in self._newest(but):
            if viewer is not None and not viewer.has(session.user, session.expert):
                continue
            persona = _Persona()
            for record in self._store.read(session.id, kinds=(*_STARTS, CallFinished.kind)):
                persona.follow(record.event)
                if isinstance(record.event, CallFinished) and record.event.ok:
                    yield PastCall(record.event.tool, record.at, str(persona))

    def tasks(self, *, but: str = "") -> Iterator[TaskCalls]:
        """What models called for each message, the newest session first. Raises StoreError."""
        for session in self._newest(but):
            persona, calls = _Persona(), list[tuple[str, float]]()
            for record in self._store.read(session.id, kinds=(*_STARTS, UserSaid.kind, CallStarted.kind)):
                persona.follow(record.event)
                if isinstance(record.event, UserSaid) and calls:
                    yield TaskCalls(str(persona), tuple(calls))
                    calls = []
                elif isinstance(record.event, CallStarted) and record.event.by == "model":
                    calls.append((record.event.tool, record.at))
            if calls:
                yield TaskCalls(str(persona), tuple(calls))

    def _newest(self, but: str) -> list[SessionSummary]:
        found = (session for session in self._store.sessions() if session.id != but)
        return sorted(found, key=lambda session: (session.ended_at, session.id), reverse=True)


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

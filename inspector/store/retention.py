"""Deletes recorded sessions that are too old or too many, when a session starts and while it runs."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from inspector.core.error import StoreError
from inspector.core.events import Decision as Decision, Failed, SessionsForgotten
from inspector.core.ports import DAY, Clock, EventStore, SessionAge
from inspector.core.stream import LiveSettings, Session


def overdue(
    sessions: Sequence[SessionAge], *, max_count: int, max_days: float, now: float
) -> tuple[str, ...]:
    """The ids of the sessions to delete, oldest first; a limit of 0 means no limit."""
    by_age = sorted(sessions, key=lambda session: (session.ended_at, session.id))
    too_old = [session.id for session in by_age if max_days and now - session.ended_at > max_days * DAY]
    kept = by_age[len(too_old) :]
    too_many = [session.id for session in kept[: max(len(kept) - max_count, 0)]] if max_count else []
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
        if not limits.max_sessions and not limits.max_days:
            return
        due = overdue(
            self._store.ages(),
            max_count=limits.max_sessions,
            max_days=limits.max_days,
            now=self._clock.now(),
        )
        for session in due:
            if self._is_ending:
                return
            if session != self._session.id:
                gone += self._store.forget((session,))

"""Retention deletes what is due at the start and while a session runs, and records it."""

import asyncio
from collections.abc import Sequence

from inspector.core.error import StoreError
from inspector.core.events import Event, Failed, Record, SessionsForgotten, UserSaid
from inspector.core.redaction import Redactor
from inspector.core.settings import RecordSettings, Settings
from inspector.core.stream import LiveSettings, Session
from inspector.store.call_history import Retention
from inspector.store.memory import MemoryStore
from tests.support.fakes import ManualClock
from tests.support.workbench import connected

DAY = 24 * 60 * 60.0
FOREVER = 1e9


class LockedStore(MemoryStore):
    """Nothing can be deleted from it."""

    def forget(self, sessions: Sequence[str]) -> tuple[str, ...]:
        raise StoreError(f"{len(sessions)} sessions are locked", hint="Close the other program.")


def recorded(store: MemoryStore, session: str, at: float) -> None:
    store.append(Record(session, 1, at, UserSaid("hi")))
    store.release(session)


class Ground:
    """A session of now, and retention over its store."""

    def __init__(self, store: MemoryStore, limits: RecordSettings, *, every: float = FOREVER) -> None:
        self.clock = ManualClock()
        self.store = store
        self.live = LiveSettings(Settings(record=limits))
        self.session = Session("now", store, self.clock, Redactor({}))
        self.session.emit(UserSaid("hi"))
        self.retention = Retention(self.session, store, self.clock, self.live, every=every)

    async def next(self, kind: type[Event]) -> Event:
        """The next event of that kind."""
        found: asyncio.Future[Event] = asyncio.get_running_loop().create_future()

        def listen(record: Record) -> None:
            if not found.done():
                found.set_result(record.event)

        self.session.subscribe(listen, (kind.kind,))
        async with asyncio.timeout(5):
            return await found


async def test_what_is_too_old_is_deleted_when_a_session_starts_and_while_it_runs() -> None:
    ground = Ground(MemoryStore(), RecordSettings(max_days=30), every=0.0)
    recorded(ground.store, "ageing", ground.clock.now() - 29 * DAY)
    recorded(ground.store, "old", ground.clock.now() - 31 * DAY)
    ground.retention.start()
    assert await ground.next(SessionsForgotten) == SessionsForgotten(("old",))
    ground.clock.advance(2 * DAY)
    assert await ground.next(SessionsForgotten) == SessionsForgotten(("ageing",))
    await ground.retention.aclose()


async def test_the_session_itself_stays_however_old_it_is() -> None:
    ground = Ground(MemoryStore(), RecordSettings(max_sessions=1, max_days=1))
    ground.store.release("now")
    ground.clock.advance(100 * DAY)
    recorded(ground.store, "old", ground.clock.now() - 2 * DAY)
    ground.retention.start()
    assert await ground.next(SessionsForgotten) == SessionsForgotten(("old",))
    await ground.retention.aclose()
    assert [one.id for one in ground.store.ages()] == ["now"]


async def test_a_session_that_cannot_be_deleted_is_an_event_and_the_session_goes_on() -> None:
    ground = Ground(LockedStore(), RecordSettings(max_days=30))
    recorded(ground.store, "old", ground.clock.now() - 31 * DAY)
    ground.retention.start()
    failed = await ground.next(Failed)
    assert failed == Failed("retention", "1 sessions are locked", "Close the other program.")
    await ground.retention.aclose()
    ground.session.emit(UserSaid("still here"))


async def test_a_new_limit_counts_at_once() -> None:
    store = MemoryStore()
    async with connected(store=store) as rig:
        recorded(store, "old", rig.clock.now() - 5 * DAY)
        gone = asyncio.Event()
        rig.bench.subscribe(lambda record: gone.set() if record.kind == "forgotten" else None)
        rig.bench.change_setting("record.max_days", 2)
        async with asyncio.timeout(5):
            await gone.wait()
        assert [one.id for one in store.ages()] == ["s"]

"""What is remembered between sessions, and for how long sessions are kept."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from inspector.core.error import StoreError
from inspector.core.events import Event, Failed, Record, SessionsForgotten, UserSaid
from inspector.core.ports import ServerMemory, Snapshot
from inspector.core.redaction import Redactor
from inspector.core.server import ConsentItem, Era, RunFile
from inspector.core.settings import RecordSettings, Settings
from inspector.core.stream import LiveSettings, Session
from inspector.core.tool import Annotations, Tool
from inspector.store.call_history import Retention
from inspector.store.server_memory import MemoryServerMemory, SqliteServerMemory
from inspector.store.store import MemoryStore, SqliteStore
from tests.support.fakes import ManualClock
from tests.support.workbench import connected


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolsight.db"


@pytest.fixture(params=["sqlite", "memory"])
def memory(request: pytest.FixtureRequest, path: Path) -> Iterator[ServerMemory]:
    if request.param == "memory":
        yield MemoryServerMemory()
        return
    opened = SqliteServerMemory(path)
    yield opened
    opened.close()


@pytest.mark.parametrize("era", list(Era))
def test_the_era_that_worked_last_is_remembered(memory: ServerMemory, era: Era) -> None:
    memory.remember_era("f", Era.LEGACY)
    memory.remember_era("f", era)
    assert memory.era("f") is era
    assert memory.era("g") is None


FILES = (RunFile("/srv/a.py", "d"), RunFile("/srv/b", "e"))


def test_an_approval_covers_its_items_with_their_files(memory: ServerMemory) -> None:
    assert memory.approved(["f", "g"]) == {}
    memory.approve([ConsentItem("f", "shop", (RunFile("/srv/old.py", "x"),)), ConsentItem("h")], "demo.json")
    memory.approve([ConsentItem("f", "shop", FILES)], "demo.json")
    assert memory.approved(["f", "g"]) == {"f": FILES}
    assert memory.approved(["h", "f"]) == {"h": (), "f": FILES}


def test_the_version_at_the_first_connection_stays_until_the_next_approval(memory: ServerMemory) -> None:
    assert memory.first_version("f", "1.0") == "1.0"
    assert memory.first_version("f", "1.1") == "1.1"
    memory.approve([ConsentItem("f")], "demo.json")
    assert [memory.first_version("f", version) for version in ("", "1.1", "1.2", "1.1")] == [
        *("", "1.1", "1.1", "1.1")
    ]
    memory.approve([ConsentItem("f")], "demo.json")
    assert memory.first_version("f", "1.2") == "1.2"


def test_the_tools_of_the_last_connection_are_remembered(memory: ServerMemory) -> None:
    schema = {"type": "object", "properties": {"n": {"maximum": float("inf")}, "$number": {}}}
    tool = Tool("s", "t", "Does it.", schema, Annotations(read_only=True), {"type": "object"}, "A title")
    memory.remember_tools("f", Snapshot((Tool("s", "old"),), 1.0))
    memory.remember_tools("f", Snapshot((tool, Tool("s", "u")), 2.5, "Serves."))
    assert memory.snapshot("f") == Snapshot((tool, Tool("s", "u")), 2.5, "Serves.")
    assert memory.snapshot("g") is None


def test_a_memory_outlives_the_program_beside_the_sessions(path: Path) -> None:
    store, first = SqliteStore(path), SqliteServerMemory(path, now=lambda: 12.0)
    store.append(Record("s", 1, 1.0, UserSaid("hello")))
    first.approve([ConsentItem("f")], "caf\ud800.json")
    first.remember_era("f", Era.MODERN)
    first.close()
    store.close()
    second = SqliteServerMemory(path)
    assert (second.approved(["f"]), second.era("f")) == ({"f": ()}, Era.MODERN)
    second.close()
    with sqlite3.connect(path) as other:
        rows = other.execute("SELECT * FROM approval").fetchall()
    other.close()
    assert rows == [("f", "caf\\ud800.json", 12.0, "")]


@pytest.mark.parametrize("tools", ["[[", "{}", '[{"server": 1}]', "[" * 100_000])
def test_a_snapshot_that_cannot_be_read_is_none(path: Path, tools: str) -> None:
    memory = SqliteServerMemory(path)
    memory.remember_tools("f", Snapshot((), 0.0))
    with sqlite3.connect(path) as other:
        other.execute("UPDATE snapshot SET definitions = NULL, tools = ?", (tools,))
    other.close()
    assert memory.snapshot("f") is None
    memory.close()


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
    ground = Ground(MemoryStore(), RecordSettings(max_days=1))
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

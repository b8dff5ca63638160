"""Circuit breakers that sessions share: in memory, and in the database between two real processes."""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.core.error import BreakerState, FailureKind
from inspector.loop import breaker
from inspector.loop.breaker import Breaker, BreakerKey, Permit, failed
from inspector.loop.breaking import BreakerStore, MemoryBreakers, SqliteBreakers

ROOT = Path(__file__).resolve().parents[2]
KEY = BreakerKey("f" * 64, "list_orders")
OTHER = """
import sys, time
from pathlib import Path
from inspector.loop.breaking import SqliteBreakers
from inspector.loop import breaker
from inspector.loop.breaker import BreakerKey, FailureKind, Permit, failed
path, server, tool, least = sys.argv[1:]
store, key, breaker.MIN_CALLS = SqliteBreakers(Path(path)), BreakerKey(server, tool), int(least)
for line in sys.stdin:
    for _ in range(int(line)):
        store.update(key, lambda one: failed(one, Permit(), time.time(), FailureKind.TIMEOUT))
    print(store.get(key).state, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolsight.db"


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[BreakerStore]:
    if request.param == "memory":
        yield MemoryBreakers()
        return
    opened = SqliteBreakers(path)
    yield opened
    opened.close()


def test_servers_and_their_tools_have_breakers_of_their_own(store: BreakerStore) -> None:
    server = BreakerKey(KEY.server)
    opened = Breaker("shop", BreakerState.OPEN, 1.0, 2.0, "why", ((1.0, True),), 1, 2, ((1, 9.0),))
    store.update(server, lambda _: opened)
    store.update(KEY, lambda one: replace(one, name="shop:list_orders"))
    assert store.every() == {server: opened, KEY: Breaker("shop:list_orders")}


def test_a_change_that_fails_changes_nothing(store: BreakerStore) -> None:
    def fails(_: Breaker) -> Breaker:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.update(KEY, fails)
    assert store.get(KEY) == Breaker()


def test_a_row_that_cannot_be_read_says_nothing(path: Path) -> None:
    store = SqliteBreakers(path)
    store.update(KEY, lambda one: replace(one, why="x"))
    with store._database.transaction() as connection:
        connection.execute('UPDATE breaker SET state = \'{"state":"ajar"}\'')
    assert store.get(KEY) == Breaker()
    store.close()


@pytest.mark.slow
def test_two_processes_lose_no_failure_and_agree_within_a_second(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "MIN_CALLS", 60)
    with SqliteProcess(path) as other:
        store = SqliteBreakers(path)
        other.tell("2")
        assert other.answer() == "closed"
        began = time.monotonic()
        other.tell("1")
        assert other.answer() == "open"
        assert store.get(KEY).state is BreakerState.OPEN
        assert time.monotonic() - began < 1
        store.update(KEY, lambda _: Breaker())
        other.tell("0")
        assert other.answer() == "closed"

        # Both write at the same time, and every failure is counted once.
        fresh = BreakerKey("both")
        with SqliteProcess(path, fresh, 60) as third, SqliteProcess(path, fresh, 60) as fourth:
            third.tell("20")
            fourth.tell("20")
            for _ in range(19):
                store.update(fresh, lambda one: failed(one, Permit(), time.time(), FailureKind.TIMEOUT))
            assert (third.answer(), fourth.answer()) == ("closed", "closed")
            assert len(store.get(fresh).calls) == 59
            third.tell("1")
            assert third.answer() == "open"
        store.close()


class SqliteProcess:
    """Another process that lets the breaker fail as often as it is told, and says in which state it is."""

    def __init__(self, path: Path, key: BreakerKey = KEY, min_calls: int = 3) -> None:
        command = [sys.executable, "-c", OTHER, str(path), key.server, key.tool, str(min_calls)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )

    def __enter__(self) -> "SqliteProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

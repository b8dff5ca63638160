"""When a circuit breaker opens, tries again and closes, and what a failed call is called."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.error import (
    ArgumentsRejected,
    AuthRequired,
    BreakerState,
    CallTimeout,
    ConnectError,
    FailureKind,
    ProtocolError,
    RateLimited,
    ServerExited,
    StoreError,
    ToolsightError,
)
from inspector.loop.breaker import (
    COOL_DOWN,
    LONGEST,
    WINDOW,
    Breaker,
    BreakerKey,
    BreakerStore,
    MemoryBreakers,
    Permit,
    SqliteBreakers,
    admitted,
    ended,
    reset,
)
from inspector.loop.tool_call import failure_of

PATIENCE = 10.0
KEY = BreakerKey("fingerprint", "tool")
DOWN = FailureKind.TRANSPORT


def after(*ends: bool, at: float = 100.0) -> Breaker:
    """A breaker after calls at one time, each with whether it succeeded."""
    breaker = Breaker()
    for ok in ends:
        breaker, permit = admitted(breaker, at, PATIENCE)
        assert permit is not None
        breaker = ended(breaker, permit, at, None if ok else DOWN)
    return breaker


def test_it_opens_when_enough_of_enough_calls_failed() -> None:
    assert after(False, False).state is BreakerState.CLOSED
    assert after(True, True, True, False, False).state is BreakerState.CLOSED
    opened = after(True, True, True, False, False, False)
    assert opened.state is BreakerState.OPEN
    assert opened.why == "3 of 6 calls failed, the last: connection failed"


def test_a_server_that_says_when_to_ask_again_is_not_asked_before_but_within_the_hour() -> None:
    breaker = after(False, False)
    told = ended(breaker, Permit(), 100.0, FailureKind.RATE_LIMIT, 90.0)
    assert told.until == 190.0
    assert "rate limited for 2 min" in told.why
    assert ended(breaker, Permit(), 100.0, FailureKind.RATE_LIMIT, 1e9).until == 100.0 + LONGEST


def test_a_call_from_before_it_opened_says_nothing_later() -> None:
    breaker = after(False, False, False)
    half_open, probe = admitted(breaker, 131.0, PATIENCE)
    assert probe is not None
    assert ended(half_open, Permit(0), 132.0, DOWN) == half_open
    assert ended(half_open, Permit(0), 132.0, None) == half_open


def test_a_probe_that_nobody_reports_does_not_keep_it_shut() -> None:
    breaker, _ = admitted(after(False, False, False), 131.0, PATIENCE)
    assert admitted(breaker, 140.9, PATIENCE)[1] is None
    assert admitted(breaker, 141.0, PATIENCE)[1] is not None


@given(st.integers(-int(LONGEST), int(LONGEST)))
def test_a_clock_that_was_set_back_never_lengthens_a_wait_and_at_most_doubles_a_cool_down(by: int) -> None:
    breaker, cool_down = after(False, False, False, at=1e6), COOL_DOWN
    wait = breaker.wait(1e6 + by)
    assert 0 <= wait <= cool_down
    assert (wait > 0) == (-cool_down <= by < cool_down)


def test_calls_from_before_a_reset_say_nothing() -> None:
    once = reset(after(False, False, False), 101.0)
    permit = admitted(once, 101.0, PATIENCE)[1]
    assert permit is not None
    again = reset(once, 102.0)
    assert ended(again, permit, 103.0, DOWN) == again


def test_a_call_that_is_cancelled_frees_the_place_of_the_one_that_tries() -> None:
    half_open, probe = admitted(after(False, False, False), 131.0, PATIENCE)
    assert probe is not None
    assert admitted(half_open, 132.0, PATIENCE)[1] is None
    freed = ended(half_open, probe, 132.0, FailureKind.CANCELLED)
    assert admitted(freed, 133.0, PATIENCE)[1] is not None


def test_one_answer_closes_it_and_one_failure_opens_it_again() -> None:
    half_open, probe = admitted(after(False, False, False), 131.0, PATIENCE)
    assert probe is not None
    closed = ended(half_open, probe, 132.0, None)
    assert (closed.state, closed.calls) == (BreakerState.CLOSED, ())
    opened = ended(half_open, probe, 132.0, DOWN)
    assert (opened.state, opened.until) == (BreakerState.OPEN, 132.0 + COOL_DOWN)


def test_calls_outside_of_the_window_count_no_more() -> None:
    breaker = ended(after(False, False), Permit(), 100.0 + WINDOW, DOWN)
    assert (breaker.state, len(breaker.calls)) == (BreakerState.CLOSED, 1)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ServerExited("gone"), FailureKind.TRANSPORT),
        (ConnectError("refused"), FailureKind.TRANSPORT),
        (AuthRequired("401"), FailureKind.TRANSPORT),
        (ToolsightError("there is no server"), FailureKind.TRANSPORT),
        (CallTimeout("slow"), FailureKind.TIMEOUT),
        (RateLimited("429", retry_after=7), FailureKind.RATE_LIMIT),
        (ArgumentsRejected("-32602"), FailureKind.SCHEMA),
        (ProtocolError("-32603"), FailureKind.PROTOCOL),
        (StoreError("locked"), FailureKind.CANCELLED),
    ],
)
def test_every_error_of_a_call_has_one_kind(error: ToolsightError, kind: FailureKind) -> None:
    assert failure_of(error) is kind


ROOT = Path(__file__).resolve().parents[2]
OTHER = """
import sys, time
from pathlib import Path
from inspector.loop.breaker import BreakerKey, Permit, SqliteBreakers, ended
path, server, tool = sys.argv[1:]
store, key = SqliteBreakers(Path(path)), BreakerKey(server, tool)
print("ready", flush=True)
for _ in range(20):
    store.update(key, lambda one: ended(one, Permit(), time.time(), None))
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
    opened = Breaker("shop", BreakerState.OPEN, 1.0, 2.0, "why", ((1.0, True),), 1, 9.0)
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
def test_two_processes_that_write_at_the_same_time_lose_no_failure(path: Path) -> None:
    store = SqliteBreakers(path)
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(path), KEY.server, KEY.tool], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert other.stdout is not None
    other.stdout.readline()
    for _ in range(20):
        store.update(KEY, lambda one: ended(one, Permit(), time.time(), None))
    assert other.wait(20) == 0
    assert len(store.get(KEY).calls) == 40
    store.close()

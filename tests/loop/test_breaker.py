"""When a circuit breaker opens, tries again and closes, and what a failed call is called."""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

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
    FAILURE_RATE,
    LONGEST,
    MIN_CALLS,
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


@dataclass
class Model:
    """The same by plain bookkeeping: every call that ever ended, and what the state must then be."""

    state: str = "closed"
    ended: list[tuple[float, bool]] = field(default_factory=list)
    until: float = 0.0
    probe: Permit | None = None
    probed_until: float = 0.0
    since: set[Permit] = field(default_factory=set)

    def admit(self, now: float) -> bool:
        if self.state == "open" and now >= self.until:
            self.state, self.probe = "half-open", None
        if self.state == "half-open":
            return self.probe is None or now >= self.probed_until
        return self.state == "closed"

    def began(self, permit: Permit, now: float) -> None:
        if permit.probe:
            self.probe, self.probed_until, self.since = permit, now + PATIENCE, set()
        self.since.add(permit)

    def end(self, permit: Permit, now: float, *, ok: bool) -> None:
        if permit not in self.since or self.state == "open":
            return
        if self.state == "half-open":
            if ok:
                self.state, self.ended = "closed", []
            else:
                self.open(now)
            return
        self.ended.append((now, not ok))
        recent = [did_fail for at, did_fail in self.ended if now - WINDOW < at]
        if not ok and len(recent) >= MIN_CALLS and sum(recent) / len(recent) >= FAILURE_RATE:
            self.open(now)

    def cancel(self, permit: Permit) -> None:
        if self.state == "half-open" and permit == self.probe:
            self.probe = None

    def open(self, now: float) -> None:
        self.state, self.until, self.since = "open", now + COOL_DOWN, set()


class BreakerMachine(RuleBasedStateMachine):
    """Calls that begin, end, are cancelled and forgotten, on a store."""

    permits: Bundle[Permit | None] = Bundle("permits")

    def __init__(self) -> None:
        super().__init__()
        self.now, self.model, self.store = 1_000.0, Model(), self.opened_store()

    def opened_store(self) -> BreakerStore:
        return MemoryBreakers()

    @rule(target=permits)
    def begin(self) -> Permit | None:
        now, expected = self.now, self.model.admit(self.now)
        before, _ = self.store.update(KEY, lambda one: admitted(one, now, PATIENCE)[0])
        permit = admitted(before, now, PATIENCE)[1]
        assert (permit is not None) is expected
        if permit is not None:
            self.model.began(permit, now)
        return permit

    @rule(permit=consumes(permits), ok=st.booleans())
    def end(self, permit: Permit | None, ok: bool) -> None:
        if permit is None:
            return
        now, known = self.now, permit
        self.model.end(permit, now, ok=ok)
        self.store.update(KEY, lambda one: ended(one, known, now, None if ok else DOWN))

    @rule(permit=consumes(permits))
    def cancel(self, permit: Permit | None) -> None:
        if permit is not None:
            now, known = self.now, permit
            self.model.cancel(permit)
            self.store.update(KEY, lambda one: ended(one, known, now, FailureKind.CANCELLED))

    @rule(permit=consumes(permits))
    def forget(self, permit: Permit | None) -> None:
        """Its process died."""

    @rule(seconds=st.sampled_from((0.5, 4.0, 11.0, 29.0, 31.0, 301.0)))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def reset(self) -> None:
        now = self.now
        self.store.update(KEY, lambda one: reset(one, now))
        self.model = Model()

    @invariant()
    def agrees_with_the_model(self) -> None:
        breaker = self.store.get(KEY)
        assert breaker.state == self.model.state
        if breaker.state is BreakerState.OPEN:
            assert breaker.until == self.model.until


class SqliteBreakerMachine(BreakerMachine):
    """The same where every step reads and writes the file."""

    def opened_store(self) -> BreakerStore:
        self.folder = TemporaryDirectory()
        self.file = SqliteBreakers(Path(self.folder.name) / "toolsight.db")
        return self.file

    def teardown(self) -> None:
        self.file.close()
        self.folder.cleanup()


TestBreaker = BreakerMachine.TestCase
TestBreaker.settings = settings(stateful_step_count=40, deadline=None)
TestSqliteBreaker = pytest.mark.slow(SqliteBreakerMachine.TestCase)
TestSqliteBreaker.settings = settings(max_examples=20, stateful_step_count=30, deadline=None)


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

"""When a circuit breaker opens, tries again and closes, and what a failed call is called."""

from dataclasses import dataclass, field
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
    Permit,
    admitted,
    answered,
    failed,
    failure_of,
    released,
    reset,
)
from inspector.loop.breaking import BreakerStore, MemoryBreakers, SqliteBreakers

PATIENCE = 10.0
KEY = BreakerKey("fingerprint", "tool")
DOWN = FailureKind.TRANSPORT


def after(*ends: bool, at: float = 100.0) -> Breaker:
    """A breaker after calls at one time, each with whether it succeeded."""
    breaker = Breaker()
    for ok in ends:
        breaker, permit = admitted(breaker, at, PATIENCE)
        assert permit is not None
        breaker = answered(breaker, permit, at) if ok else failed(breaker, permit, at, DOWN)
    return breaker


def test_it_opens_when_enough_of_enough_calls_failed() -> None:
    assert after(False, False).state is BreakerState.CLOSED
    assert after(True, True, True, False, False).state is BreakerState.CLOSED
    opened = after(True, True, True, False, False, False)
    assert opened.state is BreakerState.OPEN
    assert opened.why == "3 of 6 calls failed, the last: connection failed"


def test_a_server_that_says_when_to_ask_again_is_not_asked_before_but_within_the_hour() -> None:
    breaker = after(False, False)
    told = failed(breaker, Permit(), 100.0, FailureKind.RATE_LIMIT, 90.0)
    assert told.until == 190.0
    assert "rate limited for 2 min" in told.why
    assert failed(breaker, Permit(), 100.0, FailureKind.RATE_LIMIT, 1e9).until == 100.0 + LONGEST


def test_a_call_from_before_it_opened_says_nothing_later() -> None:
    breaker = after(False, False, False)
    half_open, probe = admitted(breaker, 131.0, PATIENCE)
    assert probe is not None
    assert failed(half_open, Permit(0), 132.0, DOWN) == half_open
    assert answered(half_open, Permit(0), 132.0) == half_open


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


def test_a_reset_is_no_opening_and_calls_from_before_it_say_nothing() -> None:
    once = reset(after(False, False, False), 101.0)
    assert (once.opened, once.resets) == (1, 1)
    permit = admitted(once, 101.0, PATIENCE)[1]
    assert permit is not None
    again = reset(once, 102.0)
    assert (again.opened, again.resets) == (1, 2)
    assert failed(again, permit, 103.0, DOWN) == again
    # Nor is one forgotten when the breaker closes by itself.
    shut = again
    for _ in range(3):
        shut = failed(shut, Permit(again.generation), 103.0, DOWN)
    half_open, probe = admitted(shut, 134.0, PATIENCE)
    assert probe is not None
    closed = answered(half_open, probe, 134.0)
    assert (closed.state, closed.opened, closed.resets) == (BreakerState.CLOSED, 2, 2)


@dataclass
class Model:
    """The same by plain bookkeeping: every call that ever ended, and what the state must then be."""

    state: str = "closed"
    ended: list[tuple[float, bool]] = field(default_factory=list)
    until: float = 0.0
    running: dict[Permit, float] = field(default_factory=dict)
    opened: int = 0
    resets: int = 0

    def admit(self, now: float) -> bool:
        if self.state == "open" and now >= self.until:
            self.state, self.running = "half-open", {}
        if self.state == "half-open":
            self.running = {permit: until for permit, until in self.running.items() if now < until}
            return not self.running
        return self.state == "closed"

    def end(self, permit: Permit, now: float, *, ok: bool) -> None:
        if permit.generation != self.opened + self.resets or self.state == "open":
            return
        if self.state == "half-open":
            self.running.pop(permit, None)
            if ok:
                self.state, self.ended = "closed", []
            else:
                self.open(now)
            return
        self.ended.append((now, not ok))
        recent = [did_fail for at, did_fail in self.ended if now - WINDOW < at]
        if not ok and len(recent) >= MIN_CALLS and sum(recent) / len(recent) >= FAILURE_RATE:
            self.open(now)

    def open(self, now: float) -> None:
        self.state, self.until, self.opened = "open", now + COOL_DOWN, self.opened + 1


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
        if permit is not None and permit.probe:
            self.model.running[permit] = now + PATIENCE
        return permit

    @rule(permit=consumes(permits), ok=st.booleans())
    def end(self, permit: Permit | None, ok: bool) -> None:
        if permit is None:
            return
        now, known = self.now, permit
        self.model.end(permit, now, ok=ok)
        self.store.update(KEY, lambda one: answered(one, known, now) if ok else failed(one, known, now, DOWN))

    @rule(permit=consumes(permits))
    def cancel(self, permit: Permit | None) -> None:
        if permit is not None:
            known = permit
            self.model.running.pop(permit, None)
            self.store.update(KEY, lambda one: released(one, known))

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
        self.model = Model(opened=self.model.opened, resets=self.model.resets + 1)

    @invariant()
    def agrees_with_the_model(self) -> None:
        breaker = self.store.get(KEY)
        assert breaker.state == self.model.state
        assert (breaker.opened, breaker.resets) == (self.model.opened, self.model.resets)
        if breaker.state is BreakerState.OPEN:
            assert breaker.until == self.model.until
        if breaker.state is BreakerState.HALF_OPEN:
            assert {number for number, _ in breaker.probes} == {one.probe for one in self.model.running}


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
    ],
)
def test_every_error_of_a_call_has_one_kind(error: ToolsightError, kind: FailureKind) -> None:
    assert failure_of(error) is kind

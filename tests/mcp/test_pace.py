"""How often the catalog is rebuilt, and how many servers start at a time."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, strategies as st

from inspector.mcp import pace
from inspector.mcp.pace import _AT_ONCE, _PATIENCE, Coalesced, Slot, StartPace

# Whole seconds, so that sums are exact.
SECONDS = st.integers(0, 5)


@dataclass
class Timer:
    """A call that an event loop makes at a time, in seconds."""

    at: float
    call: Callable[[], None] | None

    def cancel(self) -> None:
        self.call = None


class Loop:
    """The part of an event loop that schedules; its clock moves as a test says."""

    def __init__(self) -> None:
        self.at = 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.at

    def call_at(self, at: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(at, call))
        return self.timers[-1]

    def reach(self, at: float) -> None:
        """Make the calls that are due until then, in order."""
        while due := [timer for timer in self.timers if timer.call and timer.at <= at]:
            timer = min(due, key=lambda timer: timer.at)
            self.timers.remove(timer)
            self.at = max(self.at, timer.at)
            assert timer.call is not None
            timer.call()
        self.at = max(self.at, at)


class Work:
    """Something to be called that takes `seconds`; `began` has when it was called."""

    def __init__(self, loop: Loop, seconds: float = 0.0) -> None:
        self.loop, self.seconds = loop, seconds
        self.began: list[float] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def __call__(self) -> None:
        self.began.append(self.loop.at)
        self.loop.at += self.seconds
        self.meanwhile()


@contextmanager
def running(loop: Loop) -> Iterator[None]:
    with patch("asyncio.get_running_loop", lambda: loop):
        yield


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loop]:
    """A loop whose time is counted in whole numbers; the longest pause is far away."""
    monkeypatch.setattr(pace, "LONGEST", 1_000.0)
    loop = Loop()
    with running(loop):
        yield loop


@pytest.mark.parametrize("at_once", [False, True])
def test_a_call_that_fails_keeps_no_later_request_waiting(loop: Loop, at_once: bool) -> None:
    work = Work(loop)
    changes = Coalesced(work)

    def fail() -> None:
        raise RuntimeError

    work.meanwhile = fail
    for _ in range(2):
        changes.soon()
        with pytest.raises(RuntimeError):
            changes.now() if at_once else loop.reach(100)
    work.meanwhile = lambda: None
    changes.soon()
    loop.reach(100)
    assert len(work.began) == 3


@given(SECONDS, st.lists(SECONDS, min_size=1, max_size=30))
def test_the_pause_grows_with_what_a_call_takes_and_no_request_is_lost(
    takes: int, pauses: Sequence[int]
) -> None:
    loop = Loop()
    work = Work(loop, takes)
    changes = Coalesced(work)
    requests = []
    with running(loop), pytest.MonkeyPatch.context() as patch:
        patch.setattr(pace, "LONGEST", 1e9)
        for pause in pauses:
            loop.reach(loop.at + pause)
            changes.soon()
            requests.append(loop.at)
        loop.reach(1_000)
    assert len(work.began) <= len(requests)
    assert work.began[-1] >= requests[-1]
    for one, other in zip(work.began, work.began[1:], strict=False):
        assert other - (one + takes) >= 10 * takes
    for request in requests:
        # A request waits for one call and its pause at most.
        assert any(request <= began <= request + 11 * takes for began in work.began)


Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "begin", "end", "expire", "cancel", "end and cancel"]), st.integers(0, 9)
    ),
    max_size=40,
)


class Scene:
    """Servers that want to start at one pace; patience is over when a test says so."""

    def __init__(self) -> None:
        self.pace = StartPace()
        self.waiting: list[asyncio.Task[Slot]] = []
        self.started: list[Slot] = []
        self.timers: list[tuple[float, Callable[[], None]]] = []
        # Those that count: started, not ended, and their patience is not over.
        self.counting: list[Slot] = []

    def later(self, seconds: float, call: Callable[[], None], *_: Any) -> SimpleNamespace:
        self.timers.append((seconds, call))
        return SimpleNamespace(cancel=lambda: self.forget(call))

    def forget(self, call: Callable[[], None]) -> None:
        self.timers = [timer for timer in self.timers if timer[1] != call]

    async def begin(self, times: int = 1) -> None:
        self.waiting += [asyncio.create_task(self.pace.begin()) for _ in range(times)]
        await self.settle()

    async def settle(self) -> None:
        """Let every start that may begin do so."""
        for _ in range(5):
            await asyncio.sleep(0)
        for task in [task for task in self.waiting if task.done()]:
            self.waiting.remove(task)
            if not task.cancelled():
                self.started.append(task.result())
                self.counting.append(task.result())

    def end(self, start: Slot) -> None:
        start.end()
        if start in self.counting:
            self.counting.remove(start)

    def expire(self, start: Slot) -> None:
        """The patience for a start is over."""
        for _, call in [timer for timer in self.timers if timer[1] == start.end]:
            call()
        if start in self.counting:
            self.counting.remove(start)


def plays(scene: Callable[[Scene], Any]) -> None:
    """Run a scene on an event loop without a clock."""

    async def play() -> None:
        starting = Scene()
        with patch.object(asyncio.get_running_loop(), "call_later", starting.later):
            await scene(starting)
            for task in starting.waiting:
                task.cancel()

    asyncio.run(play())


def test_a_start_that_takes_long_keeps_others_waiting_for_a_moment_only() -> None:
    async def scene(starting: Scene) -> None:
        await starting.begin(10)
        assert [seconds for seconds, _ in starting.timers] == [_PATIENCE] * _AT_ONCE
        starting.expire(starting.started[0])
        await starting.settle()
        assert len(starting.started) == _AT_ONCE + 1
        # It ends at last, and gives nothing back that it has given already.
        starting.end(starting.started[0])
        await starting.settle()
        assert len(starting.started) == _AT_ONCE + 1

    plays(scene)


@given(STEPS)
def test_never_more_than_a_few_start_and_no_free_place_is_left_waiting(steps: Sequence[Step]) -> None:
    async def scene(starting: Scene) -> None:
        for step, number in steps:
            if step == "begin":
                await starting.begin()
            if starting.started and step.startswith("end"):
                starting.end(starting.started[number % len(starting.started)])
            if starting.started and step == "expire":
                starting.expire(starting.started[number % len(starting.started)])
            if starting.waiting and step.endswith("cancel"):
                starting.waiting[number % len(starting.waiting)].cancel()
            await starting.settle()
            assert len(starting.counting) <= _AT_ONCE
            assert len(starting.counting) == _AT_ONCE or not starting.waiting

    plays(scene)


def test_a_call_that_failed_is_made_again_by_who_needs_it(loop: Loop) -> None:
    work = Work(loop)
    changes = Coalesced(work)

    def fail() -> None:
        raise RuntimeError

    work.meanwhile = fail
    changes.soon()
    with pytest.raises(RuntimeError):
        loop.reach(0)
    work.meanwhile = lambda: None
    changes.now()
    changes.now()
    assert len(work.began) == 2

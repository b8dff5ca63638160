"""How often the catalog is rebuilt, and how many servers start at a time."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from inspector.mcp import pace
from inspector.mcp.pace import _AT_ONCE, Coalesced, StartPace


class Loop:
    """The part of an event loop that schedules one call; its clock moves as a test says."""

    def __init__(self) -> None:
        self.at = 0.0
        self.due: tuple[float, Callable[[], None]] | None = None

    def time(self) -> float:
        return self.at

    def call_at(self, at: float, call: Callable[[], None]) -> SimpleNamespace:
        self.due = (at, call)
        return SimpleNamespace(cancel=lambda: setattr(self, "due", None))

    def reach(self, at: float) -> None:
        """Let time pass, and make the call that is due."""
        if self.due is not None and self.due[0] <= at:
            (self.at, call), self.due = self.due, None
            call()
        self.at = max(self.at, at)


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    loop = Loop()
    monkeypatch.setattr("asyncio.get_running_loop", lambda: loop)
    monkeypatch.setattr(pace, "LONGEST", 1_000.0)
    return loop


def test_the_pause_grows_with_what_a_call_takes_and_no_request_is_lost(loop: Loop) -> None:
    began: list[float] = []

    def work() -> None:
        began.append(loop.at)
        loop.at += 3

    changes = Coalesced(work)
    changes.soon()
    changes.soon()
    loop.reach(0)
    assert began == [0]
    changes.soon()
    loop.reach(32)
    assert began == [0]
    loop.reach(33)
    assert began == [0, 33]
    changes.soon()
    changes.now()
    changes.now()
    assert began == [0, 33, 36]


@pytest.mark.parametrize("at_once", [False, True])
def test_a_call_that_fails_is_made_again_and_keeps_no_request_waiting(loop: Loop, at_once: bool) -> None:
    outcomes = [RuntimeError(), RuntimeError(), None, None]
    made: list[object] = []

    def work() -> None:
        made.append(outcome := outcomes.pop(0))
        if outcome is not None:
            raise outcome

    changes = Coalesced(work)
    for _ in range(2):
        changes.soon()
        with pytest.raises(RuntimeError):
            changes.now() if at_once else loop.reach(100)
    changes.now()
    changes.now()
    assert made[2:] == [None]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_only_a_few_start_at_a_time_and_no_free_place_is_left_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "_PATIENCE", 1_000.0)
    starting = StartPace()
    starts = [asyncio.create_task(starting.begin()) for _ in range(_AT_ONCE + 2)]
    await settle()
    assert [start.done() for start in starts] == [True] * _AT_ONCE + [False] * 2
    starts[-1].cancel()
    for _ in range(2):
        # A second end gives nothing back that was given already.
        starts[0].result().end()
    await settle()
    assert starts[_AT_ONCE].done()
    await starting.calm()
    later = asyncio.create_task(starting.begin())
    await settle()
    assert not later.done()
    starts[1].result().end()
    (await later).end()


async def test_a_start_that_takes_long_keeps_others_waiting_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "_PATIENCE", 0.0)
    starting = StartPace()
    async with asyncio.timeout(15):
        await asyncio.gather(*(starting.begin() for _ in range(_AT_ONCE * 3)))

"""How many servers start at a time."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from hypothesis import given, strategies as st

from inspector.mcp.pace import _AT_ONCE, _PATIENCE, Slot, StartPace

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


def test_a_few_servers_start_at_a_time_and_each_end_lets_one_more_start() -> None:
    async def scene(starting: Scene) -> None:
        await starting.begin(10)
        assert len(starting.started) == _AT_ONCE
        starting.end(starting.started[0])
        await starting.settle()
        assert len(starting.started) == _AT_ONCE + 1

    plays(scene)


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


def test_an_end_that_is_told_twice_gives_one_place_back() -> None:
    async def scene(starting: Scene) -> None:
        await starting.begin(10)
        for _ in range(2):
            starting.end(starting.started[0])
        await starting.settle()
        assert len(starting.started) == _AT_ONCE + 1
        assert len(starting.timers) == _AT_ONCE

    plays(scene)


def test_a_start_given_up_while_it_waits_takes_and_gives_no_place() -> None:
    async def scene(starting: Scene) -> None:
        await starting.begin(_AT_ONCE + 2)
        first, second = starting.waiting
        first.cancel()
        await starting.settle()
        assert len(starting.started) == _AT_ONCE
        # Given up in the moment in which it gets its place: the place is another's.
        await starting.begin()
        starting.end(starting.started[0])
        second.cancel()
        await starting.settle()
        assert second.cancelled()
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

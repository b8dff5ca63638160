"""What the app hears of a session: one view a burst, with the newest records."""

from collections.abc import Callable

import pytest

from inspector.app.stream import KEPT_IN_FEED, Bridge, View
from inspector.core.events import MilestoneReached
from tests.support.workbench import opened


class Timers:
    """Timers that fire when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.seconds: list[float] = []

    def soon(self, callback: Callable[[], None], seconds: float) -> None:
        self.waiting.append(callback)
        self.seconds.append(seconds)

    def fire(self) -> None:
        due, self.waiting = self.waiting, []
        for callback in due:
            callback()


def milestones(view: View) -> list[str]:
    return [record.event.name for record in view.feed if isinstance(record.event, MilestoneReached)]


async def test_the_feed_keeps_the_newest_500_records_and_no_more() -> None:
    timers, shown = Timers(), list[View]()
    async with opened() as rig:
        Bridge(rig.bench, timers.soon, shown.append)
        for number in range(KEPT_IN_FEED + 3):
            rig.bench.milestone(str(number))
        timers.fire()
    assert KEPT_IN_FEED == 500
    assert milestones(shown[-1]) == [str(number) for number in range(3, 503)]


async def test_a_burst_of_records_is_shown_once() -> None:
    timers, shown = Timers(), list[View]()
    async with opened() as rig:
        bridge = Bridge(rig.bench, timers.soon, shown.append)
        for number in range(5):
            rig.bench.milestone(str(number))
        timers.fire()
        assert [milestones(view) for view in shown] == [["0", "1", "2", "3", "4"]]
        assert shown[0].state == rig.bench.state
        timers.fire()
        assert len(shown) == 1
        bridge.close()
        rig.bench.milestone("late")
        timers.fire()
        assert len(shown) == 1


async def test_while_a_server_connects_the_page_is_drawn_ten_times_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    timers, shown = Timers(), list[View]()
    async with opened() as rig:
        Bridge(rig.bench, timers.soon, shown.append)
        rig.bench.milestone("before")
        timers.fire()
        await rig.bench.reconnect("shop")
        timers.fire()
        rig.bench.milestone("after")
    assert [seconds < 0.1 for seconds in timers.seconds] == [True, False, True]

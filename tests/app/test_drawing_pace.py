"""How long records are gathered before a page is drawn again."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from inspector.app import app as app_module
from inspector.app.app import ToolsightApp

SHORTEST, LONGEST, FACTOR = 0.03, 0.5, 3


class Drawing:
    """An app without a screen whose clock a test moves; `pauses` has the seconds before each drawing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(app_module, "_GATHERING_FACTOR", FACTOR)

        async def never() -> Any:
            raise AssertionError

        self.at, self.drawn = 0.0, 0
        self.pauses: list[float] = []
        self.app = ToolsightApp(never)
        monkeypatch.setattr("time.perf_counter", lambda: self.at)
        monkeypatch.setattr(asyncio.get_running_loop(), "call_later", self._later)
        monkeypatch.setattr(self.app, "call_later", lambda call, *given: call(*given))
        monkeypatch.setattr(self.app, "call_after_refresh", self._refresh)

    def _later(self, pause: float, call: Callable[..., None], *given: Any) -> None:
        self.pauses.append(pause)
        call(*given)

    def _refresh(self, call: Callable[..., None], *given: Any) -> None:
        self.at += self.refresh_takes
        call(*given)

    def draw(self, seconds: float, refresh: float = 0.0) -> None:
        """Draw what takes so long, and then so long until it is on the screen."""

        def callback() -> None:
            self.drawn += 1
            self.at += seconds

        self.refresh_takes = refresh
        self.app.soon(callback)


async def test_drawing_that_takes_long_is_followed_by_a_longer_pause_of_half_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawing = Drawing(monkeypatch)
    for seconds in (0.001, 0.1, 0.05, 60, 0.001, 0):
        drawing.draw(seconds)
    assert drawing.pauses == pytest.approx([SHORTEST, SHORTEST, 0.3, 0.15, LONGEST, SHORTEST])
    assert drawing.drawn == 6


async def test_the_time_until_the_page_is_on_the_screen_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = Drawing(monkeypatch)
    for _ in range(2):
        drawing.draw(0.05, refresh=0.05)
    assert drawing.pauses == pytest.approx([SHORTEST, 0.3])

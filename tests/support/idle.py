"""Waiting for an app by what it still has to do, not by the clock."""

import asyncio
from typing import Any

import pytest
from textual import app as app_module, pilot as pilot_module
from textual._context import active_app
from textual.screen import Screen

_TURNS = 20_000


def quicken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a pilot wait until the app is idle after every key and pause."""
    for module in (app_module, pilot_module):
        monkeypatch.setattr(module, "wait_for_idle", idle)


async def idle(*_: float) -> None:
    """Let the app go on until no task of it can: every message is handled, and everything is drawn.

    Takes the place of Textual's own wait, which sleeps until the process uses no processor: that takes 40 ms
    a key at best, and ends too early on a busy machine. What threads and timers bring is not waited for.
    """
    loop, app = asyncio.get_running_loop(), active_app.get(None)
    for _turn in range(_TURNS):
        await asyncio.sleep(0)
        if loop._ready:  # type: ignore[attr-defined]
            continue
        if app is None or app._exit or not app.screen_stack:
            return
        if app._resize_event is not None:
            app._check_resize()
        elif _waits_for_a_frame(app.screen):
            app.screen._on_timer_update()
        else:
            return
    raise AssertionError("the app never comes to rest")


def _waits_for_a_frame(screen: Screen[Any]) -> bool:
    if screen._callbacks:
        return True
    return screen.is_current and bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
    )

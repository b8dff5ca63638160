"""`Guarded`: what a question needs that comes up of itself, perhaps under the hands of someone who types."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

from textual import events
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, TextArea

# Seconds until it takes a key, and until a burst of keys is over: longer than between two letters of a word.
_FIRST, _PAUSE = 1.0, 0.7


class Guarded(Screen[Any]):
    """A question that takes no key in its first second, and none of a burst that began before.

    They go on to the input below. The app has to ask `pass_on` before it handles a key or a paste.
    """

    clock: ClassVar[Callable[[], float]] = time.monotonic
    """Seconds from any beginning."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._quiet_at = self._now() + _FIRST
        self._look: Timer | None = None

    @property
    def takes_text(self) -> bool:
        """Whether letters are for it now, if keys are; else they go on to the input below."""
        return False

    def on_mount(self) -> None:
        self._show_state()

    def show_waiting(self, waiting: bool) -> None:
        """Say whether it takes an answer now."""

    def pass_on(self, event: events.Event) -> bool:
        """Whether a key or a paste is not for the question; then the input below has got it."""
        now = self._now()
        is_text = isinstance(event, events.Paste) or (
            isinstance(event, events.Key) and (event.is_printable or event.key == "backspace")
        )
        if now >= self._quiet_at and (self.takes_text or not is_text):
            return False
        self._quiet_at = max(self._quiet_at, now + _PAUSE)
        self._show_state()
        below = self.app.screen_stack[-2].focused
        if isinstance(below, Input | TextArea):
            # What the input has no use for would go up to the app, and from there to the question.
            event.stop()
            below._forward_event(event)
        return True

    def _now(self) -> float:
        return type(self).clock()

    def _show_state(self) -> None:
        """Tell whether it takes an answer now, and look again when it does."""
        left = self._quiet_at - self._now()
        self.show_waiting(left > 0)
        if self._look is not None:
            self._look.stop()
        self._look = self.set_timer(left, self._show_state) if left > 0 else None

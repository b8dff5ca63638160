"""`GuardedConfirm`: a question that comes up of itself, perhaps under the hands of someone who types."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, TextArea

from widgets.confirm import Choice, Confirm

# Seconds until it takes a key, and until a burst of keys is over: longer than between two letters of a word.
_FIRST, _PAUSE = 1.0, 0.7
_WAITING = "one moment: what you type goes on"
_READY = "← → choose   enter answers   esc means no"


class GuardedConfirm(Confirm):
    """Letters are never an answer: they go on to the input below, and so does every key of a burst.

    The last choice has the focus, so make that the refusal. The app has to ask `pass_on` before it handles a
    key or a paste.
    """

    DEFAULT_CSS = "GuardedConfirm > Vertical { border-subtitle-color: $text-muted; }"
    AUTO_FOCUS = "Button:last-of-type"
    clock: ClassVar[Callable[[], float]] = time.monotonic
    """Seconds from any beginning."""

    def __init__(
        self, title: str, body: Content | str = "", choices: Sequence[Choice] = (), *, indent: int = 0
    ) -> None:
        letterless = [Choice("", choice.label, choice.value) for choice in choices]
        super().__init__(title, body, letterless, indent=indent)
        self._quiet_at = self._now() + _FIRST
        self._look: Timer | None = None

    def on_mount(self) -> None:
        self._show_state()

    def pass_on(self, event: events.Event) -> bool:
        """Whether a key or a paste is not for the question; then the input below has got it."""
        now = self._now()
        is_text = isinstance(event, events.Paste) or (
            isinstance(event, events.Key) and (event.is_printable or event.key == "backspace")
        )
        if not is_text and now >= self._quiet_at:
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
        self.query_one(Vertical).border_subtitle = _WAITING if left > 0 else _READY
        if self._look is not None:
            self._look.stop()
        self._look = self.set_timer(left, self._show_state) if left > 0 else None

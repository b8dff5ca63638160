"""`Guarded`: what a question needs that comes up of itself, perhaps under the hands of someone who types."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

# Seconds until it takes an answer, and until a burst of keys is over: longer than between two letters.
_FIRST, _PAUSE = 1.0, 0.7


class _TooSmall(Widget):
    """Stands in for a question that cannot be shown: it can only be refused."""

    DEFAULT_CSS = """
    _TooSmall { display: none; height: auto; padding: 0 1; background: $surface; }
    _TooSmall > Static { height: auto; }
    _TooSmall > Button { width: auto; min-width: 6; }
    """

    def __init__(self, least: Size, refuse: Callable[[], None]) -> None:
        super().__init__()
        self._refuse = refuse
        self._least = f"{least.width} x {least.height}"

    def compose(self) -> ComposeResult:
        """What to do, and the one answer."""
        yield Static(Content(f"Terminal too small for this question. Enlarge it to {self._least}."))
        yield Button(Content("no"), compact=True)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self._refuse()


class Guarded(Screen[Any]):
    """A question that takes no answer in its first second, and no key of a burst that began before.

    Keys go on to the input below. The app has to ask `pass_on` before it handles a key or a paste. In a
    terminal that is smaller than `least` it only says so, and can only be refused.
    """

    clock: ClassVar[Callable[[], float]] = time.monotonic
    """Seconds from any beginning."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._opens_at = self._quiet_at = self._now() + _FIRST
        self._is_pressed_early = True
        self._look: Timer | None = None

    @property
    def takes_text(self) -> bool:
        """Whether letters are for it now, if keys are; else they go on to the input below."""
        return False

    @property
    def least(self) -> Size:
        """The smallest terminal that shows enough of it for any other answer than the refusal."""
        return Size(0, 0)

    @property
    def is_too_small(self) -> bool:
        """Whether it can only be refused."""
        return self.app.size.width < self.least.width or self.app.size.height < self.least.height

    def on_mount(self) -> None:
        self._small = _TooSmall(self.least, self.action_refuse)
        self.mount(self._small)
        # It is seen from its first frame on, however long ago it was made.
        self.call_after_refresh(self._begin)
        self._begin()

    def on_resize(self) -> None:
        """Say so if it does not fit, and take its time again once it does."""
        is_too_small = self.is_too_small
        if is_too_small is self._small.display:
            return
        self._small.display = is_too_small
        for part in self.query_children(Vertical):
            part.display = not is_too_small
        self._begin()
        self.call_after_refresh(self._focus_refusal)

    def action_refuse(self) -> None:
        """Give the answer that changes nothing."""
        self.dismiss(None)

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

    def _forward_event(self, event: events.Event) -> None:
        """Let no click through that began in the first second, or before the question was there."""
        if isinstance(event, events.MouseDown):
            self._is_pressed_early = self._now() < self._opens_at
        is_click = isinstance(event, events.MouseDown | events.MouseUp | events.Click)
        if not (is_click and self._is_pressed_early):
            super()._forward_event(event)

    def _begin(self) -> None:
        """Take no answer for a second."""
        self._opens_at = self._quiet_at = self._now() + _FIRST
        self._is_pressed_early = True
        self._show_state()

    def _focus_refusal(self) -> None:
        buttons = self._small.query(Button) if self._small.display else self.query(str(self.AUTO_FOCUS))
        self.set_focus(buttons.first())

    def _now(self) -> float:
        return type(self).clock()

    def _show_state(self) -> None:
        """Tell whether it takes an answer now, and look again when it does."""
        left = self._quiet_at - self._now()
        self.show_waiting(left > 0)
        if self._look is not None:
            self._look.stop()
        self._look = self.set_timer(left, self._show_state) if left > 0 else None

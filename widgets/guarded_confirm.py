"""`GuardedConfirm`: a question that comes up of itself, perhaps under the hands of someone who types."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size

from widgets.confirm import Choice, Confirm
from widgets.guarded import Guarded

_WAITING = "one moment: keys go to the input below"
_READY = "← → choose   enter answers   esc means no"
# Its frame and padding take six columns, and all of it at most nine tenths of the terminal. In a lower one
# the answers are cut off, or fewer than four lines of the text are seen at once.
_FRAME, _SHARE, _LEAST_HEIGHT = 6, 0.9, 17
_LEAST_BUTTON = 10


class GuardedConfirm(Confirm, Guarded):
    """Letters are never an answer: they go on to the input below, and so does every key of a burst.

    The last choice has the focus, so make that the refusal, and the one before it the narrowest yes: that is
    where tab and the arrows lead from the refusal. The app has to ask `pass_on` before it handles a key or a
    paste.
    """

    DEFAULT_CSS = "GuardedConfirm > Vertical { border-subtitle-color: $text-muted; }"
    AUTO_FOCUS = "Button:last-of-type"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next_answer(True)", show=False),
        Binding("right", "next_answer(False)", show=False),
    ]

    def __init__(
        self, title: str, body: Content | str = "", choices: Sequence[Choice] = (), *, indent: int = 0
    ) -> None:
        letterless = [Choice("", choice.label, choice.value) for choice in choices]
        super().__init__(title, body, letterless, indent=indent)

    @property
    def least(self) -> Size:
        """So large that every answer is seen whole, and some of the text above them."""
        widths = (max(cell_len(choice.label) + 2, _LEAST_BUTTON) for choice in self._choices)
        return Size(ceil((sum(widths) + len(self._choices) - 1 + _FRAME) / _SHARE), _LEAST_HEIGHT)

    def action_next_answer(self, turns: bool) -> None:
        """Focus the next answer; what comes after the last is never the first, which allows the most.

        If it `turns`, that is the one before the last.
        """
        if self.focused is not self.query(".confirm--choices > Button").last():
            self.focus_next()
        elif turns and len(self._choices) > 1:
            self.focus_previous()

    def show_waiting(self, waiting: bool) -> None:
        """Say whether it takes an answer now."""
        self.query_one(Vertical).border_subtitle = _WAITING if waiting else _READY

"""`GuardedConfirm`: a question that comes up of itself, perhaps under the hands of someone who types."""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import Vertical
from textual.content import Content

from widgets.confirm import Choice, Confirm
from widgets.guarded import Guarded

_WAITING = "one moment: what you type goes on"
_READY = "← → choose   enter answers   esc means no"


class GuardedConfirm(Confirm, Guarded):
    """Letters are never an answer: they go on to the input below, and so does every key of a burst.

    The last choice has the focus, so make that the refusal. The app has to ask `pass_on` before it handles a
    key or a paste.
    """

    DEFAULT_CSS = "GuardedConfirm > Vertical { border-subtitle-color: $text-muted; }"
    AUTO_FOCUS = "Button:last-of-type"

    def __init__(
        self, title: str, body: Content | str = "", choices: Sequence[Choice] = (), *, indent: int = 0
    ) -> None:
        letterless = [Choice("", choice.label, choice.value) for choice in choices]
        super().__init__(title, body, letterless, indent=indent)

    def show_waiting(self, waiting: bool) -> None:
        """Say whether it takes an answer now."""
        self.query_one(Vertical).border_subtitle = _WAITING if waiting else _READY

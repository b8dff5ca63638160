"""An `Input` into which hidden control characters cannot be pasted."""

from __future__ import annotations

import re

from textual.widgets import Input

from widgets.terminal_text import visible

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_CONTROL_IN_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")


def typeable(text: str, *, newlines: bool = False) -> str:
    """Make control characters visible and leave every script's own characters alone.

    An input holds what will be sent, so it may not change more than what could move the terminal.
    """
    pattern = _CONTROL_IN_LINES if newlines else _CONTROL
    return pattern.sub(lambda found: visible(found.group(), newlines=False), text)


class PlainInput(Input):
    """An input of one line, without border, that shows control characters instead of sending them."""

    DEFAULT_CSS = """
    PlainInput { width: 1fr; height: 1; border: none; padding: 0; background: $boost; }
    PlainInput:focus { border: none; background: $primary 15%; }
    """

    def validate_value(self, value: str) -> str:
        """Make control characters visible."""
        return typeable(value)

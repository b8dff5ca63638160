"""An `Input` that accepts no hidden control characters."""

from __future__ import annotations

import re

from textual import events
from textual.widgets import Input

from widgets.own_key import act_on_own_key
from widgets.terminal_text import visible

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_CONTROL_IN_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")


def typeable(text: str, *, newlines: bool = False) -> str:
    """Make control characters visible and leave the characters of every script alone.

    An input holds what will be sent, so only characters that could control the terminal are changed.
    """
    pattern = _CONTROL_IN_LINES if newlines else _CONTROL
    return pattern.sub(lambda match: visible(match.group(), newlines=False), text)


class PlainInput(Input):
    """A borderless one-line input that turns control characters into visible ones."""

    DEFAULT_CSS = """
    PlainInput { width: 1fr; height: 1; border: none; padding: 0; background: $boost; }
    PlainInput:focus { border: none; background: $primary 15%; }
    """

    async def _on_key(self, event: events.Key) -> None:
        """Act on own keys in their order among the letters, which Input types itself."""
        await act_on_own_key(self, event)

    def validate_value(self, value: str) -> str:
        """Make control characters visible."""
        return typeable(value)

"""Where a person writes: a message that grows with its text, and plain inputs; what is typed as a value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.widgets.text_area import Edit, EditResult

from widgets.terminal_text import visible


async def act_on_own_key(widget: Widget, event: events.Key) -> None:
    """Run the action of a key that is the input's own, first of all: below a question it may not go up."""
    if event.is_printable:
        return
    for binding in widget._bindings.key_to_bindings.get(event.key, ()):
        if await widget.app.run_action(binding.action, widget):
            event.stop()
            event.prevent_default()
            return


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


# Keys left to the app (its pages) and to the page around the prompt (scrolling).
_KEYS_OF_OTHERS = frozenset({"up", "down", "pageup", "pagedown", "f6", "f7"})


class Prompt(TextArea, inherit_bindings=False):
    """Text of any number of lines: enter sends it, ctrl+j starts a line, and what is pasted stays whole.

    Up in its first line brings back what was `sent`, newest first, and down in its last line returns to what
    was being written. Control characters become visible ones.
    """

    DEFAULT_CSS = """
    Prompt { height: auto; max-height: 8; border: none; padding: 0; background: $boost; }
    Prompt:focus { border: none; background: $primary 15%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(b for b in TextArea.BINDINGS if isinstance(b, Binding) and b.key not in _KEYS_OF_OTHERS),
        Binding("up", "earlier", "earlier message", show=False),
        Binding("down", "later", "later message", show=False),
    ]

    @dataclass
    class Submitted(Message):
        """Enter was pressed: `value` is what stood in the prompt, which is empty again."""

        prompt: Prompt
        value: str

        @property
        def control(self) -> Prompt:
            return self.prompt

    def __init__(self, placeholder: str = "", *, id: str | None = None) -> None:  # noqa: A002 - as in Textual
        super().__init__(placeholder=placeholder, id=id, highlight_cursor_line=False)
        self.sent: Sequence[str] = ()
        self._steps_back = 0
        self._draft = ""

    @property
    def value(self) -> str:
        """The text; setting it moves the cursor to its end."""
        return self.text

    @value.setter
    def value(self, text: str) -> None:
        self._steps_back = 0
        self._show(text)

    def edit(self, edit: Edit) -> EditResult:
        """Edit with every control character made visible."""
        edit.text = typeable(edit.text.replace("\r\n", "\n").replace("\r", "\n"), newlines=True)
        return super().edit(edit)

    async def _on_key(self, event: events.Key) -> None:
        """Send with enter, start a line with ctrl+j."""
        if event.key not in ("enter", "ctrl+j"):
            await act_on_own_key(self, event)
            return
        event.stop()
        event.prevent_default()
        if event.key == "ctrl+j":
            self.replace("\n", *self.selection)
        elif text := self.text.strip():
            self.value = ""
            self.post_message(self.Submitted(self, text))

    def action_earlier(self) -> None:
        """Move up, or in the first line show what was sent before."""
        if not self.cursor_at_first_line:
            self.action_cursor_up()
        elif self._steps_back < len(self.sent):
            self._draft = self._draft if self._steps_back else self.text
            self._go_back(self._steps_back + 1)

    def action_later(self) -> None:
        """Move down, or in the last line show what was sent after it, and then what was being written."""
        if not self.cursor_at_last_line:
            self.action_cursor_down()
        elif self._steps_back:
            self._go_back(self._steps_back - 1)

    def _go_back(self, steps: int) -> None:
        self._steps_back = steps
        self._show(self.sent[-steps] if steps else self._draft)

    def _show(self, text: str) -> None:
        self.text = typeable(text, newlines=True)
        self.move_cursor(self.document.end)


Kind = Literal["string", "integer", "number", "boolean", "enum", "many", "lines", "text", "json"]


class InvalidValue(ValueError):
    """The typed text is no value of the field; the message says what would be."""


class MissingValue(InvalidValue):
    """Nothing is there where something has to be."""


def parse(kind: Kind, text: str) -> object:
    """Parse typed text. Raises InvalidValue with what is expected."""
    readers: dict[str, Callable[[str], object]] = {
        "integer": _integer,
        "number": _number,
        "lines": _lines,
        "json": _json,
    }
    return readers[kind](text) if kind in readers else text


def _integer(text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise InvalidValue("not a whole number such as 10") from None


def _number(text: str) -> int | float:
    try:
        value = float(text.strip())
    except ValueError:
        raise InvalidValue("not a number such as 2.5") from None
    if not math.isfinite(value):
        raise InvalidValue("JSON does not allow Infinity or NaN")
    return int(text) if text.strip().lstrip("+-").isdecimal() and len(text) < 400 else value


def _lines(text: str) -> object:
    """One text a line, or a JSON array for texts that have lines themselves."""
    return _json(text) if text.lstrip().startswith("[") else text.splitlines()


def written_lines(value: object) -> str:
    """The text that `parse` reads as this list."""
    texts = value if isinstance(value, list) else []
    is_plain = all(isinstance(one, str) and one.splitlines() == [one] for one in texts)
    if texts and is_plain and not texts[0].lstrip().startswith("["):
        return "\n".join(texts)
    return json.dumps(value, indent=2, default=str)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidValue(f"not JSON: {error.msg} at {where}") from None
    except (RecursionError, ValueError):
        raise InvalidValue("the JSON is nested too deeply, or a number in it is too long") from None

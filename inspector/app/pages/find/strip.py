"""The line above the right half: what it can show, with the keys, and what it shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be shown, by its key."""

    name: str
    key: str
    label: str


class _Tab(Static):
    def __init__(self, choice: Choice) -> None:
        super().__init__(id=f"to-{choice.name}")
        self.choice = choice

    def draw(self, *, on: bool) -> None:
        key = "" if on else "$text-warning"
        text = Content.assemble(" ", (self.choice.key, key), f" {self.choice.label} ")
        self.update(text.stylize("reverse bold") if on else text)


class Strip(Horizontal):
    """Posts `Chosen` when something else is clicked; the page decides what is on."""

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.choice_name = name

    def __init__(self, choices: Sequence[Choice], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._choices = choices

    def compose(self) -> ComposeResult:
        yield from map(_Tab, self._choices)

    def show(self, name: str) -> None:
        """Mark what is on."""
        for tab in self.query(_Tab):
            tab.draw(on=tab.choice.name == name)

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        if isinstance(event.widget, _Tab):
            event.stop()
            self.post_message(self.Chosen(event.widget.choice.name))

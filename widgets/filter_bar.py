"""The line below a list or a text where a filter or a search is typed."""

from __future__ import annotations

from textual import events, on
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import AwaitMount
from textual.widgets import Input, Static

from widgets.plain_input import PlainInput
from widgets.record import Record
from widgets.still_text import StillText
from widgets.text import matcher, plain


class FilterBar(Horizontal):
    """A prompt, an input, and a count on the right; hidden until opened.

    They are mounted then: most lists are never filtered, and an input takes as long as the rest of a list.
    """

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        display: none;
        &.-open { display: block; }
        & > .filter-bar--prompt { width: 2; padding: 0; color: $accent; text-style: bold; }
        & > .filter-bar--count { width: auto; padding: 0 1; color: $text-muted; }
    }
    """

    class Edited(Message):
        """The text was changed."""

        def __init__(self, value: str) -> None:
            super().__init__()
            self.value = value

    class Done(Message):
        """Enter was pressed."""

    class Stepped(Message):
        """An arrow or page key was pressed, to move the cursor of the list."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.input = PlainInput(placeholder=placeholder)
        self._count = StillText("", classes="filter-bar--count", markup=False)

    def _show(self) -> AwaitMount:
        self.add_class("-open")
        prompt = Static("/", classes="filter-bar--prompt", markup=False)
        return self.mount(*(() if self.input.is_attached else (prompt, self.input, self._count)))

    @property
    def value(self) -> str:
        """The text in the input."""
        return self.input.value

    def set_value(self, value: str) -> None:
        """Set the text; opens the bar unless the text is empty."""
        if self.input.value != value:
            self.input.value = value
        if value:
            self._show()
        elif not self.input.has_focus:
            self.remove_class("-open")

    def set_count(self, count: str) -> None:
        """Show how many matches there are."""
        self._count.update(plain(count))

    @property
    def is_open(self) -> bool:
        """Whether the bar is on screen."""
        return self.has_class("-open")

    async def open(self) -> None:
        """Show the bar and give it the focus; what is typed behind the key that opens it is for the input."""
        await self._show()
        # `focus()` comes after the keys that are here already.
        self.screen.set_focus(self.input)

    def close(self) -> None:
        """Clear and hide the bar."""
        self.remove_class("-open")
        self.input.value = ""

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Edited(event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_class(bool(event.value), "-open")
        self.post_message(self.Done())

    def on_key(self, event: events.Key) -> None:
        """Pass on the keys that move a cursor up and down."""
        if event.key in {"up", "down", "pageup", "pagedown"}:
            event.stop()
            self.post_message(self.Stepped(event.key))


class RecordFilter:
    """Finds the records that contain every word of a query, and caches their search texts."""

    def __init__(self) -> None:
        self._records: tuple[Record, ...] = ()
        self._haystacks: list[str] = []

    def apply(self, records: tuple[Record, ...], query: str) -> tuple[Record, ...]:
        """Return the records that contain every word, in order, with the headings above them."""
        if not query.strip():
            return records
        if records is not self._records:
            self._records, self._haystacks = records, [record.haystack() for record in records]
        matches = matcher(query)
        kept: list[Record] = []
        heading: Record | None = None
        for record, text in zip(records, self._haystacks, strict=True):
            if record.is_heading:
                heading = record
            if not matches(text):
                continue
            if heading is not None and heading is not record:
                kept.append(heading)
            heading = None
            kept.append(record)
        return tuple(kept)

"""`TextView`: long text to read, search and copy, be it one line of a megabyte or 100,000 lines."""

from __future__ import annotations

from typing import ClassVar, Self

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive

from widgets.filter_bar import FilterBar
from widgets.terminal_text import visible
from widgets.text_lines import TextLines

LIMIT = 4_000_000
"""Longer text is cut here, and its end says so."""


class TextView(Vertical):
    """A scrolling view of soft-wrapped text. `/` searches, n and N step through the matches, y copies."""

    DEFAULT_CSS = """
    TextView { height: 1fr; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", id="text.search"),
        Binding("n", "step(1)", "next match", show=False, id="text.next"),
        Binding("N", "step(-1)", "previous match", show=False, id="text.previous"),
        Binding("y", "copy", "copy", id="text.copy"),
        Binding("escape", "clear_search", "clear search", id="text.clear"),
    ]

    text: reactive[str] = reactive("", init=False)
    """The text; it may come from anywhere."""
    empty: reactive[str] = reactive("", init=False)
    """Shown when there is no text."""

    lines = query_one(TextLines)
    """The part that takes the focus."""

    class Copied(Message):
        """The text is on the clipboard."""

        def __init__(self, text_view: TextView) -> None:
            super().__init__()
            self.text_view = text_view

        @property
        def control(self) -> TextView:
            """The view, for `@on(..., "#id")`."""
            return self.text_view

    def __init__(
        self,
        text: str = "",
        *,
        empty: str = "No text.",
        follow: bool = False,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
        classes: str | None = None,
    ) -> None:
        """Create a view.

        Args:
            text: The initial text.
            empty: Shown when there is no text.
            follow: Show the end of a new text, as of a log whose newest line is the last.
            name: The widget's name.
            id: The widget's id.
            classes: The widget's classes.
        """
        super().__init__(name=name, id=id, classes=classes)
        self._lines = TextLines()
        self._bar = FilterBar("search: ↑ ↓ previous and next match")
        self._shown = ""
        self._follow = follow
        self.set_reactive(TextView.text, text)
        self.set_reactive(TextView.empty, empty)

    def compose(self) -> ComposeResult:
        """Lines, and below them the search."""
        yield self._lines
        yield self._bar

    def on_mount(self) -> None:
        """Show the initial text."""
        self.watch_empty()
        self.watch_text()

    def watch_text(self) -> None:
        """Show the new text."""
        self._shown = visible(self.text, limit=LIMIT)
        self._lines.show(self._shown, end=self._follow)
        if self._bar.is_attached and self._bar.is_open:
            self._find(self._bar.value)

    def watch_empty(self) -> None:
        """Show the new text for an empty view."""
        self._lines.empty = self.empty
        self._lines.refresh()

    def focus(self, scroll_visible: bool = True, *args: bool, **kwargs: bool) -> Self:
        """Give the focus to the lines."""
        self._lines.focus(scroll_visible, *args, **kwargs)
        return self

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """Leave esc to the screen when there is no search to clear."""
        if action in {"clear_search", "step"}:
            return self._bar.is_open
        return True

    async def action_search(self) -> None:
        """Open the search."""
        await self._bar.open()
        self.refresh_bindings()

    def action_step(self, direction: int) -> None:
        """Go to the next or the previous match."""
        self._lines.jump(direction)

    def action_copy(self) -> None:
        """Copy the text as shown."""
        self.app.copy_to_clipboard(self._shown)
        self.post_message(self.Copied(self))

    def action_clear_search(self) -> None:
        """Clear the search and go back to the lines."""
        self.focus()
        self._bar.close()
        self._find("")
        self.refresh_bindings()

    def _find(self, needle: str) -> None:
        matches = self._lines.mark(needle)
        self._bar.set_count(f"{matches:,} found" if needle else "")

    @on(FilterBar.Edited)
    def _edited(self, event: FilterBar.Edited) -> None:
        event.stop()
        self._find(event.value)
        self._lines.jump(1, stay=True)

    @on(FilterBar.Done)
    def _done(self, event: FilterBar.Done) -> None:
        event.stop()
        self.focus()
        self.refresh_bindings()

    @on(FilterBar.Stepped)
    def _stepped(self, event: FilterBar.Stepped) -> None:
        event.stop()
        self._lines.jump(-1 if event.key.endswith("up") else 1)

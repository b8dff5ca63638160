"""The rows of a `RecordList`: a cursor that moves over records and stays with its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size, clamp
from textual.message import Message

from widgets.own_key import open_input_on_key
from widgets.record import Column, Record
from widgets.record_canvas import RecordCanvas


class RecordRows(RecordCanvas, can_focus=True):
    """Moves a cursor over the records it shows; `RecordList` adds the filter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "Up", show=False, id="list.up"),
        Binding("down,j", "step(1)", "Down", show=False, id="list.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="list.page_up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="list.page_down"),
        Binding("home,g", "first", "First", show=False, id="list.first"),
        Binding("end,G", "last", "Last", show=False, id="list.last"),
        Binding("enter", "select", "Open", show=False, id="list.open"),
    ]

    class Moved(Message):
        """The cursor moved to another record, or to none."""

    class Chosen(Message):
        """Enter was pressed, or the record under the cursor was clicked."""

    def __init__(self, columns: Sequence[Column], *, header: bool, lines: int) -> None:
        super().__init__(columns, header=header, lines=lines)
        self.follow = False
        self._is_centered = False
        self._wanted: str | None = None

    async def _on_key(self, event: events.Key) -> None:
        await open_input_on_key(self, event, "filter")

    def show(self, records: tuple[Record, ...], *, otherwise_first: bool = False) -> None:
        """Show `records`; the cursor stays on its record, at the same height on screen.

        Args:
            records: The rows, in order.
            otherwise_first: When its record is gone, the cursor goes to the first row that is no heading,
                not to a neighbor.
        """
        before, at_end = self.current, self._at_end()
        above = (self.cursor or 0) * self._lines - self.scroll_offset.y
        self._wanted = before.key if before else self._wanted
        self.records = records
        self.virtual_size = Size(self.size.width, len(records) * self._lines + self._header_lines)
        self.cursor = self._cursor_after(at_end, self._first() if otherwise_first else self.cursor or 0)
        if before is not None and self.cursor is not None:
            self._scroll_line(self.cursor * self._lines - above)
        self._bring_into_view()
        self.refresh()
        now = self.current
        if (before and before.key) != (now and now.key):
            self.post_message(self.Moved())

    def _at_end(self) -> bool:
        return self.cursor is None or self.cursor == len(self.records) - 1

    def _first(self) -> int:
        rows = (index for index, record in enumerate(self.records) if not record.is_heading)
        return next(rows, 0)

    def _cursor_after(self, at_end: bool, otherwise: int) -> int | None:
        if not self.records:
            return None
        last = len(self.records) - 1
        if self.follow and at_end:
            return last
        old = min(self.cursor or 0, last)
        if self.records[old].key == self._wanted:
            return old
        matches = (index for index, record in enumerate(self.records) if record.key == self._wanted)
        return next(matches, min(otherwise, last))

    def move_to(self, index: int) -> None:
        """Move the cursor to a row and bring it into view."""
        self._is_centered = False
        self._move(index)

    def center(self, index: int) -> None:
        """Move the cursor to a row and keep that row centered at any size, until the cursor moves."""
        self._is_centered = True
        self._move(index)

    def _move(self, index: int) -> None:
        if not self.records:
            return
        index = clamp(index, 0, len(self.records) - 1)
        if index != self.cursor:
            self.cursor = index
            self.refresh()
            self.post_message(self.Moved())
        self._bring_into_view()

    @property
    def _page(self) -> int:
        return max(1, (self.size.height - self._header_lines) // self._lines)

    def _bring_into_view(self) -> None:
        if self.cursor is None or not self.size.height:
            return
        top = self.cursor * self._lines
        window = max(self._lines, self.size.height - self._header_lines)
        if self._is_centered:
            self._scroll_line(max(top - (window - self._lines) // 2, 0))
        else:
            self._scroll_line(clamp(self.scroll_offset.y, top + self._lines - window, top))

    def _scroll_line(self, line: int) -> None:
        if line != self.scroll_offset.y:
            self.scroll_to(y=line, animate=False, force=True)
            self.call_after_refresh(self._draw_bar)

    def _draw_bar(self) -> None:
        """Move the scroll bar: a list scrolled before its layout would show the bar in the old position."""
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y
            self.vertical_scrollbar.refresh()

    def action_step(self, rows: int) -> None:
        """Move the cursor by a number of rows."""
        self.move_to((self.cursor or 0) + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by a number of pages."""
        self.move_to((self.cursor or 0) + pages * self._page)

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self.move_to(0)

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self.move_to(len(self.records) - 1)

    def action_select(self) -> None:
        """Open the record under the cursor."""
        if self.cursor is not None:
            self.post_message(self.Chosen())

    def on_resize(self) -> None:
        """Fit the columns into the new width."""
        self.lay_out()
        self.virtual_size = self.virtual_size.with_width(self.size.width)
        self._bring_into_view()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked row; a click on the row under the cursor opens it."""
        line = event.y - self._header_lines
        index = (line + self.scroll_offset.y) // self._lines
        if line < 0 or index >= len(self.records):
            return
        if index == self.cursor:
            self.action_select()
        else:
            self.move_to(index)

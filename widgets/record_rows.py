"""The canvas and the rows of a `RecordList`: a cursor that stays with its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size, clamp
from textual.message import Message
from textual.strip import Strip

from widgets.line_view import LineView
from widgets.record import (
    GAP,
    Column,
    Record,
    cell,
    cell_text,
    layout,
    natural_widths,
    silent_columns,
)
from widgets.text import MUTED, Painter, component, middle, plain, restyled, shorten, shortened


class _Names(Struct, frozen=True):
    """The names of a column and what is shown of them in some width."""

    records: Sequence[Record]
    texts: list[str]
    shown: dict[str, str]


class RecordCanvas(LineView):
    """A virtual view: 200,000 records cost no more to draw than the twenty that are visible."""

    DEFAULT_CSS = """
    RecordCanvas {
        height: 1fr;
        scrollbar-size-vertical: 1;
        & > .record-list--header { color: $text-muted; text-style: underline; }
        & > .record-list--cursor { background: $foreground 12%; }
        &:focus > .record-list--cursor { background: $primary 30%; text-style: bold; }
        & > .record-list--mark { color: $text-muted; }
        &:focus > .record-list--mark { color: $accent; text-style: bold; }
        & > .record-list--muted { color: $text-muted; }
        & > .record-list--success { color: $text-success; }
        & > .record-list--warning { color: $text-warning; }
        & > .record-list--error { color: $text-error; }
        & > .record-list--accent { color: $text-accent; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "record-list--header",
        "record-list--cursor",
        "record-list--mark",
        "record-list--muted",
        "record-list--success",
        "record-list--warning",
        "record-list--error",
        "record-list--accent",
    }

    def __init__(self, columns: Sequence[Column], *, header: bool, lines: int) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.records: tuple[Record, ...] = ()
        self.cursor: int | None = None
        self.empty = ""
        self._header_lines = 1 if header else 0
        self._lines = lines
        self._naturals = natural_widths(self.columns, ())
        self._silent: frozenset[int] = frozenset()
        self._widths: dict[int, int] = {}
        self._measured: Sequence[Record] = ()
        self._names: dict[tuple[int, int], _Names] = {}
        self._painter = Painter(self)

    @property
    def current(self) -> Record | None:
        """The record under the cursor."""
        return None if self.cursor is None else self.records[self.cursor]

    def measure(self, records: Sequence[Record]) -> None:
        """Lay the columns out for all records, so that a filter does not shift them."""
        self._measured = records
        self._naturals = natural_widths(self.columns, records)
        self._silent = silent_columns(self.columns, records)
        self.lay_out()
        self.refresh()

    @property
    def natural_width(self) -> int:
        """The cells that all columns and a scroll bar take whole."""
        return sum(self._naturals) + GAP * len(self.columns) + 1

    def lay_out(self) -> None:
        """Fit the columns into the width of now."""
        widths = layout(self.columns, self._naturals, self._text_width, self._silent)
        if widths != self._widths:
            self._widths, self._names = widths, {}

    @property
    def _text_width(self) -> int:
        return self.size.width - 2

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painter.forget()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y < self._header_lines:
            return self._header_line(width)
        index, part = divmod(y - self._header_lines + self.scroll_offset.y, self._lines)
        if index < len(self.records):
            return self._record_line(self.records[index], part, index == self.cursor)
        return self._empty_line(y, width)

    def _header_line(self, width: int) -> Strip:
        style = self.get_visual_style("record-list--header")
        cells = tuple(plain(column.header, newlines=False) for column in self.columns)
        pieces = [Content(" "), *self._cells(cells)]
        return self._painter.strip(pieces, style, width)

    def _record_line(self, record: Record, part: int, under_cursor: bool) -> Strip:
        names = [f"record-list--{record.tone}"] if record.tone else []
        if under_cursor:
            names.append("record-list--cursor")
        style = self.get_visual_style(*names)
        mark = Content(" ")
        if under_cursor:
            mark = Content("▌").stylize(component(self, "record-list--mark"))
        if part == 0:
            pieces = self._cells(record.cells)
            if under_cursor:
                # Its background leaves too little contrast.
                pieces = [
                    Content(piece.plain, [span for span in piece.spans if span.style != MUTED])
                    for piece in pieces
                ]
            return self._painter.strip([mark, *pieces], style, self.size.width)
        detail = shorten(cell(record.detail), self._text_width - 2)
        return self._painter.strip(
            [mark, Content("  "), detail.stylize_before("dim")], style, self.size.width
        )

    def _cells(self, cells: Sequence[Content | str]) -> list[Content]:
        """Fit the cells into their columns; as in a spreadsheet, a long one runs on over empty neighbors."""
        shown = [index for index in self._widths if index < len(cells)]
        pieces: list[Content] = []
        while shown:
            index = shown.pop(0)
            content, width = cell(cells[index]), self._widths[index]
            is_right = self.columns[index].align == "right"
            while not is_right and content.cell_length > width and shown and not cells[shown[0]]:
                width += GAP + self._widths[shown.pop(0)]
            text = self._fitted(index, content, width)
            blank = width - text.cell_length
            pieces += [Content(" " * GAP)] if pieces else []
            pieces.append(text.pad_left(blank) if is_right else text.pad_right(blank))
        return pieces

    def _fitted(self, index: int, content: Content, width: int) -> Content:
        where = self.columns[index].shorten
        # Where any name is too long, all are shown alike: with the server, or without it.
        if where != "name" or max(content.cell_length, self._naturals[index]) <= width:
            return shorten(content, width, where=where)
        text = content.plain
        return restyled(content, self._shortened(index, width).get(text) or middle(text, width))

    def _shortened(self, index: int, width: int) -> dict[str, str]:
        """Return what to show of a column's names; they are shortened again only where they changed."""
        made = self._names.get((index, width))
        if made is None or made.records is not self._measured:
            texts = [cell_text(one.cells[index]) for one in self._measured if index < len(one.cells)]
            is_same = made is not None and made.texts == texts
            shown = made.shown if made is not None and is_same else shortened(texts, width)
            made = self._names[index, width] = _Names(self._measured, texts, shown)
        return made.shown

    def _empty_line(self, y: int, width: int) -> Strip:
        style = self.get_visual_style("record-list--muted")
        if self.records or width < 3:
            return Strip([Segment(" " * width, self.rich_style)], width)
        lines = plain(self.empty).wrap(width - 2)
        line = y - self._header_lines
        text = lines[line] if 0 <= line < len(lines) else Content("")
        return self._painter.strip([Content(" "), text], style, width)


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
        self.follow = self._is_centered = False
        self._wanted: str | None = None

    def show(self, records: tuple[Record, ...], otherwise: int | None = None, leaves: bool = False) -> None:
        """Show `records`; the cursor stays on its record, at the same height on screen.

        Args:
            records: The rows, in order.
            otherwise: Where the cursor goes when its record is gone; by default to a neighbor.
            leaves: The cursor leaves its record as if that was gone.
        """
        before, at_end = self.current, self.cursor is None or self.cursor == len(self.records) - 1
        above = (self.cursor or 0) * self._lines - self.scroll_offset.y
        self._wanted = None if leaves else before.key if before else self._wanted
        self.records = records
        self.resize(Size(self.size.width, len(records) * self._lines + self._header_lines))
        self.cursor = self._cursor_after(at_end, (self.cursor or 0) if otherwise is None else otherwise)
        if before is not None and self.cursor is not None:
            self.scroll_line(self.cursor * self._lines - above)
        self._bring_into_view()
        self.refresh()
        now = self.current
        if (before and before.key) != (now and now.key):
            self.post_message(self.Moved())

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

    def _bring_into_view(self) -> None:
        if self.cursor is None or not self.size.height:
            return
        top = self.cursor * self._lines
        window = max(self._lines, self.size.height - self._header_lines)
        if self._is_centered:
            self.scroll_line(max(top - (window - self._lines) // 2, 0))
        else:
            self.scroll_line(clamp(self.scroll_offset.y, top + self._lines - window, top))

    def action_step(self, rows: int) -> None:
        """Move the cursor by a number of rows."""
        self.move_to((self.cursor or 0) + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by a number of pages."""
        self.move_to(
            (self.cursor or 0) + pages * max(1, (self.size.height - self._header_lines) // self._lines)
        )

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
        self.lay_out()
        self.virtual_size = self.virtual_size.with_width(self.size.width)
        self._bring_into_view()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked row; a click on the one under the cursor opens it."""
        line = event.y - self._header_lines
        index = (line + self.scroll_offset.y) // self._lines
        if line < 0 or index >= len(self.records):
            return
        if index == self.cursor:
            self.action_select()
        else:
            self.move_to(index)

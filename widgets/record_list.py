"""`RecordList`: a list of any number of rows with adaptive columns, a filter and a cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive

from widgets.key_bar import FilterBar, RecordFilter
from widgets.record import Column, Record
from widgets.record_rows import RecordRows
from widgets.terminal_text import visible


@dataclass
class RecordMessage(Message):
    """A message about a record."""

    record_list: RecordList
    record: Record

    @property
    def key(self) -> str:
        return self.record.key

    @property
    def control(self) -> RecordList:
        return self.record_list


class RecordList(Vertical):
    """A virtual list of records in columns, with a cursor and a filter.

    Assign a new tuple of records after every change; the cursor stays on its record.

    Args:
        columns, records, empty, follow: Initial values of the reactives.
        header: Whether to show the column headers.
        lines: Lines per row; with two, the second shows `Record.detail`.
        filterable: Whether `/` opens the filter.
        options: Those of any widget.
    """

    DEFAULT_CSS = """
    RecordList { height: 1fr; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", id="list.filter"),
        Binding("y", "copy", "copy", show=False, id="list.copy"),
        Binding("escape", "clear_filter", "clear filter", id="list.clear"),
    ]

    records: reactive[tuple[Record, ...]] = reactive((), always_update=True, layout=False, init=False)
    """The rows; assign a new tuple to change them."""
    columns: reactive[tuple[Column, ...]] = reactive((), init=False)
    """The columns; assign a new tuple to change them."""
    filter_text: reactive[str] = reactive("", init=False)
    """Only rows that contain each of these words are shown."""
    empty: reactive[str] = reactive("", init=False)
    """Shown when there are no rows: what to do next."""
    follow: reactive[bool] = reactive(False, init=False)
    """Stay on the newest row until the cursor is moved away from the end."""

    unmatched = "Nothing matches"  # what is said before the text of a filter that no row passes

    rows = query_one(RecordRows)
    """The part that takes the focus."""

    class Selected(RecordMessage):
        """A record was opened, with enter or a click on the row under the cursor."""

    @dataclass
    class Highlighted(Message):
        """The cursor moved to another record; `key` is `None` when no row is left."""

        record_list: RecordList
        key: str | None

        @property
        def control(self) -> RecordList:
            return self.record_list

    class Copied(RecordMessage):
        """A record's text is on the clipboard."""

    def __init__(
        self,
        columns: Sequence[Column],
        records: Sequence[Record] = (),
        *,
        empty: str = "Nothing here yet.",
        header: bool = False,
        lines: int = 1,
        follow: bool = False,
        filterable: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._rows = RecordRows(columns, header=header, lines=lines)
        self._bar = FilterBar("filter: rows containing every word")
        self._filterable = filterable
        self._filter = RecordFilter()
        self.set_reactive(RecordList.columns, tuple(columns))
        self.set_reactive(RecordList.records, tuple(records))
        self.set_reactive(RecordList.empty, empty)
        self.set_reactive(RecordList.follow, follow)

    def compose(self) -> ComposeResult:
        yield self._rows
        yield self._bar

    def on_mount(self) -> None:
        self._rows.follow = self.follow
        self._show(measure=True)

    @property
    def current(self) -> Record | None:
        """The record under the cursor."""
        return self._rows.current

    @property
    def shown(self) -> tuple[Record, ...]:
        """The records that pass the filter."""
        return self._rows.records

    @property
    def count(self) -> str:
        """How many rows are shown: "74", or "12 of 74" under a filter."""
        total = len(self.records)
        return f"{len(self.shown):,} of {total:,}" if self.filter_text else f"{total:,}"

    @property
    def natural_width(self) -> int:
        """The cells in which no column has to give way and no text is shortened."""
        return self._rows.natural_width

    def focus(self, scroll_visible: bool = True, *args: bool, **kwargs: bool) -> Self:
        """Give the focus to the rows."""
        self._rows.focus(scroll_visible, *args, **kwargs)
        return self

    def move_to(self, key: str) -> bool:
        """Move the cursor to a record, centered; False when no such row is shown."""
        found = [index for index, record in enumerate(self.shown) if record.key == key]
        if found:
            self._rows.center(found[0])
        return bool(found)

    def watch_records(self) -> None:
        self._show(measure=True)

    def watch_columns(self) -> None:
        self._rows.columns = self.columns
        self._show(measure=True)

    def watch_follow(self) -> None:
        self._rows.follow = self.follow
        if self.follow:
            self._rows.action_last()

    def watch_empty(self) -> None:
        self._show()

    def watch_filter_text(self) -> None:
        self._bar.set_value(self.filter_text)
        self._show(filtering=True)

    def _show(self, *, measure: bool = False, filtering: bool = False) -> None:
        if not self._rows.is_attached:
            return
        query = visible(self.filter_text, limit=60, newlines=False)
        unmatched = f"{self.unmatched} “{query}”. esc clears the filter."
        self._rows.empty = unmatched if self.records else self.empty
        if measure:
            self._rows.measure(self.records)
        shown = self._filter.apply(self.records, self.filter_text)
        lead = self._filter.lead(shown, self.current, self.filter_text) if filtering else (None, False)
        self._rows.show(shown, *lead)
        self._bar.set_count(self.count)

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """Leave esc to the screen when there is no filter to clear."""
        return {"clear_filter": self._bar.is_open, "filter": self._filterable}.get(action, True)

    async def action_filter(self) -> None:
        """Open the filter."""
        await self._bar.open()
        self.refresh_bindings()

    def action_clear_filter(self) -> None:
        """Clear the filter and go back to the rows."""
        self.focus()
        self._bar.close()
        self.filter_text = ""
        self.refresh_bindings()

    def action_copy(self) -> None:
        """Copy the row under the cursor."""
        if record := self.current:
            self.app.copy_to_clipboard(record.copy_text())
            self.post_message(self.Copied(self, record))

    @on(FilterBar.Edited)
    def _filter_edited(self, event: FilterBar.Edited) -> None:
        event.stop()
        self.filter_text = self._bar.input.value

    @on(FilterBar.Done)
    def _filter_done(self, event: FilterBar.Done) -> None:
        event.stop()
        self.focus()
        self.refresh_bindings()

    @on(FilterBar.Stepped)
    def _filter_stepped(self, event: FilterBar.Stepped) -> None:
        event.stop()
        move = self._rows.action_page if event.key.startswith("page") else self._rows.action_step
        move(-1 if event.key.endswith("up") else 1)

    @on(RecordRows.Moved)
    def _moved(self, event: RecordRows.Moved) -> None:
        event.stop()
        self.post_message(self.Highlighted(self, self.current.key if self.current else None))

    @on(RecordRows.Chosen)
    def _chosen(self, event: RecordRows.Chosen) -> None:
        event.stop()
        if record := self.current:
            self.post_message(self.Selected(self, record))

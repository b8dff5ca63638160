"""The grid of the timeline: a row a tool, a column a model call, and above the numbers of the calls."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import Struct
from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content, Span
from textual.message import Message
from textual.widgets import Static

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import ICONS
from inspector.core.number import count
from inspector.core.session import Binding
from inspector.features.trace.facts import MOVED
from inspector.session.timeline import Timeline
from widgets import Column, Record, RecordList, middle
from widgets.record import GAP

# The key prefix of the summary rows; no tool id begins like it.
REST = "\0"
_CURSOR = "on $primary 30%"
_LEAST_CELL, _MOST_CELL = 3, 5
_LEAST_NAME, _MOST_NAME = 22, 36
# The cells of a list outside its columns.
_MARGIN = 2
_NO_TOOLS = "No tools yet: they appear as servers connect (see Tools) and move as the model searches."
_NONE_MOVED = "No tool has moved in this session yet. Press f to show all tools."


class Frame(Struct, frozen=True):
    """The columns on screen: `count` of them from `first` on, each `cell` wide, one with the cursor.

    `names` is the width of the tools' names, `cells` that of all columns.
    """

    names: int
    cells: int
    first: int
    count: int
    cursor: int
    cell: int

    @property
    def columns(self) -> range:
        return range(self.first, self.first + self.count)

    @property
    def left(self) -> int:
        """The offset of the columns in a row: after the cursor's mark, the names and a gap."""
        return 1 + self.names + GAP


def frame(timeline: Timeline, cursor: int, first: int, width: int) -> Frame:
    """Return as many columns as fit into `width`, scrolled only as far as the cursor requires."""
    longest = max((len(lane.tool) for lane in timeline.lanes), default=0)
    names = max(min(max(longest, _LEAST_NAME), _MOST_NAME, width // 2), 1)
    cells = max(width - names - GAP, 1)
    cell = max(_LEAST_CELL, len(str(timeline.now)) + 1, min(cells // timeline.now, _MOST_CELL))
    count = max(min(cells // cell, timeline.now), 1)
    first = max(min(max(first, cursor - count + 1), cursor, timeline.now - count + 1), 1)
    return Frame(names, cells, first, count, cursor, cell)


def ruler(timeline: Timeline, shown: Frame, end: str) -> Content:
    """Return two lines above the cells: the user's messages, and the numbers of the model calls."""
    numbers: list[tuple[str, str]] = []
    for column in shown.columns:
        label = end if column == timeline.now else str(column)
        style = f"bold {_CURSOR}" if column == shown.cursor else MUTED
        numbers.append((f"{label:>{shown.cell - 1}} "[: shown.cell], style))
    margin = " " * shown.left
    return Content.assemble(margin, _messages(timeline, shown), "\n", margin, *numbers)


def _messages(timeline: Timeline, shown: Frame) -> Content:
    """Return the user's messages above the calls that answer them; the last gets the remaining room."""
    calls = timeline.calls[shown.first - 1 : shown.columns[-1]]
    starts = [
        index for index, call in enumerate(calls) if index == 0 or call.message != calls[index - 1].message
    ]
    ends = [start * shown.cell for start in starts[1:]] + [shown.cells]
    messages = []
    for start, end in zip(starts, ends, strict=False):
        call, width = calls[start], end - start * shown.cell
        said, mark = middle(call.said, width - 2), "▏" if call.message else " "
        message = Content.assemble((mark, "$primary"), (said, MUTED))
        messages.append(message.pad_right(width - 1 - cell_len(said)))
    return Content("").join(messages)


def rows(timeline: Timeline, shown: Frame, *, only_moved: bool) -> tuple[Record, ...]:
    """Return a row per tool that moved or is pinned by name; the others are summed up or left out."""
    own: list[Counter[Binding | None]] = [Counter() for _ in shown.columns]
    records: list[Record] = []
    for lane in timeline.lanes:
        states = list(lane.states(shown.first, shown.count))
        for counter, (binding, _) in zip(own, states, strict=True):
            counter[binding] += 1
        if not only_moved or any(move.is_move for move in lane.moves):
            cells = (lane.tool, _cells(states, shown))
            records.append(Record(lane.tool, cells, search=lane.tool, copy=lane.tool))
    return (*records, *(() if only_moved else _rest_rows(timeline, shown, own)))


def _rest_rows(timeline: Timeline, shown: Frame, own: list[Counter[Binding | None]]) -> Iterator[Record]:
    at_cursor = timeline.rest(shown.cursor)
    for binding, name in ((Binding.PINNED, "always bound"), (Binding.DEFERRED, "never moved")):
        totals = [timeline.tally(column).tools.get(binding, 0) for column in shown.columns]
        there = [total > counter[binding] for total, counter in zip(totals, own, strict=True)]
        if any(there):
            tools = at_cursor.get(binding, 0)
            label = f"{count(tools, 'tool')} {name}"
            cells = _cells([(binding if is_there else None, False) for is_there in there], shown)
            yield Record(f"{REST}{binding}", (label, cells), tone="muted", search=label, copy=label)


def _cells(states: list[tuple[Binding | None, bool]], shown: Frame) -> Content:
    """Return a sign per column, with a mark before it if the tool moved before the call."""
    text, spans = [], []
    for index, (column, (binding, moved)) in enumerate(zip(shown.columns, states, strict=True)):
        sign, color = ICONS[binding] if binding is not None else (" ", "")
        text.append(f"{MOVED if moved else ''}{sign} ".rjust(shown.cell))
        parts = ("bold" if moved else "", color, _CURSOR if column == shown.cursor else "")
        if style := " ".join(filter(None, parts)):
            spans.append(Span(index * shown.cell, (index + 1) * shown.cell, style))
    return Content("".join(text), spans)


class Lanes(Vertical):
    """The tools over as many calls as fit, with the calls' numbers above."""

    @dataclass
    class Chosen(Message):
        """A column was clicked."""

        column: int

    def __init__(self) -> None:
        super().__init__(classes="pane", id="timeline-lanes")
        self.border_title = "Tools by model call"
        self._timeline = Timeline()
        self._column = 1
        self._first = 1
        self._shown: tuple[str, bool] = ("", False)

    def on_resize(self) -> None:
        """Fit the calls into the new width; a page resized while hidden hears of it only when shown."""
        self.call_after_refresh(self._draw)

    def compose(self) -> ComposeResult:
        yield Static(id="timeline-ruler", markup=False)
        yield RecordList((Column("tool"), Column("calls")), empty=_NO_TOOLS, id="lanes")
        signs = [Content.assemble((sign, color), f" {name}") for name, (sign, color) in ICONS.items()]
        moved = Content.assemble((MOVED, "bold"), " just moved")
        yield Static(Content("  ").join([*signs, moved]), id="timeline-legend", markup=False)

    def show(self, timeline: Timeline, column: int, end: str, *, only_moved: bool) -> None:
        """Draw the columns around one."""
        self._timeline, self._column, self._shown = timeline, column, (end, only_moved)
        self.border_title = f"Tools by {timeline.kind}"
        self._draw()

    def _draw(self) -> None:
        timeline, (end, only_moved) = self._timeline, self._shown
        lanes, shown = self.query_one(RecordList), self._frame
        self._first = shown.first
        columns = (Column("tool", width=shown.names, shorten="name"), Column("calls", width=shown.cells))
        if columns != lanes.columns:
            lanes.columns = columns
        lanes.empty = _NONE_MOVED if only_moved else _NO_TOOLS
        lanes.records = rows(timeline, shown, only_moved=only_moved)
        self.query_one("#timeline-ruler", Static).update(ruler(timeline, shown, end))

    @property
    def _frame(self) -> Frame:
        width = self.query_one(RecordList).rows.size.width - _MARGIN
        return frame(self._timeline, self._column, self._first, width)

    def on_click(self, event: events.Click) -> None:
        """Go to the call of a clicked cell."""
        cells, shown = self.query_one(RecordList).rows, self._frame
        offset = event.screen_x - cells.region.x - shown.left
        if event.widget is cells and 0 <= offset < shown.count * shown.cell:
            self.post_message(self.Chosen(shown.first + offset // shown.cell))

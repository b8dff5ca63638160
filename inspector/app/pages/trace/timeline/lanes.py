"""The grid of the timeline: a row a tool, a column a model call."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from inspector.app.pages.trace.timeline import content
from inspector.domain.timeline import Timeline
from widgets import Column, RecordList

# The cells of a list outside its columns.
_MARGIN = 2
_NO_TOOLS = "No tools yet: they appear as servers connect (see Tools) and move as the model searches."
_NONE_MOVED = "No tool has moved in this session yet. Press f to show all tools."


class Lanes(Vertical):
    """The tools over as many calls as fit, with the calls' numbers above."""

    class Chosen(Message):
        """A column was clicked."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

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
        yield Static(content.legend(), id="timeline-legend", markup=False)

    @property
    def tool(self) -> str:
        """The tool under the cursor, "" if there is none."""
        current = self.query_one(RecordList).current
        return current.key if current is not None else ""

    def show(self, timeline: Timeline, column: int, end: str, *, only_moved: bool) -> None:
        """Draw the columns around one."""
        self._timeline, self._column, self._shown = timeline, column, (end, only_moved)
        self._draw()

    def _draw(self) -> None:
        timeline, (end, only_moved) = self._timeline, self._shown
        lanes, frame = self.query_one(RecordList), self._frame
        self._first = frame.first
        columns = (Column("tool", width=frame.names, shorten="name"), Column("calls", width=frame.cells))
        if columns != lanes.columns:
            lanes.columns = columns
        lanes.empty = _NONE_MOVED if only_moved else _NO_TOOLS
        lanes.records = content.rows(timeline, frame, only_moved=only_moved)
        self.query_one("#timeline-ruler", Static).update(content.ruler(timeline, frame, end))

    @property
    def _frame(self) -> content.Frame:
        width = self.query_one(RecordList).rows.size.width - _MARGIN
        return content.frame(self._timeline, self._column, self._first, width)

    def on_click(self, event: events.Click) -> None:
        """Go to the call of a clicked cell."""
        rows, frame = self.query_one(RecordList).rows, self._frame
        offset = event.screen_x - rows.region.x - frame.left
        if event.widget is rows and 0 <= offset < frame.count * frame.cell:
            self.post_message(self.Chosen(frame.first + offset // frame.cell))

"""The timeline page: every tool over every model call, and replay of any moment on every page."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from inspector.app.base_screen import HeaderLine
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.draw.line import failure_text
from inspector.app.pages.trace.timeline import content
from inspector.app.place import Destination, TracePage
from inspector.app.replay import Replay
from inspector.app.stream import Stream, View
from inspector.app.tool_keys import ToolKeys
from inspector.core.error import ToolsightError
from inspector.core.store_ports import SessionSummary
from inspector.session.timeline import Timeline
from widgets import Column, KeyBar, RecordList, visible

# The grid of the timeline: a row a tool, a column a model call.

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


# More new records than this are read in a thread.
_SMALL = 500
_CURSOR_KEYS = frozenset({"call", "first_call", "last_call", "show_moment"})


class SessionDialog(ChoiceDialog):
    """The recorded sessions, newest first."""

    def __init__(self, found: Sequence[SessionSummary], choose: Callable[[str], None], current: str) -> None:
        super().__init__("Replay a session", content.session_rows(found, current), choose, current)


# Long because the live session, recorded ones and replay share one cursor.
class TimelineScreen(ToolKeys):
    """Lanes of tools over model calls. Every page shows the moment chosen here."""

    page = "timeline"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#lanes RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "call(-1)", "call", key_display="← →", priority=True),
        Binding("right", "call(1)", "call", priority=True, show=False),
        Binding("home", "first_call", "first call", priority=True, show=False),
        Binding("end", "last_call", "last call", priority=True, show=False),
        Binding("enter", "show_moment", "replay here", priority=True),
        Binding("n", "live", "back to now"),
        Binding("o", "sessions", "sessions"),
        Binding("f", "only_moved", "only moved"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Each column is a model call, each row a tool; a sign is the tool's binding in that call.",
        "⌂ pinned  ● loaded  ○ deferred  ✕ evicted; › moved before that call. The other pane shows why.",
        "← → move between calls, home and end go to the first and the last, ↑ ↓ move between tools.",
        "enter replays that call on every page; after that, ← → step every page.",
        "During a replay, the top line shows REPLAY. A replay is read-only.",
        "n returns to the running session.",
        "o opens a recorded session. f hides tools that never moved.",
        "/ filters, y copies a tool's id, esc goes back. `toolsight sessions show` prints the same.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._stream = Stream("", lambda _after, _until: ())
        self._column = 1
        self._is_newest = True
        self._only_moved = False
        self._reading = ""

    @property
    def tool_id(self) -> str:
        return self.query_one(Lanes).tool

    @property
    def replay(self) -> Replay:
        return self.context.replay

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield Static(id="timeline-facts", markup=False)
        with Container(id="timeline-page"):
            yield Lanes()
            with VerticalScroll(classes="pane", id="timeline-detail"):
                yield Static(id="timeline-text", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        if self.replay.is_replay:
            self._show(self.replay.stream, self.replay.column)
        else:
            self._follow()

    def arrive(self, destination: Destination) -> None:
        """Replay the recorded session that was asked for."""
        if isinstance(destination, TracePage):
            self._open(destination.session_id)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the stream has more than the view
        if self.replay.is_replay:
            self._draw()
        else:
            self._follow()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leave the cursor keys to the filter while it has the focus."""
        return action not in _CURSOR_KEYS or not isinstance(self.focused, Input)

    def _follow(self) -> None:
        """Read the new records of the running session; many of them in a thread."""
        if self._reading:
            return
        if self.replay.backlog > _SMALL:
            self._read("this session", self.replay.catch_up, self._show_live)
        else:
            self._show_live(self.replay.catch_up())

    def _show_live(self, stream: Stream) -> None:
        """Draw the running session; the cursor stays on its call, or with the newest one."""
        stays = stream is self._stream and not self._is_newest
        self._show(stream, self._column if stays else stream.timeline.now)

    def _show_recorded(self, stream: Stream) -> None:
        """Replay a session from its start, on every page."""
        self._show(stream, 1)
        self._replay(stream, 1)

    def _show(self, stream: Stream, column: int) -> None:
        self._stream, self._reading = stream, ""
        self._column, self._is_newest = column, column == stream.timeline.now
        self._draw()

    def _read(self, what: str, make: Callable[[], Stream], show: Callable[[Stream], None]) -> None:
        """Read a stream in a thread; until then the page only says that it is reading."""
        self._reading = f"Reading {visible(what, limit=60, newlines=False)} …"
        self._draw()
        self._read_in_thread(make, show)

    @work(thread=True, exclusive=True, group="stream", exit_on_error=False)
    def _read_in_thread(self, make: Callable[[], Stream], show: Callable[[Stream], None]) -> None:
        worker, stream = get_current_worker(), self._stream
        try:
            stream = make()
        except ToolsightError as error:
            show = partial(self._show_failure, error)
        if not worker.is_cancelled:
            self.app.call_from_thread(show, stream)

    def _show_failure(self, error: ToolsightError, stream: Stream) -> None:
        self._show(stream, self._column)
        title, message = failure_text(error)
        self.notify(message, title=title, severity="error", markup=False)

    def _draw(self) -> None:
        timeline = self._stream.timeline
        self.query_one(Lanes).show(timeline, self._column, self._end, only_moved=self._only_moved)
        facts = content.facts(timeline, self._column, self._end, self.size.width - 2)
        self.query_one("#timeline-facts", Static).update(self._reading or facts)
        self._draw_detail()

    @property
    def _end(self) -> str:
        """The name of the column after the last call."""
        return "end" if self.replay.is_recorded(self._stream) else "now"

    @on(RecordList.Highlighted, "#lanes")
    def _draw_detail(self) -> None:
        pane, timeline = self.query_one("#timeline-detail"), self._stream.timeline
        tool = self.query_one(Lanes).tool
        width = max(pane.content_size.width - 1, 20)
        text = content.detail(timeline, self._column, tool, self._end, width)
        self.query_one("#timeline-text", Static).update(text)
        pane.border_title = f"Call {self._column}" if self._column < timeline.now else self._end.capitalize()

    def action_call(self, step: int) -> None:
        """Go to another call."""
        self._go(self._column + step)

    def action_first_call(self) -> None:
        """Go to the first call."""
        self._go(1)

    def action_last_call(self) -> None:
        """Go to the current state of the session, or to its end."""
        self._go(self._stream.timeline.now)

    def _go(self, column: int) -> None:
        column = max(1, min(column, self._stream.timeline.now))
        if column != self._column:
            self._show(self._stream, column)
            if self.replay.is_replay or self._is_starting_replay:
                self._replay(self._stream, column)

    @property
    def _is_starting_replay(self) -> bool:
        return any(
            worker.node is self and worker.group == "moment" and not worker.is_finished
            for worker in self.workers
        )

    @on(RecordList.Selected, "#lanes")
    def action_show_moment(self) -> None:
        """Replay the call under the cursor on every page."""
        self._replay(self._stream, self._column)

    @work(thread=True, exclusive=True, group="moment", exit_on_error=False)
    def _replay(self, stream: Stream, column: int) -> None:
        worker, view = get_current_worker(), self.replay.moment(stream, column)
        if not worker.is_cancelled:
            self.app.call_from_thread(self.replay.show, stream, column, view)

    def action_live(self) -> None:
        """Go back to the running session."""
        self.workers.cancel_group(self, "moment")
        self.workers.cancel_group(self, "stream")
        self._reading, self._is_newest = "", True
        self.replay.live()
        self._follow()

    def action_only_moved(self) -> None:
        """Hide or show the tools that never moved."""
        self._only_moved = not self._only_moved
        self._draw()

    @work(thread=True, exclusive=True, group="sessions", exit_on_error=False)
    def action_sessions(self) -> None:
        """Choose a recorded session."""
        found = self.replay.sessions()
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._choose, found)

    def _choose(self, found: Sequence[SessionSummary]) -> None:
        self.app.push_screen(SessionDialog(found, self._open, self._stream.session_id))

    def _open(self, session_id: str) -> None:
        self._read(session_id, partial(self.replay.read, session_id), self._show_recorded)

    @on(Lanes.Chosen)
    def _go_to_clicked(self, event: Lanes.Chosen) -> None:
        self._go(event.column)

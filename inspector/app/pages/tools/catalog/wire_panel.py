"""What crossed the wire between Toolsight and one server, newest last."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from inspector.app.context import InContext
from inspector.app.dialogs.detail import DetailScreen
from inspector.app.job import Job
from inspector.app.pages.tools.catalog.frame_row import (
    COLUMNS,
    NO_WIRE,
    NOTHING,
    frame_heading,
    frame_row,
    frame_text,
    wire_heading,
)
from inspector.core.frame import Frame
from inspector.mcp.wire_log import WireLog
from widgets import Record, RecordList

# Frames are no events: nothing tells a page of them, so it looks.
_LOOKS_EVERY = 0.5


class WirePanel(InContext, Vertical):
    """A list of frames that follows the newest one; enter opens the one under the cursor."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._server = ""
        self._shown: tuple[str, int] | None = None
        self._frames: dict[str, Frame] = {}
        self._rows: dict[int, Record] = {}

    def compose(self) -> ComposeResult:
        yield RecordList(COLUMNS, header=True, empty=NOTHING, follow=True, id="frames")

    def on_mount(self) -> None:
        self.set_interval(_LOOKS_EVERY, self.look)

    def show(self, server: str) -> None:
        """Show the frames of a server."""
        if server != self._server:
            self._server, self._shown, self._rows = server, None, {}
            self.query_one(RecordList).records = ()
        self.look()

    def look(self) -> None:
        """Read the log if it has anything new, in a thread: secrets are looked for in every new frame."""
        if not self.display or not self._server or not self.screen.is_current:
            return
        log = self.session.wire(self._server)
        shown = (self._server, -1 if log is None else log.total)
        if shown == self._shown:
            return
        self._shown = shown
        if log is None:
            self._show_frames((), (), 0)
        else:
            self.run_job("wire", lambda job: self._read(job, log, dict(self._rows)), self._show_read)

    def _read(
        self, _job: Job, log: WireLog, known: dict[int, Record]
    ) -> tuple[tuple[Frame, ...], tuple[Record, ...], int]:
        total, frames = log.total, log.frames()
        return frames, tuple(known.get(frame.number) or frame_row(frame) for frame in frames), total

    def _show_read(self, read: tuple[tuple[Frame, ...], tuple[Record, ...], int]) -> None:
        frames, rows, total = read
        self._rows = {frame.number: row for frame, row in zip(frames, rows, strict=True)}
        self._show_frames(frames, rows, total)

    def _show_frames(self, frames: tuple[Frame, ...], rows: tuple[Record, ...], total: int) -> None:
        self._frames = {str(frame.number): frame for frame in frames}
        table = self.query_one(RecordList)
        has_log = self.session.wire(self._server) is not None
        table.empty = NOTHING if has_log else NO_WIRE
        table.records = rows
        table.border_title = wire_heading(len(frames), max(total, len(frames))) if has_log else ""

    @on(RecordList.Selected, "#frames")
    def _open(self, event: RecordList.Selected) -> None:
        event.stop()
        frame = self._frames.get(event.key)
        if frame is not None:
            text, data = frame_text(frame)
            self.app.push_screen(DetailScreen(frame_heading(frame), text, data))

"""What crossed the wire between Toolsight and one server."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from inspector.app.context import InContext, Job
from inspector.app.dialogs.detail import DetailScreen
from inspector.core.number import count, milliseconds
from inspector.mcp.frame import Frame, FrameKind
from widgets import Column, Record, RecordList, Tone

# Frames and stderr are no events: nothing tells a page of them, so it looks, after this many seconds.
LOOKS_EVERY = 0.5
FRAMES = (
    Column("time", "time, UTC", width=12, weight=2, hide_below=44),
    Column("way", "", width=1, weight=9),
    Column("what", "message", weight=8, min_width=16, shorten="middle"),
    Column("id", "id", weight=1, min_width=2, hide_below=60),
    Column("bytes", "bytes", align="right", weight=5),
    Column("took", "took", align="right", weight=4),
)
NO_FRAMES = "No messages exchanged with this server yet."
NO_WIRE = "No wire log: it is kept in memory only, so replays and stored listings have none."
_TONES: dict[FrameKind, Tone] = {
    FrameKind.ERROR: "error",
    FrameKind.INVALID: "error",
    FrameKind.OTHER: "warning",
}
_TOO_LONG = "\n… message truncated; full size: {size:,} bytes"


def frame_row(frame: Frame) -> Record:
    """Return a frame in one line; the filter searches its whole text."""
    took = "" if frame.milliseconds is None else milliseconds(frame.milliseconds)
    cells = (time_of(frame), Content(frame.arrow), frame.what, frame.id, f"{frame.size:,}", took)
    return Record(
        str(frame.number),
        cells,
        _TONES.get(frame.kind, ""),
        search=f"{frame.arrow} {frame.what} {frame.id} {frame.text}",
        copy=frame.text,
    )


def time_of(frame: Frame) -> str:
    """Return when a frame was seen, to the millisecond."""
    return f"{datetime.fromtimestamp(frame.at, UTC):%H:%M:%S.%f}"[:-3]


def wire_heading(kept: int, total: int) -> str:
    """Return how many messages there are, and how many are dropped."""
    dropped = f", {total - kept:,} older dropped" if total > kept else ""
    return f"{count(kept, 'message')}{dropped}; not stored in any session"


def frame_heading(frame: Frame) -> str:
    """Return the title of a frame that is opened."""
    took = "" if frame.milliseconds is None else f"   after {milliseconds(frame.milliseconds)}"
    number = f"   id {frame.id}" if frame.id else ""
    return f"{frame.arrow} {frame.what}{number}   {frame.size:,} bytes   {time_of(frame)} UTC{took}"


def frame_text(frame: Frame) -> tuple[str, object | None]:
    """Return a frame to read, and its data if it is JSON."""
    try:
        data: object = json.loads(frame.text)
    except (ValueError, RecursionError):
        rest = _TOO_LONG.format(size=frame.size) if frame.is_cut else ""
        return frame.text + rest, None
    return json.dumps(data, ensure_ascii=False, indent=2), data


def exported(frames: Sequence[Frame]) -> str:
    """Return frames as JSON Lines, each with what is known about it beside its text."""
    return "".join(f"{json.dumps(_as_json(frame), ensure_ascii=False)}\n" for frame in frames)


def _as_json(frame: Frame) -> dict[str, object]:
    return {
        "time": datetime.fromtimestamp(frame.at, UTC).isoformat(),
        "direction": "sent" if frame.sent else "received",
        "message": frame.what,
        "id": frame.id,
        "bytes": frame.size,
        "milliseconds": frame.milliseconds,
        "text": frame.text,
    }


class WirePanel(InContext, Vertical):
    """A list of frames that follows the newest one; enter opens the one under the cursor."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._server = ""
        self._shown: tuple[str, int] | None = None
        self._frames: dict[str, Frame] = {}
        self._rows: dict[int, Record] = {}

    def compose(self) -> ComposeResult:
        yield RecordList(FRAMES, header=True, empty=NO_FRAMES, follow=True, id="frames")

    def on_mount(self) -> None:
        self.set_interval(LOOKS_EVERY, self.look)

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
            self._show_frames(0, (), {})
        else:
            known = self._rows

            def read(_job: Job) -> tuple[int, tuple[Frame, ...], dict[int, Record]]:
                total, frames = log.total, log.frames()
                return total, frames, {one.number: known.get(one.number) or frame_row(one) for one in frames}

            self.run_job("wire", read, lambda found: self._show_frames(*found))

    def _show_frames(self, total: int, frames: tuple[Frame, ...], rows: dict[int, Record]) -> None:
        self._frames, self._rows = {str(frame.number): frame for frame in frames}, rows
        table = self.query_one(RecordList)
        has_log = self.session.wire(self._server) is not None
        table.empty = NO_FRAMES if has_log else NO_WIRE
        table.records = tuple(rows.values())
        table.border_title = wire_heading(len(frames), max(total, len(frames))) if has_log else ""

    @on(RecordList.Selected, "#frames")
    def _open(self, event: RecordList.Selected) -> None:
        event.stop()
        frame = self._frames.get(event.key)
        if frame is not None:
            text, data = frame_text(frame)
            self.app.push_screen(DetailScreen(frame_heading(frame), text, data))

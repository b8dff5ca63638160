"""What crossed the wire between Toolsight and one server."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from inspector.app.context import InContext, Job
from inspector.app.dialogs.detail import DetailScreen
from inspector.core.number import count, milliseconds
from inspector.features.tools.facts import frame_json, frame_time
from inspector.mcp.frame import Frame, FrameKind
from inspector.schema.json_value import compact, read_value
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
# What the filter knows a method by: its name may be in the text of other messages.
_METHOD = "method:"
_TONES: dict[FrameKind, Tone] = {
    FrameKind.ERROR: "error",
    FrameKind.INVALID: "error",
    FrameKind.OTHER: "warning",
    FrameKind.REFUSED: "error",
    FrameKind.HTTP: "muted",
}
_TOO_LONG = "\n… message truncated; full size: {size:,} bytes"


def frame_row(frame: Frame) -> Record:
    """Return a frame in one line; the filter searches its whole text."""
    took = "" if frame.milliseconds is None else milliseconds(frame.milliseconds)
    cells = (frame_time(frame), Content(frame.arrow), frame.what, frame.id, f"{frame.size:,}", took)
    return Record(
        str(frame.number),
        cells,
        _TONES.get(frame.kind, ""),
        search=f"{_METHOD}{frame.method} {frame.arrow} {frame.what} {frame.id} {frame.text}",
        copy=frame.text,
    )


def wire_heading(kept: int, total: int) -> str:
    """Return how many messages there are, and how many are dropped."""
    dropped = f", {total - kept:,} older dropped" if total > kept else ""
    return f"{count(kept, 'message')}{dropped}; not stored in any session"


_REPLIES = frozenset({FrameKind.RESULT, FrameKind.ERROR, FrameKind.INVALID})
NO_REQUEST = "It answers no request that is in the log."
NO_ANSWER = "There is no answer to it in the log."


class Exchange(Struct, frozen=True):
    """A request and its answer, or any other message alone; `note` says what is not as usual."""

    parts: tuple[Frame, ...]
    note: str = ""


def exchange(frames: Sequence[Frame], chosen: Frame) -> Exchange:
    """Return the request and the answer that a frame belongs to, or the frame alone.

    Only an answer whose request was open has a time, so one without is an orphan. Each connection counts its
    ids anew, so an answer belongs to the last request before it.
    """
    if chosen.kind in _REPLIES:
        before = (one for one in reversed(frames) if one.number < chosen.number and _asks(one, chosen))
        asked = next(before, None) if chosen.milliseconds is not None else None
        return Exchange((asked, chosen)) if asked is not None else Exchange((chosen,), NO_REQUEST)
    if chosen.kind is not FrameKind.REQUEST:
        return Exchange((chosen,))
    after = (one for one in frames if one.number > chosen.number and one.id == chosen.id)
    for one in after:
        if one.sent is not chosen.sent and one.milliseconds is not None:
            return Exchange((chosen, one))
        if one.sent is chosen.sent and one.kind is FrameKind.REQUEST:
            break
    return Exchange((chosen,), NO_ANSWER)


def _asks(frame: Frame, answer: Frame) -> bool:
    is_same = (frame.sent, frame.id) == (not answer.sent, answer.id)
    return frame.kind is FrameKind.REQUEST and is_same


def exchange_heading(found: Exchange) -> str:
    """Return the title of what is opened: the message, how long its answer took, and the sizes."""
    first, last = found.parts[0], found.parts[-1]
    took = "" if last.milliseconds is None else f"   answered after {milliseconds(last.milliseconds)}"
    number = f"   id {first.id}" if first.id else ""
    sizes = " + ".join(f"{part.size:,}" for part in found.parts)
    return f"{first.arrow} {first.what}{number}{took}   {sizes} bytes"


def exchange_text(found: Exchange) -> tuple[str, object | None]:
    """Return an exchange to read, and its data if all of it is JSON."""
    data = [read_value(part.text) for part in found.parts]
    blocks = [f"{_about(part)}\n{_shown(part, each)}" for part, each in zip(found.parts, data, strict=True)]
    text = "\n\n".join([*blocks, *filter(None, [found.note])])
    if None in data:
        return text, None
    return text, dict(zip(("request", "answer"), data, strict=True)) if len(data) > 1 else data[0]


def _about(frame: Frame) -> str:
    took = "" if frame.milliseconds is None else f"   after {milliseconds(frame.milliseconds)}"
    return f"{frame.arrow} {frame.what}   {frame_time(frame)} UTC{took}   {frame.size:,} bytes"


def _shown(frame: Frame, data: object | None) -> str:
    if data is None:
        return frame.text + (_TOO_LONG.format(size=frame.size) if frame.is_cut else "")
    return json.dumps(data, ensure_ascii=False, indent=2)


def exported(frames: Sequence[Frame]) -> str:
    """Return frames as JSON Lines, as `toolsight servers --wire --json` has them."""
    return "".join(f"{json.dumps(frame_json(frame), ensure_ascii=False)}\n" for frame in frames)


class WirePanel(InContext, Vertical):
    """A list of frames that follows the newest one; enter opens the one under the cursor with its answer."""

    columns: ClassVar[tuple[Column, ...]] = FRAMES
    name_of_list: ClassVar[str] = "frames"
    empty: ClassVar[str] = NO_FRAMES

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._server = ""
        self._shown: tuple[str, int] | None = None
        self._frames: dict[str, Frame] = {}
        self._rows: dict[int, Record] = {}

    def compose(self) -> ComposeResult:
        yield RecordList(self.columns, header=True, empty=self.empty, follow=True, id=self.name_of_list)

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
                rows = {
                    one.number: known.get(one.number) or self.row(one) for one in frames if self.keeps(one)
                }
                return total, frames, rows

            self.run_job("wire", read, lambda found: self._show_frames(*found))

    def keeps(self, frame: Frame) -> bool:  # noqa: ARG002 - the wire has all
        """Whether a frame is listed."""
        return True

    def row(self, frame: Frame) -> Record:
        """Return a frame in one line; this runs in a thread."""
        return frame_row(frame)

    def _show_frames(self, total: int, frames: tuple[Frame, ...], rows: dict[int, Record]) -> None:
        self._frames, self._rows = {str(frame.number): frame for frame in frames}, rows
        table, has_log = self.query_one(RecordList), self.session.wire(self._server) is not None
        table.empty = self.empty if has_log else NO_WIRE
        table.records = tuple(rows.values())
        table.border_title = self.heading(max(total, len(frames))) if has_log else ""

    def heading(self, total: int) -> str:
        """Return how many of the messages that there were are listed."""
        return wire_heading(len(self._frames), total)

    @on(RecordList.Selected)
    def _open(self, event: RecordList.Selected) -> None:
        event.stop()
        frame = self._frames.get(event.key)
        if frame is not None:
            found = exchange(tuple(self._frames.values()), frame)
            text, data = exchange_text(found)
            self.app.push_screen(DetailScreen(exchange_heading(found), text, data))


_LOGGED = "notifications/message"
_LONGEST_LOGGED = 300
LOG = (
    Column("time", "time, UTC", width=12, weight=2, hide_below=60),
    Column("level", "level", weight=3, min_width=4),
    Column("logger", "logger", weight=1, min_width=4, hide_below=44),
    Column("text", "log message", weight=8, min_width=16),
)
NO_LOG = "No log messages. A server that declares logging may send some."
_SEVERE: dict[str, Tone] = dict.fromkeys(("error", "critical", "alert", "emergency"), "error")
_SEVERE |= {"debug": "muted", "warning": "warning"}


def log_row(frame: Frame) -> Record:
    """Return a log message in one line; one that is too long to be kept whole begins as it came."""
    data = read_value(frame.text)
    params = data.get("params") if isinstance(data, dict) else None
    said = params if isinstance(params, dict) else {"data": frame.text}
    parts = (said.get(part, "") for part in ("level", "logger", "data"))
    cells = [(one if isinstance(one, str) else compact(one))[:_LONGEST_LOGGED] for one in parts]
    tone = _SEVERE.get(cells[0], "")
    return Record(str(frame.number), (frame_time(frame), *cells), tone, search=frame.text, copy=frame.text)


class LogPanel(WirePanel):
    """What a server logs to its client, newest last; it is read from the wire log, and bounded as that is."""

    columns = LOG
    name_of_list = "log"
    empty = NO_LOG

    def keeps(self, frame: Frame) -> bool:
        return frame.method == _LOGGED and not frame.sent

    def row(self, frame: Frame) -> Record:
        return log_row(frame)

    def heading(self, total: int) -> str:  # noqa: ARG002 - of all messages, not of the log's
        return count(len(self._rows), "log message")

"""What crossed the wire, frame by frame."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from textual.content import Content

from inspector.core.frame import Frame, FrameKind
from inspector.core.number import count, milliseconds
from widgets import Column, Record, Tone

COLUMNS = (
    Column("time", "time, UTC", width=12, weight=2, hide_below=44),
    Column("way", "", width=1, weight=9),
    Column("what", "message", weight=8, min_width=16, shorten="middle"),
    Column("id", "id", weight=1, min_width=2, hide_below=60),
    Column("bytes", "bytes", align="right", weight=5),
    Column("took", "took", align="right", weight=4),
)
NOTHING = "No messages exchanged with this server yet."
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

"""A race as terminal lines and as a terminal recording (asciicast, version 2)."""

import json
from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.cells import cell_len

from inspector.app.pages.chat.race import content
from inspector.domain.number import count, money, tokens
from inspector.engine.scenario.lane import Lane
from inspector.engine.scenario.race import Frame, Verdict
from widgets import plain, shorten, visible

WIDTH, HEIGHT = 100, 26
# Text and its ANSI style codes, "" for none.
Piece = tuple[str, str]
Line = tuple[Piece, ...]
_BOLD, _DIM, _GOOD = "1", "2", "1;32"
_LANES = ("94", "33")
_HOME, _CLEAR, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[J"
_NEXT_LINE = "\r\n"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_LONGEST = 400
# Cells for a lane's total.
_TOTAL = 9
# Seconds for which a player shows the last frame.
_END = 3.0


def drawn(
    title: str, frame: Frame, verdict: Verdict | None, width: int, most: int | None = None
) -> list[Line]:
    """Return a moment of the race as lines of at most `width` cells, or its end if there is a verdict.

    `most` is the number of tokens of a full bar, by default those of the larger lane so far.
    """
    longest = most if most is not None else max(lane.tokens for lane in frame.lanes)
    lines = list(_head(title, frame, width))
    for side, lane in enumerate(frame.lanes):
        lines += [(), *_lane(lane, _LANES[side], longest, width)]
    lines.append(())
    summary = content.result(verdict) if verdict is not None else content.so_far(frame)
    for number, text in enumerate(summary.plain.splitlines()):
        style = _GOOD if verdict is not None and not number else ""
        lines += [((part, style),) for part in _wrapped(text, width)]
    return lines


def _head(title: str, frame: Frame, width: int) -> Iterator[Line]:
    lane = frame.lanes[1]
    yield (("Race  ", _DIM), (visible(title, limit=_LONGEST, newlines=False), _BOLD))
    facts = [lane.tokenizer, lane.model, f"call {frame.call}" if frame.call else "getting ready"]
    pieces = [plain(fact, limit=_LONGEST, newlines=False) for fact in facts if fact]
    yield ((content.joined(pieces, width).plain, _DIM),)


def _lane(lane: Lane, color: str, most: int, width: int) -> Iterator[Line]:
    name = content.lane_title(lane.profile).plain
    yield ((name, f"1;{color}"), (f"   {content.lane_state(lane, None).plain}", ""))
    yield ((f"{lane.tokens:>{_TOTAL},}", f"1;{color}"), (_facts(lane, width - _TOTAL - 1), ""))
    yield ((content.bar(lane, most, width, "").plain, color),)
    call = f"{lane.calls:>3} {tokens(lane.present):>6}  {lane.last}" if lane.calls else ""
    yield ((visible(call, limit=_LONGEST, newlines=False), ""),)


def _facts(lane: Lane, width: int) -> str:
    """Return as many facts as fit whole."""
    searches = f" ({content.SEARCHES} {tokens(lane.search_tokens)} searches)" if lane.search_tokens else ""
    facts = [
        f" tokens for tools{searches}",
        count(lane.calls, "model call"),
        f"all input {tokens(lane.input_tokens)}",
        *([money(lane.dollars)] if lane.dollars is not None else []),
        f"{count(lane.bound, 'tool')} bound",
    ]
    return content.joined([plain(fact) for fact in facts], width).plain


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, subsequent_indent="  ", break_on_hyphens=False) or [""]


def ansi_line(line: Line, width: int, *, colored: bool = True) -> str:
    """Return the line with its styles, cut at `width` cells and free of any other control sequence."""
    room, pieces = width, []
    for text, style in line:
        shown = shorten(plain(text, limit=_LONGEST, newlines=False), room).plain
        room -= cell_len(shown)
        pieces.append(f"\x1b[{style}m{shown}\x1b[0m" if colored and style and shown else shown)
    return "".join(pieces)


def screen(lines: Sequence[Line], width: int) -> str:
    """Return the sequence that draws the lines over a terminal from its upper left corner."""
    drawn_lines = (f"{ansi_line(line, width)}{_REST_OF_LINE}" for line in lines)
    return f"{_HOME}{_NEXT_LINE.join(drawn_lines)}{_REST}"


def cast(title: str, frames: Sequence[Frame], verdict: Verdict) -> str:
    """Return a recording: a JSON header, then a JSON event per line (docs.asciinema.org/manual/asciicast/v2).

    The same frames give the same recording.
    """
    most = max(lane.tokens for lane in verdict.lanes)
    moments = [(frame.seconds, drawn(title, frame, None, WIDTH, most)) for frame in frames]
    end = frames[-1].seconds
    moments.append((end, drawn(title, frames[-1], verdict, WIDTH, most)))
    height = max(HEIGHT, *(len(lines) + 1 for _, lines in moments))
    header = {
        "version": 2,
        "width": WIDTH,
        "height": height,
        "duration": end + _END,
        "title": visible(title, limit=_LONGEST, newlines=False),
        "env": {"TERM": "xterm-256color"},
    }
    events = [
        [0.0, "o", f"{_HIDE_CURSOR}{_CLEAR}"],
        *([seconds, "o", screen(lines, WIDTH)] for seconds, lines in moments),
        [end + _END, "o", f"{_NEXT_LINE}{_SHOW_CURSOR}"],
    ]
    return "".join(f"{json.dumps(line)}\n" for line in (header, *events))

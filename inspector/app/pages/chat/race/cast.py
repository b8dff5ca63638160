"""A race as terminal lines and as a terminal recording (asciicast, version 2)."""

import json
from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.cells import cell_len

from inspector.app.pages.chat.race import content, outcome
from inspector.core.number import count, money, tokens
from inspector.scenario.race import RaceFrame, Verdict
from inspector.scenario.racer import Racer
from widgets import plain, shorten, visible

WIDTH, HEIGHT = 100, 26
# Text and its ANSI style codes, "" for none.
Piece = tuple[str, str]
Line = tuple[Piece, ...]
_BOLD, _DIM, _GOOD = "1", "2", "1;32"
_STYLES = ("37", "94")
_HOME, _CLEAR, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[J"
_NEXT_LINE = "\r\n"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_LONGEST = 400
# Cells for a racer's total.
_TOTAL = 9
# Seconds for which a player shows the last frame.
_END = 3.0


def drawn(
    title: str, frame: RaceFrame, verdict: Verdict | None, width: int, most: int | None = None
) -> list[Line]:
    """Return a moment of the race as lines of at most `width` cells, or its end if there is a verdict.

    `most` is the number of tokens of a full bar, by default those of the larger racer so far.
    """
    longest = most if most is not None else max(racer.tokens for racer in frame.racers)
    lines = list(_head(title, frame, width))
    for side, racer in enumerate(frame.racers):
        state = content.outcome(racer).plain if verdict is not None else ""
        lines += [(), *_racer(racer, state, _STYLES[side], longest, width)]
    lines.append(())
    summary = outcome.result(verdict) if verdict is not None else content.so_far(frame)
    for number, text in enumerate(summary.plain.splitlines()):
        style = (_BOLD if verdict.shortfall else _GOOD) if verdict is not None and not number else ""
        lines += [((part, style),) for part in _wrapped(text, width)]
    return lines


def _head(title: str, frame: RaceFrame, width: int) -> Iterator[Line]:
    racer = frame.racers[1]
    yield (("Race  ", _DIM), (visible(title, limit=_LONGEST, newlines=False), _BOLD))
    facts = [racer.tokenizer, racer.model, f"call {frame.call}" if frame.call else "getting ready"]
    pieces = [plain(fact, limit=_LONGEST, newlines=False) for fact in facts if fact]
    yield ((content.joined(pieces, width).plain, _DIM),)


def _racer(racer: Racer, state: str, color: str, most: int, width: int) -> Iterator[Line]:
    name = content.racer_title(racer.profile).plain
    yield ((name, f"1;{color}"), (f"   {state}" if state else "", ""))
    yield ((f"{racer.tokens:>{_TOTAL},}", f"1;{color}"), (_facts(racer, width - _TOTAL - 1), ""))
    yield ((content.bar(racer, most, width, "").plain, color),)
    call = f"{racer.calls:>3} {tokens(racer.present):>6}  {racer.last}" if racer.calls else ""
    yield ((visible(call, limit=_LONGEST, newlines=False), ""),)


def _facts(racer: Racer, width: int) -> str:
    """Return as many facts as fit whole."""
    searches = f" ({content.SEARCHES} {tokens(racer.search_tokens)} searches)" if racer.search_tokens else ""
    facts = [
        f" tokens for tools{searches}",
        count(racer.calls, "model call"),
        f"all input {tokens(racer.input_tokens)}",
        *([money(racer.dollars)] if racer.dollars is not None else []),
        f"{count(racer.bound, 'tool')} bound",
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


def cast(title: str, frames: Sequence[RaceFrame], verdict: Verdict) -> str:
    """Return a recording: a JSON header, then a JSON event per line (docs.asciinema.org/manual/asciicast/v2).

    The same frames give the same recording.
    """
    most = max(racer.tokens for racer in verdict.racers)
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

"""The timeline as rows with a column per model call, and the details of one call in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content, Span

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import ICONS
from inspector.core.number import count, percent, shown_moment, tokens
from inspector.core.session import Binding
from inspector.core.store_ports import SessionSummary
from inspector.session.timeline import Action, Lane, ModelCall, Move, Tally, Timeline
from widgets import Record, middle, plain
from widgets.record import GAP

# The key prefix of the summary rows; no tool id begins like it.
REST = "\0"
MOVED = "›"
_CURSOR = "on $primary 30%"
_GAP = "   "
_LEAST_CELL, _MOST_CELL = 3, 5
_LEAST_NAME, _MOST_NAME = 22, 36
_TEXT = 300
_MOVES = 50
_ACTIONS = {
    "search": ("⌕", "$text-accent"),
    "result": ("▸", "$text-success"),
    "reject": ("✕", "$text-error"),
    "loop": ("⚠", "$text-warning"),
    "redundant": ("⚠", "$text-warning"),
}


@dataclass(frozen=True, slots=True)
class Frame:
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


def facts(timeline: Timeline, column: int, end: str, width: int) -> Content:
    """Return the cursor's call and the counts up to it, in as few lines as `width` allows."""
    tally = timeline.tally(column)
    now, calls = column == timeline.now, len(timeline.calls)
    moment = f"{end}, after {count(calls, 'model call')}" if now else f"call {column} of {calls}"
    pieces = [Content.styled(moment, "bold")]
    if not now:
        pieces.append(_fact("tools", f"{tokens(timeline.calls[column - 1].tool_tokens)} tokens"))
    pieces.append(_fact("accuracy", "–" if tally.accuracy is None else percent(tally.accuracy)))
    pieces += [_fact(name, str(count)) for name, count in _counts(tally)]
    return _wrapped(pieces, width)


def _counts(tally: Tally) -> tuple[tuple[str, int], ...]:
    return (
        ("searches", tally.searches),
        ("loads", tally.loads),
        ("evictions", tally.evictions),
        ("rejections", tally.rejections),
        ("recoveries", tally.recoveries),
        *([("asked the user", tally.asked)] if tally.asked else []),
    )


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name} ", MUTED), value)


def _wrapped(pieces: list[Content], width: int) -> Content:
    """Break the pieces into lines; no piece is split."""
    lines: list[Content] = []
    for piece in pieces:
        if lines and lines[-1].cell_length + len(_GAP) + piece.cell_length <= width:
            lines[-1] = Content.assemble(lines[-1], _GAP, piece)
        else:
            lines.append(piece)
    return Content("\n").join(lines)


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
    return Content("").join(
        [_message(calls[start], end - start * shown.cell) for start, end in zip(starts, ends, strict=False)]
    )


def _message(call: ModelCall, width: int) -> Content:
    said = middle(call.said, width - 2)
    mark = "▏" if call.message else " "
    return Content.assemble((mark, "$primary"), (said, MUTED)).pad_right(width - 1 - cell_len(said))


def rows(timeline: Timeline, shown: Frame, *, only_moved: bool) -> tuple[Record, ...]:
    """Return a row per tool that moved or is pinned by name; the others are summed up or left out."""
    own: list[Counter[Binding | None]] = [Counter() for _ in shown.columns]
    records: list[Record] = []
    for lane in timeline.lanes:
        states = list(lane.states(shown.first, shown.count))
        for counter, (binding, _) in zip(own, states, strict=True):
            counter[binding] += 1
        if not only_moved or any(move.is_move for move in lane.moves):
            records.append(_lane_row(lane, states, shown))
    rest = () if only_moved else _rest_rows(timeline, shown, own)
    return (*records, *rest)


def _lane_row(lane: Lane, states: list[tuple[Binding | None, bool]], shown: Frame) -> Record:
    return Record(lane.tool, (lane.tool, _cells(states, shown)), search=lane.tool, copy=lane.tool)


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


def session_rows(found: Sequence[SessionSummary], current: str) -> tuple[Record, ...]:
    """Return the recorded sessions in two lines each; the shown one is marked."""
    return tuple(
        Record(
            session.id,
            ("✓" if session.id == current else " ", session.id, count(session.events, "event")),
            detail=_about(session),
            search=f"{session.id} {session.agent} {session.config} {session.model}",
        )
        for session in found
    )


def _about(session: SessionSummary) -> str:
    done = f"{count(session.searches, 'search', 'searches')}, {count(session.calls, 'call')}"
    whose = f"{middle(session.agent, 16)}   " if session.agent else ""
    return f"{_time(session.started_at)}   {done}   {whose}{middle(session.model, 24)}"


def _time(seconds: float) -> str:
    return f"{shown_moment(seconds)} UTC"


def legend() -> Content:
    """Return what the signs mean."""
    signs = [Content.assemble((sign, color), f" {binding}") for binding, (sign, color) in ICONS.items()]
    return Content("  ").join([*signs, Content.assemble((MOVED, "bold"), " just moved")])


def detail(timeline: Timeline, column: int, tool: str, end: str, width: int) -> Content:
    """Return what the call was sent and why, what it did, and the moves of the tool under the cursor."""
    call = timeline.calls[column - 1] if column < timeline.now else None
    moves = timeline.moves_at(column)
    blocks = [
        _said(call) if call is not None else Content.styled(_no_call(timeline, end), MUTED),
        _sent(call, moves, width),
        *([_did(call)] if call is not None else []),
        *_way(timeline, tool, width),
    ]
    return Content("\n\n").join(blocks)


def _no_call(timeline: Timeline, end: str) -> str:
    if not timeline.calls:
        return "No model calls yet. Send a message in Chat."
    return "How the session ended." if end == "end" else "Now: what the next model call will send."


def _said(call: ModelCall) -> Content:
    kind = "  thinking, calls nothing" if call.think else ""
    said = plain(call.said, newlines=False, limit=_TEXT)
    return Content.assemble((f"You, message {call.message}{kind}\n", MUTED), said)


def _sent(call: ModelCall | None, moves: tuple[Move, ...], width: int) -> Content:
    lines = [Content.styled("Moved before this call", "bold")]
    lines += [line for move in moves for line in _move_lines(move, width)]
    if not moves:
        lines.append(Content.styled("nothing", MUTED))
    if call is not None and (call.change or call.same or call.resent):
        cost = f"tools[]: {tokens(call.same)} tokens unchanged, {tokens(call.resent)} resent"
        lines.append(Content.styled(cost, MUTED))
        if call.change:
            lines.append(Content("  ") + plain(call.change, newlines=False, limit=_TEXT))
    return Content("\n").join(lines)


def _move_lines(move: Move, width: int) -> Iterator[Content]:
    sign, color = ICONS[move.binding_to] if move.binding_to is not None else ("-", MUTED)
    yield Content.assemble((sign, color), " ", (middle(move.tool, max(width - 2, 8)), "bold"))
    way = f"{move.binding_from or 'new'} → {move.binding_to or 'gone'}"
    yield Content.assemble(
        (f"  {way}: ", MUTED), plain(move.reason or move.cause, newlines=False, limit=_TEXT)
    )


def _did(call: ModelCall) -> Content:
    lines = [Content.styled("What the model did", "bold"), *map(_action_line, call.actions)]
    if not call.actions:
        lines.append(Content.styled("thought" if call.think else "answered, or no reply yet", MUTED))
    return Content("\n").join(lines)


def _action_line(action: Action) -> Content:
    sign, color = _ACTIONS.get(action.kind, ("·", MUTED))
    if action.kind == "result" and not action.ok:
        sign, color = "✕", "$text-error"
    word = f"{action.kind} " if action.kind in ("reject", "loop") else ""
    text = plain(action.text, newlines=False, limit=_TEXT)
    return Content.assemble((f"{sign} ", color), (word, MUTED), text)


def _way(timeline: Timeline, tool: str, width: int) -> Iterator[Content]:
    """Yield every move of one tool."""
    lane = next((lane for lane in timeline.lanes if lane.tool == tool), None)
    if lane is None:
        return
    lines = [Content.styled(middle(tool, max(width, 8)), "bold")]
    for move in lane.moves[-_MOVES:]:
        way = f"call {move.call}  {move.binding_from or 'new'} → {move.binding_to or 'gone'}: "
        reason = plain(move.reason or move.cause, newlines=False, limit=_TEXT)
        lines.append(Content.assemble((way, MUTED), reason))
    yield Content("\n").join(lines)

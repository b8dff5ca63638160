"""The timeline page: every tool over every model call, and replay of any moment on every page."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import ToolKeys
from inspector.app.draw.budget import flow
from inspector.app.draw.line import MUTED
from inspector.app.draw.table import ICONS, report_lines
from inspector.app.list_page import ListPage
from inspector.app.place import Destination, Page, TracePage
from inspector.app.replay import Replay
from inspector.app.stream import Stream, View
from inspector.core.budget import Prices
from inspector.core.number import count, tokens
from inspector.core.report import Block, Facts
from inspector.features.trace.facts import call_facts, session_facts, tally_facts, timeline_report
from inspector.features.trace.lanes import Lanes
from inspector.session.timeline import Action, ModelCall, Move, Timeline
from widgets import middle, plain, visible

_TEXT, _MOVES = 300, 50
_ACTIONS = {
    "search": ("⌕", "$text-accent"),
    "result": ("▸", "$text-success"),
    "reject": ("✕", "$text-error"),
    "loop": ("⚠", "$text-warning"),
    "redundant": ("⚠", "$text-warning"),
}
# More new records than this are read in a thread.
_SMALL = 500


def facts(timeline: Timeline, column: int, end: str, width: int) -> Content:
    """Return the cursor's call and the counts up to it, in as few lines as `width` allows."""
    tally = timeline.tally(column)
    now, calls = column == timeline.now, len(timeline.calls)
    moment = f"{end}, after {count(calls, timeline.kind)}" if now else f"call {column} of {calls}"
    pieces = [Content.styled(moment, "bold")]
    if not now:
        pieces.append(_fact("tools", f"{tokens(timeline.calls[column - 1].tool_tokens)} tokens"))
    return flow([*pieces, *(_fact(*one) for one in tally_facts(tally))], width)


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name} ", MUTED), value)


def detail(
    timeline: Timeline, column: int, tool: str, end: str, width: int, spent: Facts | None = None
) -> Content:
    """Return what a call was sent and why, what it did and cost, and the moves of the chosen tool."""
    call = timeline.calls[column - 1] if column < timeline.now else None
    moves = timeline.moves_at(column)
    if call is not None and call.called:
        first = Content.styled("A call of the client. Its model's calls are not in this record.", MUTED)
    elif call is not None:
        kind = "  thinking, calls nothing" if call.think else ""
        asked = Content.styled(f"You, message {call.message}{kind}\n", MUTED)
        first = asked + plain(call.said, newlines=False, limit=_TEXT)
    elif not timeline.calls:
        yet = (
            "No calls in this session yet." if end != "now" else "No model calls yet. Send a message in Chat."
        )
        first = Content.styled(yet, MUTED)
    else:
        now = "Now: what the next model call will send."
        ended = "How the session ended." if end == "end" else "The newest of a session that runs elsewhere."
        first = Content.styled(now if end == "now" else ended, MUTED)
    blocks = [first, _sent(call, moves, width), *([_did(call)] if call is not None else [])]
    if spent is not None:
        blocks.append(Content("\n").join(report_lines([spent], width)))
    return Content("\n\n").join([*blocks, *_way(timeline, tool, width)])


def _sent(call: ModelCall | None, moves: tuple[Move, ...], width: int) -> Content:
    lines = [Content.styled("Moved before this call", "bold")]
    for move in moves:
        sign, color = ICONS[move.binding_to] if move.binding_to is not None else ("-", MUTED)
        name = (middle(move.tool, max(width - 2, 8)), "bold")
        lines += [Content.assemble((sign, color), " ", name), _why(move, "  ")]
    if not moves:
        lines.append(Content.styled("nothing", MUTED))
    if call is not None and (call.change or call.same or call.resent):
        cost = f"tools[]: {tokens(call.same)} tokens unchanged, {tokens(call.resent)} resent"
        lines.append(Content.styled(cost, MUTED))
        if call.change:
            lines.append(Content("  ") + plain(call.change, newlines=False, limit=_TEXT))
    return Content("\n").join(lines)


def _why(move: Move, before: str) -> Content:
    way = f"{before}{move.binding_from or 'new'} → {move.binding_to or 'gone'}: "
    return Content.assemble((way, MUTED), plain(move.reason or move.cause, newlines=False, limit=_TEXT))


def _did(call: ModelCall) -> Content:
    lines = [
        Content.styled("What the client did" if call.called else "What the model did", "bold"),
        *map(_action_line, call.actions),
    ]
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
    lines += [_why(move, f"call {move.call}  ") for move in lane.moves[-_MOVES:]]
    yield Content("\n").join(lines)


# Long because the live session, recorded ones and replay share one cursor.
class TimelineScreen(ListPage, ToolKeys):
    """Lanes of tools over model calls. Every page shows the moment chosen here."""

    page = "timeline"
    CSS_PATH = "timeline_page.tcss"
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
        "What it cost: tokens, cache and price of that call; at the end, of the session.",
        "enter replays that call on every page; after that, ← → step every page.",
        "During a replay, the top line shows REPLAY. A replay is read-only.",
        "n returns to the running session.",
        "o lists the recorded sessions. f hides tools that never moved.",
        "/ filters, y copies a tool's id, esc goes back. `toolsight sessions show --json` has the same.",
    )

    when_not_typing = frozenset({"call", "first_call", "last_call", "show_moment"})

    def __init__(self) -> None:
        super().__init__()
        self._stream = Stream("", lambda _after, _until: ())
        self._column = 1
        self._is_newest = True
        self._only_moved = False
        self._reading = ""
        self._is_starting_replay = False
        self._prices: Prices | None = None
        self._priced = ""

    @property
    def tool_id(self) -> str:
        return self.key

    @property
    def replay(self) -> Replay:
        return self.context.replay

    @property
    def shared_session(self) -> str:
        return self._stream.session_id

    def report(self) -> Iterator[Block]:
        timeline = self._stream.timeline
        yield from timeline_report(self.shared_session, timeline, drawn=True)
        if costs := tuple(timeline.costs.values()):
            yield session_facts(costs, self._prices, self.session.state.model)

    def body(self) -> ComposeResult:
        yield Static(id="facts", markup=False)
        with Container(id="timeline-page"):
            yield Lanes()
            with VerticalScroll(classes="pane", id="timeline-detail"):
                yield Static(id="detail", markup=False)

    def on_mount(self) -> None:
        if self.replay.is_replay:
            self._show(self.replay.stream, self.replay.column)

    def arrive(self, destination: Destination) -> None:
        """Replay the recorded session that was asked for."""
        if isinstance(destination, TracePage):
            self._open(destination.session_id)

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the stream has more than the view
        if self.replay.is_replay:
            if self.replay.stream is self._stream:
                # It may have grown, see `ToolsightApp`.
                self._column = self.replay.column
            self.draw()
        else:
            self._follow()
        self._price()

    def _follow(self) -> None:
        """Read the new records of the running session; many of them in a thread."""
        if self._reading or self._is_starting_replay:
            return
        if self.replay.backlog > _SMALL:
            self._read("this session", self.replay.catch_up, self._show_live)
        else:
            self._show_live(self.replay.catch_up())

    def _show_live(self, stream: Stream) -> None:
        """Draw the running session; the cursor stays on its call, or with the newest one."""
        stays = stream is self._stream and not self._is_newest
        self._show(stream, self._column if stays else stream.timeline.now)

    def _show(self, stream: Stream, column: int) -> None:
        self._stream, self._reading = stream, ""
        self._column, self._is_newest = column, column == stream.timeline.now
        self.draw()

    def _read(self, what: str, make: Callable[[], Stream], show: Callable[[Stream], None]) -> None:
        """Read a stream in a thread; until then the page only says that it is reading."""
        self._reading = f"Reading {visible(what, limit=60, newlines=False)} …"
        self.draw()

        def failed(error: Exception) -> None:
            self._show(self._stream, self._column)
            self.fail(error)

        self.run_job("stream", lambda _: make(), show, failed=failed)

    def draw(self) -> None:
        timeline = self._stream.timeline
        self.query_one(Lanes).show(timeline, self._column, self._end, only_moved=self._only_moved)
        self.write(self._reading or facts(timeline, self._column, self._end, self.size.width - 2))
        self.draw_detail()

    @property
    def _end(self) -> str:
        """The name of the column after the last call."""
        if self._stream.is_live:
            return "live"
        return "end" if self.replay.is_recorded(self._stream) else "now"

    def draw_detail(self) -> None:
        pane, timeline = self.query_one("#timeline-detail"), self._stream.timeline
        width = max(pane.content_size.width - 1, 20)
        shown = detail(timeline, self._column, self.key, self._end, width, self._spent())
        self.write(shown, "#detail")
        pane.border_title = f"Call {self._column}" if self._column < timeline.now else self._end.capitalize()

    def _spent(self) -> Facts | None:
        """What the call under the cursor cost; at the end, what all of them did."""
        timeline, column = self._stream.timeline, self._column
        if column == timeline.now:
            costs = tuple(timeline.costs.values())
            return session_facts(costs, self._prices, self.session.state.model) if costs else None
        cost = timeline.costs.get(column)
        return call_facts(cost, self._prices) if cost is not None else None

    def _price(self) -> None:
        """Ask for the model's prices in a thread: the list of them is read first."""
        accounting, model = self.session.accounting, self.session.state.model
        if model == self._priced:
            return
        self._priced = model

        def show(prices: Prices | None) -> None:
            self._prices = prices
            self.draw_detail()

        self.run_job("prices", lambda _: accounting.prices(), show)

    def action_call(self, step: int) -> None:
        """Go to another call."""
        self._go(self._column + step)

    def action_first_call(self) -> None:
        """Go to the first call."""
        self._go(1)

    def action_last_call(self) -> None:
        """Go to the current state of the session, or to its end."""
        self._go(self._stream.timeline.now)

    @on(Lanes.Chosen)
    def _go_to_clicked(self, event: Lanes.Chosen) -> None:
        self._go(event.column)

    def _go(self, column: int) -> None:
        column = max(1, min(column, self._stream.timeline.now))
        if column != self._column:
            self._show(self._stream, column)
            if self.replay.is_replay or self._is_starting_replay:
                self.action_show_moment()

    def opened(self, key: str) -> None:  # noqa: ARG002 - a moment is one of all tools
        self.action_show_moment()

    def action_show_moment(self) -> None:
        """Replay the call under the cursor on every page."""
        replay, stream, column = self.replay, self._stream, self._column
        if not stream.timeline.calls and not replay.is_recorded(stream):
            self.warn("No model calls yet, so there is nothing to replay.")
            return

        def show(view: View) -> None:
            self._is_starting_replay = False
            replay.show(stream, column, view)

        def failed(error: Exception) -> None:
            self._is_starting_replay = False
            self.fail(error)

        self._is_starting_replay = True
        self.run_job("moment", lambda _: replay.moment(stream, column), show, failed=failed)

    def action_live(self) -> None:
        """Go back to the running session."""
        for job in ("moment", "stream"):
            self.drop_job(job)
        self._is_starting_replay, self._reading, self._is_newest = False, "", True
        self.replay.live()
        self._follow()

    def action_only_moved(self) -> None:
        """Hide or show the tools that never moved."""
        self._only_moved = not self._only_moved
        self.draw()

    def action_sessions(self) -> None:
        """Choose a recorded session."""
        self.open(Page("sessions"))

    def _open(self, session_id: str) -> None:
        """Replay a session from its start, or follow one that runs, on every page."""

        def show(stream: Stream) -> None:
            self._show(stream, stream.timeline.now if stream.is_live else 1)
            self.action_show_moment()

        self._read(session_id, partial(self.replay.read, session_id), show)

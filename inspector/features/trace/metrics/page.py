"""The telemetry page: statistics of the session that is shown, or of all that are recorded."""

from collections.abc import Sequence
from itertools import takewhile
from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.draw.line import MUTED, failure_line
from inspector.app.draw.table import report_lines
from inspector.app.list_page import GroupedPage
from inspector.app.replay import Replay
from inspector.app.stream import View
from inspector.core.number import count
from inspector.core.report import Block, Section
from inspector.core.turns import turns
from inspector.features.trace.metrics.facts import overview, sections
from inspector.features.trace.metrics.gathering import KINDS, Telemetry, telemetry
from inspector.session.view import SessionView
from widgets import plain

# Seconds that the record may go on before its numbers are computed anew.
_REST = 0.3
GROUPS = ("discovery", "tools", "latency", "failures", "inertia", "backlog")
_TITLES = {"inertia": "next tools", "backlog": "unmet requests"}
READING = "Reading …"
NOTHING = (
    "No searches or calls in this session yet. Press 1 and ask something in Chat, "
    "or press a to see all recorded sessions."
)
NO_SESSIONS = "No sessions recorded yet. Press 1 for Chat, or press i on the sessions page to import some."
EMPTY = {
    "inertia": "No predictions recorded: only the stack profile predicts which tool comes next. "
    "`toolsight sessions next` shows which tools are called after which.",
    "backlog": "No unmet requests: every search, if any, led to a call.",
}


class Shown(Struct, frozen=True):
    """What the page draws, computed in a thread: of one session, or of all."""

    overview: str
    sections: tuple[Section, ...]
    is_all: bool
    is_empty: bool

    @staticmethod
    def of(gathered: Telemetry, *, is_all: bool) -> "Shown":
        """Take what is drawn of the statistics."""
        used = gathered.turns or gathered.discovery.searches or gathered.calls.calls
        return Shown(overview(gathered), sections(gathered), is_all, not used)


def scope(shown: Shown | None, *, is_all: bool, progress: tuple[int, int] = (0, 0)) -> Content:
    """Return whose numbers these are, and how far they are read."""
    names = [("this session", not is_all), ("all sessions", is_all)]
    choice = Content("   ").join(
        Content.styled(f"● {name}", "bold") if chosen else Content.styled(f"○ {name}", MUTED)
        for name, chosen in names
    )
    done, total = progress
    if total:
        told = Content(f"Reading {done:,} of {count(total, 'session')}. esc stops.")
    else:
        told = Content(READING) if shown is None else plain(shown.overview, newlines=False)
    return Content.assemble(choice, "\n", told)


def page(shown: Shown, group: str, width: int) -> Content:
    """Return one group of numbers."""
    if shown.is_empty:
        return Content(NO_SESSIONS if shown.is_all else NOTHING)
    section = next(one for one in shown.sections if one.id == group)
    if not section.tables:
        return Content("\n").join(Content(EMPTY.get(section.id, NOTHING)).wrap(max(width, 1)))
    blocks: list[Block] = [part for table in section.tables for part in (table, "")]
    return Content("\n").join(report_lines(blocks[:-1], width))


class TelemetryScreen(GroupedPage):
    """Numbers by group, over one session or all of them; live, and in a replay up to its moment."""

    page = "telemetry"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#numbers"
    help_lines: ClassVar[tuple[str, ...]] = (
        "Searches, results, calls, latency, failures and unmet requests.",
        "Press t for the next group, a to switch between this session and all sessions (also imported ones).",
        "This session is counted live; a replay counts up to the moment shown.",
        "95 %: the Wilson interval of a share. With several sessions, each session is one cluster.",
        "A search led to no call if none of its results was called before the turn ended.",
        "`toolsight sessions next` shows which tools each agent called after which.",
        "r rereads all sessions, esc stops reading. `toolsight sessions metrics` prints the same.",
    )
    groups, group_titles = GROUPS, _TITLES
    when_idle = frozenset({"again"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "scope", "this/all"),
        Binding("r", "again", "reload", id="telemetry.again"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._shown: dict[bool, Shown] = {}
        self._is_all = False
        self._rest: Timer | None = None
        self._is_counting = False
        self._is_behind = False

    def words(self) -> Sequence[str]:
        return super().words()[: 2 if self._is_all else None]

    def body(self) -> ComposeResult:
        yield Static(id="facts", markup=False)
        yield self.tabs()
        with VerticalScroll(id="numbers", can_focus=True):
            yield Static(id="numbers-text", markup=False)

    def on_mount(self) -> None:
        self._count()

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the stream has more than the view
        """Count the session anew, once it rests or after a moment."""
        self._is_behind = True
        self._count_soon()

    def _count_soon(self) -> None:
        """Count after a moment, never while it is counted: a long session takes longer than that."""
        if self._rest is None and not self._is_counting:
            self._rest = self.set_timer(_REST, self._count)

    def _count(self) -> None:
        self._rest = None
        self._is_behind, self._is_counting = False, True
        session = self.session

        def ended(shown: Shown | Exception) -> None:
            self._is_counting = False
            if self._is_behind:
                self._count_soon()
            if isinstance(shown, Exception):
                self.write(failure_line(shown))
            else:
                self._take(shown)

        self.run_job("this", lambda job: _of_one(session, job), ended, failed=ended)

    def _take(self, shown: Shown) -> None:
        self._shown[shown.is_all] = shown
        self.draw()

    def draw(self) -> None:
        shown = self._shown.get(self._is_all)
        progress = self.running.progress if self._is_all and self.running is not None else (0, 0)
        self.write(scope(shown, is_all=self._is_all, progress=progress))
        text = READING if shown is None else page(shown, self.group, self.width)
        self.write(text, "#numbers-text")

    def on_tabs_tab_activated(self) -> None:
        self.query_one("#numbers", VerticalScroll).scroll_home(animate=False)

    def action_scope(self) -> None:
        """Change between this session and all; all are read the first time."""
        self._is_all = not self._is_all
        self.refresh_bindings()
        if self._is_all and self._is_all not in self._shown and self.running is None:
            self.action_again()
        self.draw()

    def action_again(self) -> None:
        """Read all sessions, in a thread."""
        replay = self.context.replay
        self.run_stoppable(
            "telemetry",
            lambda job: _of_all(replay, job),
            self._take,
            failed=lambda error: self.write(failure_line(error)),
        )
        self.draw()

    def show_progress(self) -> None:
        self.draw()

    def why_not(self, action: str) -> str:
        """Only recorded sessions are read from a file."""
        if action == "again" and not self._is_all:
            return "Only recorded sessions are read again: this one is always as it is now."
        return super().why_not(action)


def _of_one(session: SessionView, job: Job) -> Shown:
    records = takewhile(lambda _: not job.stopped(), session.records(KINDS))
    return Shown.of(telemetry(turns(records)), is_all=False)


def _of_all(replay: Replay, job: Job) -> Shown:
    """Read one session after another; none of them stays in memory."""
    gathered = Telemetry()
    found = replay.sessions()
    for number, session in enumerate(reversed(found), start=1):
        if job.stopped():
            break
        records = takewhile(lambda _: not job.stopped(), replay.recorded(session.id, KINDS))
        for turn in turns(records):
            gathered.add(turn)
        job.report(number, len(found))
    return Shown.of(gathered.end(), is_all=True)

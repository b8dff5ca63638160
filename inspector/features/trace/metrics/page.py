"""The telemetry page: statistics of the session that is shown, or of all that are recorded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.draw.line import MUTED, failure_line
from inspector.app.draw.table import fact, report_lines
from inspector.app.list_page import GroupedPage
from inspector.app.replay import Replay
from inspector.app.stream import View
from inspector.core.error import BreakerState, BreakerStatus
from inspector.core.inertia import Aging
from inspector.core.number import bar, count, percent, shown_moment
from inspector.core.report import Section, Table
from inspector.core.turns import turns
from inspector.features.trace.feature import FLOWS
from inspector.features.trace.metrics.facts import MOST, overview, sections
from inspector.features.trace.metrics.gathering import KINDS, Telemetry, telemetry
from inspector.loop.flow import flows, following
from inspector.session.miss import Backlog
from inspector.session.view import SessionView
from widgets import plain

# Seconds that the record may go on before its numbers are computed anew.
_REST = 0.3
GROUPS = ("discovery", "tools", "latency", "failures", "inertia", "backlog")
READING = "Reading …"
NOTHING = (
    "No searches or calls in this session yet. Press 1 and ask something in Chat, "
    "or press a to see all recorded sessions."
)
NO_SESSIONS = "No sessions recorded yet. Press 1 for Chat, or press i on the sessions page to import some."
EMPTY = {
    "inertia": "No predictions recorded: only the stack profile predicts which tool comes next. "
    "Press a to see which tools are called after which in all recorded sessions.",
    "backlog": "No unmet requests: every search, if any, led to a call.",
}
NO_BREAKER = "No circuit breaker has changed state. The stack profile turns them on."
_LONGEST, _BAR, _LABELS, _TOOLS = 200, 10, 16, 4
_TIME, _DAY_AND_TIME = "%H:%M:%S", "%Y-%m-%d %H:%M:%S"
_SIGNS = {
    BreakerState.CLOSED: ("✓ closed", "$text-success"),
    BreakerState.HALF_OPEN: ("◐ half-open", "$text-warning"),
    BreakerState.OPEN: ("✕ open", "$text-error"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page draws, computed in a thread: of one session, or of all."""

    overview: str
    sections: tuple[Section, ...]
    breakers: tuple[BreakerStatus, ...]
    backlog: tuple[Backlog, ...]
    is_all: bool
    is_empty: bool

    @staticmethod
    def of(gathered: Telemetry, *, is_all: bool, followed: tuple[Table, ...] = ()) -> "Shown":
        """Take what is drawn of the statistics; `followed` says which tools are called after which."""
        used = gathered.turns or gathered.discovery.searches or gathered.calls.calls
        return Shown(
            overview(gathered),
            tuple(
                replace(one, tables=(*one.tables, *followed)) if one.id == "inertia" else one
                for one in sections(gathered)
            ),
            tuple(gathered.reliability.breakers.values()),
            gathered.backlog.groups[:MOST],
            is_all,
            not used,
        )


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
    lines = _backlog(shown.backlog, width) if group == "backlog" and shown.backlog else None
    return Content("\n").join(lines or _lines(shown, section, width))


def _lines(shown: Shown, section: Section, width: int) -> Iterator[Content]:
    if section.id == "failures":
        yield from _board(shown.breakers, width, _DAY_AND_TIME if shown.is_all else _TIME)
        yield Content()
    elif not section.tables:
        yield from Content(EMPTY.get(section.id, NOTHING)).wrap(max(width, 1))
    for number, table in enumerate(one for one in section.tables if one.headers[0] != "breaker"):
        yield from report_lines(["", table] if number else [table], width)


def _board(breakers: Sequence[BreakerStatus], width: int, form: str) -> Iterator[Content]:
    """The breakers: state, failure rate as a bar, since when, and when a call tries it again."""
    yield Content.styled("Breakers", "bold")
    if not breakers:
        yield from Content.styled(NO_BREAKER, MUTED).wrap(max(width, 1))
        return
    names = min(max(len(one.name) for one in breakers), max(width // 3, _LABELS))
    for one in sorted(breakers, key=lambda each: (list(_SIGNS).index(each.state), each.name), reverse=True):
        yield from _breaker(one, names, width, form)


def _breaker(one: BreakerStatus, names: int, width: int, form: str) -> Iterator[Content]:
    sign, style = _SIGNS[one.state]
    rate = f"{percent(one.failure_rate)} of {count(one.calls, 'call')} failed" if one.calls else ""
    filled = bar(one.failure_rate, _BAR)
    again = f"retry at {shown_moment(one.until, _TIME)}" if one.until else ""
    times = f"opened {count(one.opened, 'time')}" if one.opened > 1 else ""
    yield Content.assemble(
        plain(one.name, newlines=False).truncate(names, ellipsis=True, pad=True),
        "  ",
        (f"{sign:<13}", style),
        (f"{filled:<{_BAR}}", style),
        f"  {rate}",
    )
    told = ", ".join(filter(None, (f"since {shown_moment(one.since, form)}", again, one.why, times)))
    for line in plain(told, limit=_LONGEST * 2, newlines=False).wrap(max(width - 2, 1)):
        yield Content.assemble("  ", line.stylize(MUTED))


def _backlog(groups: Sequence[Backlog], width: int) -> Iterator[Content]:
    """Each request that was not served: how often, the words of it, and what was found and called instead."""
    for number, one in enumerate(groups):
        if number:
            yield Content()
        where = f"in {count(len(one.sessions), 'session')}, last {shown_moment(one.last)} UTC"
        yield Content.assemble((f"{count(one.count, 'search', 'searches')} ", "bold"), (where, MUTED))
        queries = plain("; ".join(one.queries), limit=_LONGEST, newlines=False)
        yield fact("searched for", queries, _LABELS, width)
        became = ", ".join(f"{times:,}x {cause}" for cause, times in one.causes.most_common())
        yield fact("outcome", Content(became), _LABELS, width)
        for label, tools in (("found", one.found), ("called instead", one.called)):
            if tools:
                told = ", ".join(tool for tool, _ in tools.most_common(_TOOLS))
                yield fact(label, plain(told, limit=_LONGEST, newlines=False), _LABELS, width)


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
        "inertia, over all sessions: which tools each agent called after which, and how sure that is.",
        "r rereads all sessions, esc stops reading. `toolsight sessions metrics` prints the same.",
    )
    groups = GROUPS
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
        replay, library, settings = (
            self.context.replay,
            self.context.parts.get(FLOWS),
            self.session.settings.inertia,
        )
        aging = Aging(self.session.retrieval.clock.now(), settings.half_life_days)

        def followed(job: Job) -> tuple[Table, ...]:
            graphs = library.graphs(settings.seed, job.stopped) if library is not None else {}
            return tuple(map(following, flows(graphs, aging)))

        self.run_stoppable(
            "telemetry",
            lambda job: _of_all(replay, followed, job),
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


def _of_all(replay: Replay, followed: Callable[[Job], tuple[Table, ...]], job: Job) -> Shown:
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
    return Shown.of(gathered.end(), is_all=True, followed=followed(job))

"""The telemetry page: statistics of the session that is shown, or of all that are recorded."""

from functools import partial
from itertools import takewhile
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.widgets import Static, Tab, Tabs

from inspector.app.activity import Activity
from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.draw.line import failure_line
from inspector.app.job import Job
from inspector.app.pages.trace.telemetry import content
from inspector.app.replay import Replay
from inspector.app.stream import View
from inspector.measure.telemetry.gathering import KINDS, Telemetry, telemetry
from inspector.session.view import SessionView
from widgets import KeyBar

_ONE, _ALL = "this", "all"
# Seconds that the record may go on before its numbers are computed anew.
_REST = 0.3
# Padding and scroll bar.
_BESIDE = 4


class TelemetryScreen(BaseScreen):
    """Numbers by group, over one session or all of them; live, and in a replay up to its moment."""

    page = "telemetry"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#numbers"
    help_lines: ClassVar[tuple[str, ...]] = (
        "Searches, results, calls, latency, failures and unmet requests.",
        "Press t for the next group, a to switch between this session and all sessions (also imported ones).",
        "This session is counted live; a replay counts up to the moment shown.",
        "95 %: the Wilson interval of a share. With several sessions, each session is one cluster.",
        "A search led to no call if none of its results was called before the turn ended.",
        "r rereads all sessions, esc stops reading. `toolsight sessions metrics` prints the same.",
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "next_group", "group", id="trace.group"),
        Binding("a", "scope", "this/all"),
        Binding("r", "again", "reload", id="telemetry.again"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._group = content.GROUPS[0]
        self._shown: dict[str, content.Shown] = {}
        self._is_all = False
        self._rest: Timer | None = None
        self._reading: Job | None = None
        self._is_counting = False
        self._is_behind = False

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield Static(id="scope", markup=False)
        yield Tabs(*(Tab(name, id=f"group-{name}") for name in content.GROUPS), id="telemetry-groups")
        with VerticalScroll(id="numbers", can_focus=True):
            yield Static(id="numbers-text", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#telemetry-groups").can_focus = False
        self._count()

    @property
    def activity(self) -> Activity | None:
        if self._reading is None:
            return None
        return Activity("telemetry", self.action_stop, *self._reading.progress)

    @property
    def _key(self) -> str:
        return _ALL if self._is_all else _ONE

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

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
        self.run_job(
            _ONE, lambda job: _of_one(session, job), partial(self._take, _ONE), failed=self._fail_to_count
        )

    def _counted(self) -> None:
        self._is_counting = False
        if self._is_behind:
            self._count_soon()

    def _fail_to_count(self, error: Exception) -> None:
        self._counted()
        self.query_one("#scope", Static).update(failure_line(error))

    def _take(self, key: str, shown: content.Shown) -> None:
        self._shown[key] = shown
        if key == _ONE:
            self._counted()
        if key == _ALL:
            self._reading = None
            self.refresh_bindings()
        self._draw()

    def _fail(self, error: Exception) -> None:
        self._reading = None
        self.refresh_bindings()
        self.query_one("#scope", Static).update(failure_line(error))

    def _draw(self) -> None:
        shown = self._shown.get(self._key)
        progress = self._reading.progress if self._is_all and self._reading is not None else (0, 0)
        self.query_one("#scope", Static).update(content.scope(shown, is_all=self._is_all, progress=progress))
        width = max(self.size.width - _BESIDE, 1)
        text = content.READING if shown is None else content.page(shown, self._group, width)
        self.query_one("#numbers-text", Static).update(text)

    @on(Tabs.TabActivated)
    def _choose_group(self, event: Tabs.TabActivated) -> None:
        self._group = (event.tab.id or "").removeprefix("group-")
        self.query_one("#numbers", VerticalScroll).scroll_home(animate=False)
        self._draw()

    def action_next_group(self) -> None:
        """Show the next group of numbers."""
        self.query_one(Tabs).action_next_tab()

    def action_scope(self) -> None:
        """Change between this session and all; all are read the first time."""
        self._is_all = not self._is_all
        self.refresh_bindings()
        if self._is_all and _ALL not in self._shown and self._reading is None:
            self.action_again()
        self._draw()

    def action_again(self) -> None:
        """Read all sessions, in a thread."""
        replay = self.context.replay
        self._reading = self.run_job(
            _ALL,
            lambda job: _of_all(replay, job),
            partial(self._take, _ALL),
            failed=self._fail,
            progress=lambda _done, _total: self._draw(),
        )
        self.refresh_bindings()
        self._draw()

    def action_stop(self) -> None:
        """Stop reading; what was read so far is shown."""
        self.stop_job(_ALL)

    async def action_leave(self) -> None:
        """Stop reading, or go back."""
        if self._reading is not None and not self._reading.is_stopped:
            self.action_stop()
        else:
            await super().action_leave()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to read again where there is something to read."""
        if action == "again":
            return self._is_all and self._reading is None
        return super().check_action(action, parameters)


def _of_one(session: SessionView, job: Job) -> content.Shown:
    records = takewhile(lambda _: not job.stopped(), session.records(KINDS))
    return content.Shown.of(telemetry(records), is_all=False)


def _of_all(replay: Replay, job: Job) -> content.Shown:
    """Read one session after another; none of them stays in memory."""
    gathered = Telemetry()
    found = replay.sessions()
    for number, session in enumerate(reversed(found), start=1):
        if job.stopped():
            break
        for record in takewhile(lambda _: not job.stopped(), replay.recorded(session.id, KINDS)):
            gathered.after(record)
        job.report(number, len(found))
    return content.Shown.of(gathered.end(), is_all=True)

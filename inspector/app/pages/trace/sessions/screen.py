"""The sessions page: what was recorded here, and what was imported from agents' transcripts."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from inspector.app.activity import Activity
from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.dialogs.detail import PathDialog
from inspector.app.draw.line import failure_line
from inspector.app.job import Job
from inspector.app.pages.trace.sessions import content
from inspector.app.place import TracePage
from inspector.clients.finding import Findings
from inspector.clients.library import AgentLibrary, Found, ImportReport
from inspector.core.store_ports import SessionSummary
from widgets import KeyBar, RecordList

# Padding and scroll bar; and the seconds that the cursor rests on a session before it is read.
_BESIDE, _REST = 4, 0.1
_IMPORT, _FINDINGS, _OUTLINES = "import", "findings", "outlines"
# The sessions that are read before their rows are drawn.
_BATCH = 20


# Long because listing, importing and replaying share one list.
class SessionsScreen(BaseScreen):
    """Every session in a list; below, what the one under the cursor shows."""

    page = "sessions"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#sessions RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "replay", "replay", priority=True, id="sessions.replay"),
        Binding("i", "import", "import", id="sessions.import"),
        Binding("w", "requests", "write requests", id="sessions.requests"),
        Binding("r", "again", "reload", id="sessions.again"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Toolsight's sessions and those of real agents, imported from their transcripts.",
        "i imports a transcript or a folder of transcripts, new entries only; esc stops.",
        "Nothing leaves this machine. Likely secrets are redacted before anything is stored.",
        "enter replays the session under the cursor on every page, from its first model call.",
        "missed: a search followed by another search instead of a call.",
        "w writes searches and the calls that followed as labelled requests, for Lab and `toolsight bench`.",
        "/ filters, y copies a session's id. `toolsight sessions agents` sums up many sessions.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[SessionSummary] = ()
        self._findings: Findings | None = None
        self._outlines: dict[str, content.Outline] = {}
        self._news: Content | None = None
        self._rest: Timer | None = None
        self._job: Job | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield Static(content.READING, id="facts", markup=False)
        yield RecordList(content.COLUMNS, header=True, empty=content.READING, id="sessions")
        with VerticalScroll(id="session", can_focus=True):
            yield Static(id="detail", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#sessions").border_title = "Sessions"
        self.query_one("#session").border_title = "Findings in this session"
        self._list()

    @property
    def activity(self) -> Activity | None:
        if self._job is None:
            return None
        return Activity("import", self.action_stop, *self._job.progress)

    @property
    def _library(self) -> AgentLibrary | None:
        return self.context.agents

    @property
    def _current(self) -> str:
        """The id of the session under the cursor, "" if there is none."""
        current = self.query_one("#sessions", RecordList).current
        return current.key if current is not None else ""

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_findings)

    def action_again(self) -> None:
        """Read the list of sessions again."""
        self._news = None
        self._list()

    def _list(self) -> None:
        replay = self.context.replay
        self.run_job("sessions", lambda _: replay.sessions(), self._show, failed=self._fail)

    def _show(self, found: Sequence[SessionSummary]) -> None:
        self._found = found
        if self._job is None:
            self._say(self._news or content.facts(found))
        listed = self.query_one("#sessions", RecordList)
        listed.empty = content.EMPTY
        self._draw_rows()
        self._look_soon()
        self._outline()

    def _draw_rows(self) -> None:
        shown = self.context.replay.session.session_id
        self.query_one("#sessions", RecordList).records = content.rows(self._found, shown, self._outlines)

    def on_screen_resume(self, event: events.ScreenResume) -> None:  # noqa: ARG002 - as the page has it
        """Go on reading what the rows show, as far as it is not known."""
        self._outline()

    def on_screen_suspend(self) -> None:
        """Read nothing for rows that nobody looks at."""
        self.stop_job(_OUTLINES)

    def _outline(self) -> None:
        """Read in the background what the rows show of each session, newest first."""
        library = self._library
        fresh = content.unread(self._found, self._outlines)
        if library is None or not fresh:
            return

        def read(job: Job) -> None:
            for first in range(0, len(fresh), _BATCH):
                made: dict[str, content.Outline] = {}
                for one in fresh[first : first + _BATCH]:
                    if job.is_stopped:
                        return
                    made[one.id] = content.outline(one.events, library.findings(one.id))
                job.tell(partial(self._outlined, made))

        self.run_job(_OUTLINES, read, lambda _: None, failed=self._fail)

    def _outlined(self, made: Mapping[str, content.Outline]) -> None:
        self._outlines |= made
        self._draw_rows()

    def _say(self, text: Content) -> None:
        self.query_one("#facts", Static).update(text)

    def _fail(self, error: Exception) -> None:
        self._news = failure_line(error)
        self._end()

    @on(RecordList.Highlighted, "#sessions")
    def _look_soon(self) -> None:
        """Read a session once the cursor rests on it: a long one takes a moment."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST, self._look)

    def _look(self) -> None:
        library, session = self._library, self._current
        if library is not None and session:
            self.run_job(_FINDINGS, lambda _: library.findings(session), self._show_findings)

    def _show_findings(self, found: Findings) -> None:
        self._findings = found
        self._draw_findings()

    def _draw_findings(self) -> None:
        shown, width = self._findings, self.size.width - _BESIDE
        self.query_one("#detail", Static).update("" if shown is None else content.detail(shown, width))

    @on(RecordList.Selected, "#sessions")
    def action_replay(self) -> None:
        """Replay the session under the cursor on every page."""
        if self._current:
            self.open(TracePage(self._current))

    def action_import(self) -> None:
        """Ask for transcripts, with the folders of the known agents at hand, and import them."""
        library = self._library
        if library is None:
            self._tell(Content(content.NOT_HERE))
            return
        self.run_job("folders", lambda _: library.folders(), self._ask)

    def _ask(self, found: Sequence[Found]) -> None:
        suggested = found[0].folder if found else ""
        note = content.folders(found)
        dialog = PathDialog("Import agents' transcripts", "imports", suggested, note)
        self.app.push_screen(dialog, self._import)

    def _import(self, path: str | None) -> None:
        library = self._library
        if path is None or library is None:
            return
        self._job = self.run_job(
            _IMPORT,
            lambda job: library.import_from([path], job.report, job.stopped),
            self._imported,
            failed=self._fail,
            progress=lambda done, total: self._say(content.importing(done, total)),
        )
        self.refresh_bindings()

    def _imported(self, report: ImportReport) -> None:
        self._news = content.imported(report)
        self._end()
        self._list()

    def _end(self) -> None:
        self._job = None
        self.refresh_bindings()
        if self._news is not None:
            self._say(self._news)

    def action_stop(self) -> None:
        """Stop importing; what was imported so far stays."""
        self.stop_job(_IMPORT)

    async def action_leave(self) -> None:
        """Stop importing, or go back."""
        if self._job is not None and not self._job.is_stopped:
            self.action_stop()
        else:
            await super().action_leave()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the keys that work now, and leave enter to the filter while it has the focus."""
        if action == "import":
            return self._job is None
        if action == "replay":
            return not isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def action_requests(self) -> None:
        """Ask for a file, and add the session's searches with the calls after them."""
        session = self._current
        if self._library is None or not session:
            self._tell(Content(content.NOT_HERE if session else content.EMPTY))
            return
        note = "Missing lines are added to an existing file. `toolsight bench --data FILE` reads it."
        dialog = PathDialog("Write labelled requests", "writes", "requests.jsonl", note)
        self.app.push_screen(dialog, lambda path: self._write(session, path))

    def _write(self, session: str, path: str | None) -> None:
        library = self._library
        if path is None or library is None:
            return
        self.run_job(
            "requests",
            lambda _: library.write_requests([session], path),
            lambda added: self._tell(content.requests(added, path)),
            failed=self._fail,
        )

    def _tell(self, news: Content) -> None:
        """Say in the first line what was done, until the list is read again."""
        self._news = news
        self._say(news)

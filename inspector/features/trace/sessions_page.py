"""The sessions page: what was recorded here, and of other agents by a tap or from their transcripts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.dialogs.export import PathDialog
from inspector.app.draw.line import failure_line
from inspector.app.draw.table import report_lines
from inspector.app.list_page import ListPage
from inspector.app.place import SearchPage, TracePage, WhyNotPage, WorklistPage
from inspector.core.number import byte_size
from inspector.core.ports import SessionSummary, SystemClock
from inspector.core.ranking import SearchRequest
from inspector.core.report import Block
from inspector.core.tool import Catalog
from inspector.features.agents.facts import folders_text, import_line, session_report
from inspector.features.agents.feature import AGENTS
from inspector.features.agents.finding import Findings
from inspector.features.agents.importing import AgentLibrary, Found, Imported
from inspector.features.agents.unused import DAYS, recent, unused
from inspector.features.agents.unused_facts import unused_report
from inspector.features.trace.session_rows import COLUMNS, UNREAD, Outline, facts, live_first, outline, rows
from inspector.session.difference import KINDS as COMPARED, Side, aligned, difference, difference_report
from widgets import RecordList

READING = "Reading the recorded sessions …"
EMPTY = "No sessions recorded yet."
_NO_MISSES = "No missed search of this session led to a call of a tool that is here now."
_MARKED = "This session is A. Go to another one, and press = to compare; = again lets it go."
_UNMARKED = "No session is marked."
NOT_HERE = "This session cannot import. Use `toolsight sessions import`."
# Seconds that the cursor rests on a session before it is read; sessions that are read before rows are drawn.
_REST, _BATCH = 0.1, 20


def _here(catalog: Catalog, tool_id: str) -> str:
    """The id of an agent's tool in this catalog, whose server may have another name; "" if it is not here."""
    name = tool_id.partition(":")[2]
    alike = [tool.id for tool in catalog.tools if tool.name == name]
    return tool_id if tool_id in catalog.by_id else alike[0] if len(alike) == 1 else ""


# Long because listing, importing and replaying share one list.
class SessionsScreen(ListPage):
    """Every session in a list; below, what the one under the cursor shows."""

    page = "sessions"
    CSS_PATH = "sessions_page.tcss"
    AUTO_FOCUS = "#sessions RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "replay", "replay", priority=True, id="sessions.replay"),
        Binding("i", "import", "import", id="sessions.import"),
        Binding("w", "why", "why missed", id="sessions.why"),
        Binding("a", "worklist", "misses to the worklist", show=False, id="sessions.worklist"),
        Binding("equals_sign", "compare", "compare", key_display="=", id="sessions.compare"),
        Binding("u", "unused", "unused tools", id="sessions.unused"),
        Binding("r", "again", "reload", id="sessions.again"),
    ]
    titles: ClassVar[Mapping[str, str]] = {"sessions": "Sessions", "session": "Findings in this session"}
    when_idle = frozenset({"import"})
    when_not_typing = frozenset({"replay"})
    help_lines: ClassVar[tuple[str, ...]] = (
        "Toolsight's sessions and those of real agents, imported from their transcripts.",
        "i imports a transcript or a folder of transcripts, new entries only; esc stops.",
        "Nothing leaves this machine. Likely secrets are redacted before anything is stored.",
        "enter replays the session under the cursor on every page, from its first model call.",
        "missed: a search followed by another search instead of a call.",
        "a puts its missed searches on the worklist in Search, each with the tool that was called instead.",
        "= on one session, then on another, shows what differs; `toolsight diff A B` compares servers, too.",
        f"u lists what clients never called in {DAYS} days; `toolsight sessions unused` leaves it out.",
        "w shows why the newest search missed, e there edits the tool. tools: their tokens in a request.",
        "`toolsight bench label FILE --from-log` writes searches and the calls that followed, for Lab.",
        "● marks sessions that run elsewhere, such as a tap's; enter follows one. The list follows, too.",
        "x exports the list, or as .toolsight the session under the cursor, to open without its servers.",
        "/ filters, y copies a session's id. `toolsight sessions agents` sums up many sessions.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[SessionSummary] = ()
        self._findings: Findings | None = None
        # The title and the text of the lower pane: of a session, or of a report in its place.
        self._shown: tuple[str, Sequence[Block]] = (self.titles["session"], ())
        self._outlines: dict[str, Outline] = {}
        self._news: Content | None = None
        self._sides: tuple[str, ...] = ()
        self._rest: Timer | None = None
        self._stays_first = False

    @property
    def shared_session(self) -> str:
        return self.key or super().shared_session

    def body(self) -> ComposeResult:
        yield Static(READING, id="facts", markup=False)
        yield RecordList(COLUMNS, header=True, empty=READING, id="sessions")
        with VerticalScroll(id="session", can_focus=True):
            yield Static(id="detail", markup=False)

    @property
    def width(self) -> int:
        return super().width * (45 if self.has_class("-wide") else 100) // 100

    def on_mount(self) -> None:
        self._list()

    def show_recorded(self) -> None:
        self._list()

    @property
    def _library(self) -> AgentLibrary | None:
        return self.context.parts.get(AGENTS)

    def action_again(self) -> None:
        """Read the list of sessions again."""
        self._news = None
        self._list()

    def _list(self) -> None:
        replay = self.context.replay
        self.run_job("sessions", lambda _: replay.sessions(), self._show, failed=self._fail)

    def _show(self, found: Sequence[SessionSummary]) -> None:
        before, self._found = self._found, live_first(found)
        found = self._found
        if self.running is None:
            self.write(self._news or facts(found))
        self.list.empty = EMPTY
        self.draw()
        if self._stays_first and found:
            # Who comes back finds the newest under the cursor; while the list is looked at, nothing moves.
            self.list.move_to(found[0].id)
        self._stays_first = False
        if self._under_cursor(before) != self._under_cursor(found):
            self.moved()
        self._outline()

    def _under_cursor(self, found: Sequence[SessionSummary]) -> SessionSummary | None:
        return next((one for one in found if one.id == self.key), None)

    def draw(self) -> None:
        marks = {self.context.replay.session.session_id: "✓", **dict(zip(self._sides, "AB", strict=False))}
        self.list.records = rows(self._found, marks, self._outlines)

    def on_screen_resume(self, event: events.ScreenResume) -> None:  # noqa: ARG002 - as the page has it
        """Go on reading what the rows show, as far as it is not known."""
        self._stays_first &= self._misses_recorded
        self._outline()

    def on_screen_suspend(self) -> None:
        """Read nothing for rows that nobody looks at."""
        self._stays_first = bool(self._found) and self.key == self._found[0].id
        self.stop_job("outlines")

    def _outline(self) -> None:
        """Read in the background what the rows show of sessions that are new or have grown, newest first."""
        library = self._library
        fresh = [one for one in self._found if self._outlines.get(one.id, UNREAD).events != one.events]
        if library is None or not fresh:
            return

        def show(made: Mapping[str, Outline]) -> None:
            self._outlines |= made
            self.draw()

        def read(job: Job) -> None:
            for first in range(0, len(fresh), _BATCH):
                made: dict[str, Outline] = {}
                for one in fresh[first : first + _BATCH]:
                    if job.is_stopped:
                        return
                    made[one.id] = outline(one.events, library.findings(one.id))
                job.tell(partial(show, made))

        self.run_job("outlines", read, lambda _: None, failed=self._fail)

    def moved(self) -> None:
        """Read a session once the cursor rests on it: a long one takes a moment."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST, self._look)

    def _look(self) -> None:
        library, session = self._library, self.key
        if library is not None and session:

            def show(found: Findings) -> None:
                self._findings = found
                self._shown = self.titles["session"], tuple(session_report(found))
                self.draw_detail()

            self.run_job("findings", lambda _: library.findings(session), show)

    def draw_detail(self) -> None:
        self.query_one("#session").border_title, blocks = self._shown
        self.write(Content("\n").join(report_lines(blocks, self.width)), "#detail")

    def opened(self, key: str) -> None:
        self.open(TracePage(key))

    def action_unused(self) -> None:
        """Show what clients had in the last days and never called, until the cursor moves."""
        library, meant = self._library, recent(self._found, DAYS, SystemClock().now())
        if library is None:
            self._tell(Content(NOT_HERE))
            return

        def read() -> Iterator[Block]:
            return unused_report(unused((one, library.findings(one.id)) for one in meant), DAYS)

        self._report(f"Never called in {DAYS} days", read)

    def action_compare(self) -> None:
        """Mark the session under the cursor, or show what differs between it and the one that is marked."""
        first, second = self._sides[0] if len(self._sides) == 1 else "", self.key
        self._sides = () if first == second else (first, second) if first else (second,)
        self.draw()
        if len(self._sides) < 2:
            self._tell(Content(_MARKED if self._sides else _UNMARKED))
            return
        replay, cost = self.context.replay, self.session.accounting.cost
        # When it began, and its question.
        names = {row.key: " ".join(map(str, row.cells[1:3])).rstrip(" –") for row in self.list.records}

        def side(session: str) -> Side:
            return Side.of_session(names[session], replay.recorded(session, COMPARED)).counted(
                lambda one: cost(one).tokens
            )

        self._tell(facts(self._found))
        self._report(
            "What differs between A and B",
            lambda: difference_report(difference(*aligned(side(first), side(second)))),
        )

    def _report(self, title: str, read: Callable[[], Iterator[Block]]) -> None:
        """Read a report, and show it in place of the session under the cursor."""

        library, session = self._library, self.key

        def show(made: tuple[Findings | None, Sequence[Block]]) -> None:
            # Those of the row under the cursor too: w and a act on them.
            self._findings, blocks = made
            self._shown = title, blocks
            self.draw_detail()
            self.query_one("#session").focus()

        if self._rest is not None:
            self._rest.stop()
        self.write(READING, "#detail")

        def both(_: Job) -> tuple[Findings | None, Sequence[Block]]:
            return library.findings(session) if library and session else None, tuple(read())

        self.run_job("findings", both, show, failed=self._fail)

    def action_replay(self) -> None:
        """Replay the session under the cursor on every page."""
        if self.key:
            self.opened(self.key)

    def action_import(self) -> None:
        """Ask for transcripts, with the folders of the known agents at hand, and import them."""
        library = self._library
        if library is None:
            self._tell(Content(NOT_HERE))
        else:

            def ask(found: Sequence[Found]) -> None:
                suggested = found[0].folder if found else ""
                dialog = PathDialog("Import agents' transcripts", "imports", suggested, folders_text(found))
                self.app.push_screen(dialog, partial(self._import, library))

            self.run_job("folders", lambda _: library.folders(), ask)

    def _import(self, library: AgentLibrary, path: str | None) -> None:
        if path is not None:
            self.run_stoppable(
                "import",
                lambda job: library.import_from([path], job.report, job.stopped),
                self._imported,
                failed=self._fail,
            )

    def show_progress(self) -> None:
        if self.running is not None and self.running.progress[1]:
            done, total = map(byte_size, self.running.progress)
            self.write(f"Importing: {done} of {total}. esc stops; the next import continues.")

    def _imported(self, report: Imported) -> None:
        self._tell(Content(import_line(report)))
        self._list()

    def action_why(self) -> None:
        """Show why the newest search that missed did not find what was called instead, or what it finds."""
        found = self._findings.misses[::-1] if self._findings is not None else ()
        if not found:
            self.warn("No search of this session missed.")
            return
        catalog = self.session.catalog
        wanted = ((one, tool) for one in found for name in one.called[:1] if (tool := _here(catalog, name)))
        miss, tool_id = next(wanted, (found[0], ""))
        request = SearchRequest(miss.query)
        self.open(WhyNotPage(tool_id, request) if tool_id else SearchPage(request))

    def action_worklist(self) -> None:
        """Keep the searches that missed in sight in Search, each with the tool that was called instead."""
        found = self._findings.misses if self._findings is not None else ()
        catalog = self.session.catalog
        named = [(SearchRequest(one.query), _here(catalog, one.called[0])) for one in found if one.called]
        wanted = [pair for pair in named if pair[1]]
        if wanted:
            self.open(WorklistPage(tuple(wanted)))
        else:
            self._tell(Content(_NO_MISSES))

    def _fail(self, error: Exception) -> None:
        self._tell(failure_line(error))

    def _tell(self, news: Content) -> None:
        """Say in the first line what was done, until the list is read again."""
        self._news = news
        self.write(news)

"""The sessions page: what was recorded here, and what was imported from agents' transcripts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
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
from inspector.app.draw.line import MUTED, failure_line
from inspector.app.draw.table import table_lines
from inspector.app.list_page import ListPage
from inspector.app.place import TracePage, WorklistPage
from inspector.clients.finding import Findings, ServerUse
from inspector.clients.library import AgentLibrary, Found, ImportReport, by_tokens, tool_table
from inspector.clients.miss import backlog
from inspector.core.number import byte_size, count, money, shown_moment, tokens
from inspector.core.ports import SessionSummary
from inspector.core.ranking import SearchRequest
from inspector.core.report import Table
from widgets import Column, Record, RecordList, plain, visible

COLUMNS = (
    Column("mark", "", width=1),
    Column("started", "started (UTC)", width=16),
    Column("question", "first question", weight=8, min_width=16),
    Column("servers", "servers", weight=3, shorten="middle", hide_below=100),
    Column("agent", "agent", weight=4, min_width=9),
    Column("session", "session", weight=4, min_width=10, shorten="middle", hide_below=140),
    Column("searches", "searches", align="right", width=8, weight=1),
    Column("missed", "missed", align="right", width=6, weight=6),
    Column("calls", "calls", align="right", width=5, weight=2),
    Column("cost", "cost", align="right", width=8, weight=5),
)
READING = "Reading the recorded sessions …"
EMPTY = "No sessions recorded yet."
OWN = "toolsight"
_NO_MISSES = "No missed search of this session led to a call of a tool that is here now."
NOT_HERE = "This session cannot import. Use `toolsight sessions import`."
_LONGEST, _MISSES = 200, 8
_SERVERS = ("server", "known", "deferred", "loaded", "called", "calls", "tokens", "trouble")
_NUMBERS = frozenset(range(1, 7))
# Seconds that the cursor rests on a session before it is read; sessions that are read before rows are drawn.
_REST, _BATCH = 0.1, 20


def facts(found: Sequence[SessionSummary]) -> Content:
    """Return how many sessions there are, and whose."""
    imported = sum(bool(session.agent) for session in found)
    return Content(f"{count(len(found), 'session')}, {imported:,} imported from agents' transcripts")


def imported(report: ImportReport) -> Content:
    """Return what an import did, with what was not understood."""
    done = report.imported
    parts = [
        f"{count(report.transcripts, 'transcript')}: {done.new:,} new, {done.grown:,} extended",
        f"{count(done.added, 'event')} stored",
    ]
    odd = done.tally.unknown.total() + done.tally.malformed.total()
    parts += [f"{count(odd, 'record')} not understood"] if odd else []
    parts += [f"{count(len(report.skipped), 'file')} skipped"] if report.skipped else []
    parts += [f"{count(len(done.held), 'session')} still being written"] if done.held else []
    parts += [] if done.is_complete else ["stopped early"]
    return Content("; ".join(parts))


@dataclass(frozen=True, slots=True)
class Outline:
    """What a row shows of a session's findings, made when it had so many events."""

    events: int = 0
    missed: str = ""
    cost: str = ""


UNREAD = Outline()


def outline(events: int, found: Findings) -> Outline:
    """Return how many searches missed, and what the session cost: dollars if reported, else tokens sent."""
    reported = found.reported
    cost = money(reported.dollars) if reported.priced else f"{tokens(reported.input or found.sent)} tok"
    missed = f"{len(found.misses):,}" if found.searches else "–"
    return Outline(events, missed, cost if found.model_calls else "–")


def rows(
    found: Sequence[SessionSummary], current: str, outlines: Mapping[str, Outline]
) -> tuple[Record, ...]:
    """Return a row a session, newest first; the one that is shown has a mark."""
    return tuple(_row(one, outlines.get(one.id, UNREAD), is_shown=one.id == current) for one in found)


def _row(session: SessionSummary, known: Outline, *, is_shown: bool) -> Record:
    cells = (
        "✓" if is_shown else " ",
        shown_moment(session.started_at),
        session.question or "–",
        PurePath(session.config).name,
        session.agent or OWN,
        session.id,
        f"{session.searches:,}",
        known.missed,
        f"{session.calls:,}",
        known.cost,
    )
    searched = (session.id, session.agent, session.config, session.model, session.question)
    return Record(session.id, cells, search=" ".join(searched), copy=session.id)


def folders(found: Sequence[Found]) -> str:
    """Return where transcripts are, as a note below the question for a path."""
    lines = [
        f"{one.agent}: {count(one.files, 'file')}, {byte_size(one.bytes)} in {one.folder}" for one in found
    ]
    told = "Files are only read, nothing leaves this machine, and likely secrets are redacted."
    return "\n".join([*lines, told])


def detail(found: Findings, width: int) -> Iterator[Content]:
    """Yield what a session shows: servers, misses, what was loaded for nothing, lost caches, money."""
    searches = count(found.searches, "search", "searches")
    missed = f", {len(found.misses):,} missed" if found.searches else ""
    yield Content.styled(f"{count(found.model_calls, 'model call')}, {searches}{missed}", "bold")
    yield Content.styled(_reported(found), MUTED)
    if found.servers:
        yield Content()
        table = Table("", _SERVERS, tuple(map(_server, found.servers.values())), _NUMBERS)
        yield from table_lines(table, width)
    yield from _misses(found)
    yield from _tools(found, width)
    unused = sorted(tool_id for use in found.servers.values() for tool_id in use.unused)
    if unused:
        yield Content()
        yield Content.styled(f"{count(len(unused), 'tool')} loaded but never called", "bold")
        yield plain(", ".join(unused), limit=_LONGEST * 2, newlines=False)
    if found.rewrites:
        yield Content()
        yield Content.styled(f"Prompt cache lost {count(len(found.rewrites), 'time')}", "bold")
        for lost in found.rewrites[:_MISSES]:
            causes = " and ".join(lost.causes)
            yield Content(f"call {lost.call}: {tokens(lost.tokens)} tokens, probably because {causes}")


def _reported(found: Findings) -> str:
    reported = found.reported
    if not reported.calls:
        return "the provider reported nothing"
    if not reported.input:
        return f"reported: {tokens(reported.output)} output tokens, but not the input"
    cost = f"; {money(reported.dollars)} at list prices" if reported.priced else ""
    read = f"{tokens(reported.input)} input tokens, {tokens(reported.read)} of them from the cache"
    return f"reported: {read}, {tokens(reported.output)} output{cost}"


def _server(use: ServerUse) -> tuple[str, ...]:
    trouble = "needs a login" if use.needs_login else use.trouble
    numbers = (len(use.known), len(use.deferred), len(use.loaded), len(use.called), use.calls)
    taken = tokens(use.tokens + use.results)
    told = visible(trouble, limit=80, newlines=False)
    return (use.server, *(f"{number:,}" for number in numbers), taken, told)


def _tools(found: Findings, width: int) -> Iterator[Content]:
    """Yield what the tools took: their definitions, which go with every request, and their calls."""
    tools = by_tokens([found])
    if tools:
        sent, results = (sum(getattr(use, part) for _, use in tools) for part in ("sent", "results"))
        requests = count(found.model_calls, "request")
        definitions = f"{tokens(sent)} tokens of definitions in {requests}, " if sent else ""
        yield Content()
        called = f"{tokens(results)} tokens of arguments and results"
        yield Content.styled(f"Tools took {definitions}{called}", "bold")
        yield from table_lines(tool_table(tools), width)
    if found.tool_tokens is not None:
        yield Content.styled(f"the agent itself counts {tokens(found.tool_tokens)} for one request", MUTED)


def _misses(found: Findings) -> Iterator[Content]:
    groups = backlog(found.misses)
    if not groups:
        return
    yield Content()
    yield Content.styled("Missed searches", "bold")
    for group in groups[:_MISSES]:
        queries = "; ".join(group.queries)
        yield Content.assemble((f"{group.count:,}x ", MUTED), plain(queries, limit=_LONGEST, newlines=False))
    if len(groups) > _MISSES:
        yield Content.styled(f"and {len(groups) - _MISSES:,} more", MUTED)


# Long because listing, importing and replaying share one list.
class SessionsScreen(ListPage):
    """Every session in a list; below, what the one under the cursor shows."""

    page = "sessions"
    CSS_PATH = "sessions.tcss"
    AUTO_FOCUS = "#sessions RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "replay", "replay", priority=True, id="sessions.replay"),
        Binding("i", "import", "import", id="sessions.import"),
        Binding("w", "requests", "write requests", id="sessions.requests"),
        Binding("a", "worklist", "misses to the worklist", show=False, id="sessions.worklist"),
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
        "w writes searches and the calls that followed as labelled requests, for Lab and `toolsight bench`.",
        "/ filters, y copies a session's id. `toolsight sessions agents` sums up many sessions.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[SessionSummary] = ()
        self._findings: Findings | None = None
        self._outlines: dict[str, Outline] = {}
        self._news: Content | None = None
        self._rest: Timer | None = None

    def body(self) -> ComposeResult:
        yield Static(READING, id="facts", markup=False)
        yield RecordList(COLUMNS, header=True, empty=READING, id="sessions")
        with VerticalScroll(id="session", can_focus=True):
            yield Static(id="detail", markup=False)

    def on_mount(self) -> None:
        self._list()

    @property
    def _library(self) -> AgentLibrary | None:
        return self.context.parts.agents

    def action_again(self) -> None:
        """Read the list of sessions again."""
        self._news = None
        self._list()

    def _list(self) -> None:
        replay = self.context.replay
        self.run_job("sessions", lambda _: replay.sessions(), self._show, failed=self._fail)

    def _show(self, found: Sequence[SessionSummary]) -> None:
        self._found = found
        if self.running is None:
            self.write(self._news or facts(found))
        self.list.empty = EMPTY
        self.draw()
        self.moved()
        self._outline()

    def draw(self) -> None:
        self.list.records = rows(self._found, self.context.replay.session.session_id, self._outlines)

    def on_screen_resume(self, event: events.ScreenResume) -> None:  # noqa: ARG002 - as the page has it
        """Go on reading what the rows show, as far as it is not known."""
        self._outline()

    def on_screen_suspend(self) -> None:
        """Read nothing for rows that nobody looks at."""
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
                self.draw_detail()

            self.run_job("findings", lambda _: library.findings(session), show)

    def draw_detail(self) -> None:
        lines = detail(self._findings, self.width) if self._findings is not None else ()
        self.write(Content("\n").join(lines), "#detail")

    def opened(self, key: str) -> None:
        self.open(TracePage(key))

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
                dialog = PathDialog("Import agents' transcripts", "imports", suggested, folders(found))
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

    def _imported(self, report: ImportReport) -> None:
        self._tell(imported(report))
        self._list()

    def action_requests(self) -> None:
        """Ask for a file, and add the session's searches with the calls after them."""
        session, library = self.key, self._library
        if library is None or not session:
            self._tell(Content(NOT_HERE if session else EMPTY))
            return
        note = "Missing lines are added to an existing file. `toolsight bench --data FILE` reads it."
        dialog = PathDialog("Write labelled requests", "writes", "requests.jsonl", note)
        self.app.push_screen(dialog, partial(self._write_requests, library, session))

    def _write_requests(self, library: AgentLibrary, session: str, path: str | None) -> None:
        if path is None:
            return

        def told(added: int) -> None:
            if added:
                where = plain(path, newlines=False)
                self._tell(Content.assemble(f"{count(added, 'request')} added to ", where))
            else:
                self._tell(Content("Nothing to add: no tool found by any other search was called."))

        work = partial(library.write_requests, [session], path)
        self.run_job("requests", lambda _: work(), told, failed=self._fail)

    def action_worklist(self) -> None:
        """Keep the searches that missed in sight in Search, each with the tool that was called instead."""
        found = self._findings.misses if self._findings is not None else ()
        known = self.session.catalog.by_id
        wanted = [(SearchRequest(one.query), one.called[0]) for one in found if one.called]
        wanted = [pair for pair in wanted if pair[1] in known]
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

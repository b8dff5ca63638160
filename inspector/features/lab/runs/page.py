"""The recorded runs page: sessions played again under three profiles, and what each run found and cost."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.draw.budget import flow
from inspector.app.draw.line import MUTED, failure_text, progress_bar
from inspector.app.list_page import ListPage
from inspector.app.place import Destination, RunsPage, SearchPage, TracePage
from inspector.core.error import ConfigError
from inspector.core.number import count, money
from inspector.core.ports import SessionSummary
from inspector.core.ranking import SearchRequest
from inspector.core.report import NOTHING
from inspector.core.tool import Tool
from inspector.features.lab.feature import RUNS
from inspector.features.lab.runs.facts import CALLS, MONEY, SEARCHING, TABLES, Told, heading, play_again
from inspector.features.lab.runs.recorded_agent import Reason
from inspector.features.lab.runs.recorded_batch import SetupSummary, setups
from inspector.features.lab.runs.recorded_run import Need, PlayedRun
from inspector.features.lab.runs.recording import (
    KINDS,
    Recordings,
    playable,
    profiles_for,
    read_runs,
    session_run,
)
from inspector.mcp.recorded_link import RecordedRun
from widgets import Column, Record, RecordList, middle, plain, visible

COLUMNS = (
    Column("setup", "profile", min_width=9, weight=9),
    Column("runs", "runs", align="right", weight=5),
    Column("returned", "returned", align="right", weight=8),
    Column("reached", "reached", align="right", weight=7),
    Column("searches", "searches", align="right", weight=4),
    Column("rejected", "rejected", align="right", weight=3),
    Column("tokens", "tool tokens", align="right", weight=6),
)
RUN_COLUMNS = (
    Column("solved", "", width=1, weight=9),
    Column("task", "request", min_width=24, weight=9),
    Column("found", "returned", align="right", weight=8),
    Column("named", "by name", align="right", weight=7),
    Column("searches", "searches", align="right", weight=3),
    Column("cost", "cost", align="right", weight=6),
    Column("uncached", "without a cache", align="right", weight=2),
)
NOT_HERE = "This session cannot play recordings. Use `toolsight bench runs FOLDER`."
NO_SESSIONS = "no recorded session has called a tool yet"
HOW_TO_RECORD = "Ask for something in Chat, or import an agent's transcripts: sessions, i."
_NAME, _LONGEST, _LONG = 40, 300, 4000


def rows(told: Told) -> tuple[Record, ...]:
    """Return one row a setup; `y` copies its figures."""
    return tuple(
        Record(
            one.setup.name,
            (
                one.setup.name,
                f"{one.runs:,}",
                SEARCHING["returned"](one),
                SEARCHING["reached"](one),
                f"{sum(one.searches.values()):,}",
                CALLS["rejected"](one),
                MONEY["tools"](one),
            ),
            detail=_money(one),
            copy=detail(one).plain,
        )
        for one in told.batch.summaries
    )


def _money(one: SetupSummary) -> Content:
    """What a task costs with and without a prompt cache, and how that differs from the first setup."""
    unit = "a solved task" if one.judged else "a task"
    change = MONEY["vs the first"](one)
    compared = f" ({change})" if change not in ("0", NOTHING) else ""
    spent = f"{MONEY['with a prompt cache'](one)} {unit}{compared}"
    return Content.styled(f"{spent}, without a cache {MONEY['without'](one)}", MUTED)


def detail(one: SetupSummary, width: int = 0) -> Content:
    """Return every figure of a setup, in the words of `toolsight bench runs`, as many in a line as fit."""
    solved = f", {one.solved:,} solved" if one.judged else ""
    title = f"   {count(one.runs, 'run')} of {count(one.tasks, 'task')}{solved}"
    lines = [Content.assemble((one.setup.name, "bold"), (title, MUTED))]
    unit = "solved task" if one.judged else "task"
    for titled, columns in TABLES.items():
        figures = [
            Content.assemble((f"{name.strip()} ", MUTED), cell(one))
            for name, cell in columns.items()
            if name != "setup"
        ]
        lines += [Content(""), Content.styled(titled.format(unit=unit), "bold"), flow(figures, width)]
    return Content("\n").join(lines)


def run_row(run: PlayedRun, asked: str) -> Record:
    """Return a run's row: whether it was solved, what was asked, how its tools were found, what it cost."""
    mark = {True: ("✓", "$text-success"), False: ("✕", "$text-error"), None: (NOTHING, MUTED)}[run.solved]
    searched, named = any(run.searches.values()), _named(run)
    cells = (
        Content.styled(*mark),
        asked,
        f"{sum(need.returned for need in run.needs)} of {len(run.needs)}" if searched else NOTHING,
        Content.styled(f"{named:,}", "$text-warning") if named else "0",
        f"{sum(run.searches.values()):,}",
        money(run.spent.cost),
        money(run.spent.uncached),
    )
    return Record(run.id, cells, search=asked, copy=asked)


def _named(run: PlayedRun) -> int:
    return sum(not need.reached for need in run.needs)


def _asked(run: RecordedRun) -> str:
    return visible(" ".join(run.messages[0].text[:600].split()), limit=_LONGEST, newlines=False)


def run_detail(run: PlayedRun, asked: str) -> Content:
    """Return what was asked, and how each tool that the run called was found."""
    searches = ", ".join(f"{reason} {run.searches[reason]:,}" for reason in Reason if run.searches[reason])
    calls = f"{count(run.model_calls, 'model call')}, {count(run.calls, 'call')}, {run.rejected:,} rejected"
    did = Content.styled(f"{calls}; searches: {searches or 'none'}", MUTED)
    found = Content("   ").join(map(_need, run.needs)) if run.needs else Content("It called no tool.")
    return Content("\n").join([Content.styled(asked, "bold"), did, found])


def _need(need: Need) -> Content:
    tool = middle(visible(need.tool, newlines=False), _NAME)
    if need.returned:
        return Content.styled(f"✓ {tool}, rank {need.rank}", "$text-success")
    if not need.reached:
        return Content.styled(f"✕ {tool}, looked up by name", "$text-warning")
    return Content(f"○ {tool}, returned by no search")


class RecordedRunScreen(ListPage):
    """The runs of one setup; enter opens an own session's timeline, or searches for what was asked."""

    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#runs RecordRows"
    help_lines: ClassVar[tuple[str, ...]] = (
        "✓ solved, ✕ not solved, as the recording says; – it does not say.",
        "returned: of the tools that the run called, how many its searches returned before the first call.",
        "by name: no search returned the tool, so the replay looked it up by its name to go on.",
        "enter opens your session in the timeline, or searches for the shipped request.",
        "y copies the request, / filters.",
    )

    def __init__(self, told: Told, setup: str) -> None:
        super().__init__()
        self._told, self._setup = told, setup
        self._played = {run.id: run for run in told.batch.played[setup]}
        self._recorded = {run.id: run for run in told.known.runs}

    def body(self) -> ComposeResult:
        title = f"   {count(len(self._played), 'run')}, those with tools looked up by name first"
        yield Static(Content.assemble((self._setup, "bold"), title), id="run-title")
        # First those whose tools had to be looked up by name, then the dearest.
        ordered = sorted(self._played.values(), key=lambda run: (-_named(run), -run.spent.cost))
        records = [run_row(run, _asked(self._recorded[run.id])) for run in ordered]
        yield RecordList(RUN_COLUMNS, records, header=True, empty="No run was played.", id="runs")
        yield Static(id="run-detail")

    def draw_detail(self) -> None:
        if self.key:
            asked = _asked(self._recorded[self.key])
            self.write(run_detail(self._played[self.key], asked), "#run-detail")

    def opened(self, key: str) -> None:
        asked = self._recorded[key].messages[0].text
        self.open(SearchPage(SearchRequest(asked)) if self._told.shipped else TracePage(key))


class RecordedRunsScreen(ListPage):
    """Plays the shipped recording, or one's own sessions, in a thread; a row a profile."""

    page = "runs"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#setups RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "benchmark", id="page.view"),
        Binding("r", "play", "run", id="runs.run"),
        Binding("o", "source", "your sessions/shipped", id="runs.source"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Recorded sessions are played again: the agent makes its calls, and searches for tools it lacks.",
        "What ships was recorded of the demo's stand-in model, which follows rules and is no LLM.",
        "o changes between that and your own newest sessions, recorded or imported.",
        "r plays what is chosen, esc stops and keeps the runs so far.",
        "returned: of the called tools, how many searches returned before the first call.",
        "reached: not looked up by name. Brackets are 95 % intervals over tasks.",
        "rejected: calls of tools that were not bound. tool tokens are per model call.",
        "dollars are those of all runs per solved run, or per run if nobody knows which were solved.",
        "enter lists a profile's runs, v goes back to the rankers.",
        "`toolsight bench runs FOLDER` prints the same figures for any recording.",
    )
    when_idle = frozenset({"play", "source"})

    def __init__(self) -> None:
        super().__init__()
        self._own = False
        self._played: dict[bool, Told] = {}
        self._news = ""
        self._sessions: int | None = None
        self._shipped = 0

    def body(self) -> ComposeResult:
        yield Static(id="runs-facts", markup=False)
        yield Static(id="runs-status")
        yield RecordList(COLUMNS, header=True, lines=2, id="setups")
        with VerticalScroll(id="runs-reading", can_focus=True):
            yield Static(id="runs-detail")

    def on_mount(self) -> None:
        self.draw()
        self._look(first=False)

    def show_recorded(self) -> None:
        self._look(first=False)

    def arrive(self, destination: Destination) -> None:
        """Say what can be played, unless something was played already."""
        if isinstance(destination, RunsPage) and not self._played and self.running is None:
            self._look(first=True)

    def _look(self, *, first: bool) -> None:
        """Count what can be played; the `first` time, choose one's own sessions if some were imported."""
        replay, running, source = self.context.replay, self.session.session_id, self.context.parts.get(RUNS)

        def look(_: Job) -> tuple[Sequence[SessionSummary], int]:
            shipped = len(read_runs(source.shipped).runs) if source is not None else 0
            return playable(replay.sessions(), but=running), shipped

        def counted(found: tuple[Sequence[SessionSummary], int]) -> None:
            sessions, self._shipped = found
            self._sessions = len(sessions)
            if first:
                self._own = any(one.agent for one in sessions)
            self.draw()

        self.run_job("sessions", look, counted)

    @property
    def _told(self) -> Told | None:
        return self._played.get(self._own)

    def action_source(self) -> None:
        """Show the other source's runs, or what can be played of it."""
        self._own = not self._own
        self._news = f"{NO_SESSIONS}. {HOW_TO_RECORD}" if self._own and not self._sessions else ""
        self.draw()

    def action_play(self) -> None:
        """Play what is chosen under each profile."""
        source, own = self.context.parts.get(RUNS), self._own
        if source is None:
            self._say(NOT_HERE)
            return
        connected = {tool.id: tool for tool in self.session.catalog.tools}
        model = self.session.settings.budget.priced_as
        self._news = ""

        def work(job: Job) -> Told:
            found = self._own_runs(connected, job) if own else read_runs(source.shipped)
            return play_again(
                found,
                (),
                setups(profiles_for(found.runs), {}, {}),
                source.ports(),
                model=model,
                source="your sessions" if own else source.shipped.name,
                shipped=not own,
                progress=lambda _what, done, total: job.report(done, total),
                stopped=job.stopped,
            )

        def done(told: Told) -> None:
            if told.batch.summaries:
                self._played[own] = told
            else:
                self._news = "Stopped before the first run ended. r plays again."
            self.draw()

        self.run_stoppable(
            "recorded runs", work, done, failed=lambda error: self._say(failure_text(error)[1])
        )
        self.draw()

    def _own_runs(self, connected: dict[str, Tool], job: Job) -> Recordings:
        """The own sessions, read in a job's thread. Raises ConfigError if there are none."""
        replay, runs, agents = self.context.replay, [], Counter[str]()
        sessions = playable(replay.sessions(), but=self.session.session_id)
        for one in sessions:
            if job.is_stopped:
                break
            run = session_run(replay.recorded(one.id, KINDS), connected)
            if run is not None:
                runs.append(run)
                agents[one.agent or "toolsight"] += 1
        if not sessions:
            raise ConfigError(NO_SESSIONS, hint=HOW_TO_RECORD)
        return Recordings(tuple(runs), agents)

    def _say(self, news: str) -> None:
        self._news = news
        self.draw()

    def draw(self) -> None:
        self.write(self._source, "#runs-facts")
        self.list.empty = self._news or "Each profile's figures appear here."
        self.list.records = rows(self._told) if self._told is not None else ()
        self.show_progress()
        self.draw_detail()

    @property
    def _source(self) -> str:
        """What is played, in words."""
        if not self._own:
            return "The demo's stand-in model (rules, no LLM) at labelled requests, under three profiles."
        known = "" if self._sessions is None else f": {count(self._sessions, 'session')} with tool calls"
        return f"Your newest recorded and imported sessions{known}, under three profiles."

    def show_progress(self) -> None:
        self.write(self._status(), "#runs-status")

    def _status(self) -> Content:
        job, told = self.running, self._told
        if job is not None:
            return _progress(job)
        if self._news:
            return Content.styled(visible(self._news, newlines=False), "$text-warning")
        if told is None:
            what, other = f"{count(self._shipped, 'recorded run')}, about a minute", "your sessions"
            if self._own:
                what, other = count(self._sessions or 0, "session"), "the shipped recording"
            return Content.assemble(
                ("r", "bold $text-accent"), f" plays {what}, without a model.   o: {other}"
            )
        played, of = told.batch.summaries[0].runs, len(told.known.runs)
        if played < of:
            text = f"Stopped after {played:,} of {count(of, 'run')}; their figures are kept.  r plays all."
            return Content.styled(text, "$text-warning")
        return Content.assemble(
            ("✓ ", "$text-success"),
            f"{count(of, 'run')} played{_left_out(told)}.",
            ("  enter lists them.", MUTED),
        )

    def draw_detail(self) -> None:
        """Write the figures of the profile under the cursor; below, what was read and what they rest on."""
        told = self._told
        if told is None:
            self.write("", "#runs-detail")
            return
        width = self.query_one("#runs-reading").content_size.width
        shown = [detail(one, width) for one in told.batch.summaries if one.setup.name == self.key]
        read = plain("\n".join(heading(told)), limit=_LONG).stylize(MUTED)
        self.write(Content("\n\n").join([*shown, read]), "#runs-detail")

    def opened(self, key: str) -> None:
        if self._told is not None:
            self.app.push_screen(RecordedRunScreen(self._told, key))


def _left_out(told: Told) -> str:
    """The runs and the calls that were not played, if any."""
    calls, runs = sum(told.known.without.values()), told.known.dropped
    left = [f"{count(runs, 'run')}"] if runs else []
    left += [f"{calls:,} of {count(told.known.calls, 'call')}"] if calls else []
    return f"; left out: {', '.join(left)}" if left else ""


def _progress(job: Job) -> Content:
    done, total = job.progress
    if job.is_stopped:
        return Content.styled("Stopping after this run …", "$text-warning")
    if not total:
        return Content.styled("Reading the recording …", MUTED)
    bar = progress_bar(done / total, 12)
    return Content.assemble(bar, f"   {done:,} of {count(total, 'run')}", ("   esc stops", MUTED))

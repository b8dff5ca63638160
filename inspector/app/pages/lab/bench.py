"""The bench page: how well and how fast each ranker finds the right tools of this session."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.job import Activity, Job
from inspector.app.pages.lab import bench_text as content
from inspector.app.pages.lab.bench_request import page
from inspector.app.pages.lab.bench_text import DEFAULT_RANKERS, Running, State, running
from inspector.app.place import SearchPage, ThresholdPage
from inspector.app.stream import View
from inspector.core.ranking import SearchRequest
from inspector.measure.calibrate import SETTINGS
from inspector.measure.evalset import LiveBench
from inspector.measure.ranker_bench import Measured, Row
from inspector.search.ranker_list import RANKERS
from inspector.search.retrieval import Retrieval
from widgets import KeyBar, RecordList

# The state of the bench page: the chosen rankers, the current run and its results.


class BenchRun:
    """Changed only by the screen, except `report`, which a run's thread calls.

    Runs are numbered, so that late reports of an earlier run are ignored. `live` is what can be measured, and
    everything in `measured` is of the same tools, requests and thresholds.
    """

    def __init__(self) -> None:
        self.chosen = DEFAULT_RANKERS
        self.live: LiveBench | None = None
        self.measured: dict[str, Measured] = {}
        self.waiting: tuple[str, ...] = ()
        self.number = 0
        self.is_stopping = False
        self._measured_over: LiveBench | None = None
        self._progress: Running | None = None

    def toggle(self, ranker: str) -> None:
        """Choose a ranker, or undo the choice."""
        self.chosen = self.chosen ^ {ranker}

    def begin(self) -> tuple[str, ...]:
        """Start a run; return the rankers to measure, none if there is nothing to do or a run is active."""
        if self.waiting or self.live is None or not self.live.index.tools:
            return ()
        self.waiting = tuple(name for name in RANKERS if name in self.chosen)
        self.number += 1
        self._progress, self.is_stopping = None, False
        return self.waiting

    def report(
        self, number: int, names: Sequence[str], what: str, done: int, total: int, seconds: float
    ) -> None:
        """Store the progress of a run after `seconds`."""
        if number == self.number:
            self._progress = running(names, what, done, total, seconds)

    def arrive(self, number: int, live: LiveBench, measured: Measured | None) -> None:
        """Take the start of a run over `live`, or one more measured ranker of it."""
        if number != self.number:
            return
        if self._measured_over is None or not self._measured_over.is_same(live):
            self.measured = {}
        self.live = self._measured_over = live
        if measured is not None:
            name = measured.run.ranker
            self.measured[name] = measured
            self.waiting = tuple(other for other in self.waiting if other != name)

    def finish(self, number: int) -> None:
        """End a run, for whatever reason."""
        if number == self.number:
            self.waiting, self._progress = (), None

    def state(self, retrieval: Retrieval) -> State:
        """Return what the status line shows; `retrieval` is what the session searches now."""
        over = self._measured_over
        return State(
            len(self.chosen),
            tuple(self.measured.values()),
            bool(self.waiting),
            self._progress,
            self.is_stopping,
            is_stale=over is not None and not over.is_current(retrieval),
        )

    @property
    def steps(self) -> tuple[int, int]:
        """How many requests of all rankers are done, and how many there are; 0 if not known yet."""
        now = self._progress
        return ((now.number - 1) * now.total + now.done, now.of * now.total) if now is not None else (0, 0)

    def table(self) -> list[Row]:
        """Return the results in the order of the page."""
        return [self.measured[name].row for name in RANKERS if name in self.measured]

    def compared_with(self, ranker: str) -> Measured | None:
        """Return the first measured ranker, or None for that ranker itself."""
        first = next(name for name in RANKERS if name in self.measured)
        return None if first == ranker else self.measured[first]


# The requests behind one ranker's numbers.


class BenchRequestScreen(BaseScreen):
    """The worst requests of a ranker, or those where it differs most from `first`."""

    CSS_PATH = "bench.tcss"
    AUTO_FOCUS = "#requests RecordRows"
    help_lines: ClassVar[tuple[str, ...]] = (
        "The first ranker's page lists its worst requests; any other lists where it differs from the first.",
        "nDCG@10 is 1 if the right tools rank first, and 0 if none is in the top ten.",
        "false yes: answered “found” although no tool fits. false no: returned nothing although a tool fits.",
        "If the interval after the mean change includes 0, the difference may be chance.",
        "enter opens the request on the search page with every score. y copies it, / filters.",
    )

    def __init__(self, measured: Measured, first: Measured | None) -> None:
        super().__init__()
        self._page = page(measured, first)

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(self._page.title, id="requests-title")
        yield RecordList(
            self._page.columns,
            self._page.rows,
            header=True,
            empty="No requests to improve or compare. esc goes back.",
            id="requests",
        )
        yield Static(self._page.detail(None), id="request-detail")
        yield KeyBar()

    @on(RecordList.Highlighted, "#requests")
    def _show_detail(self, event: RecordList.Highlighted) -> None:
        self.query_one("#request-detail", Static).update(self._page.detail(event.key))

    @on(RecordList.Selected, "#requests")
    def _ask(self, event: RecordList.Selected) -> None:
        self.open(SearchPage(SearchRequest(self._page.cases[event.key].query)))


# Seconds between redraws of a run's progress.
_DRAWN_EVERY = 0.1
_ENDINGS = "The extension sets the format: .md, .json or .csv."


_BENCH = "bench"


class BenchScreen(BaseScreen):
    """Measures the chosen rankers in a thread, and shows each as soon as it is done."""

    page = "bench"
    CSS_PATH = "bench.tcss"
    AUTO_FOCUS = "#rankers RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "threshold", id="page.view"),
        Binding("space", "choose", "choose", id="bench.choose"),
        Binding("r", "run", "run", id="bench.run"),
        Binding("x", "export", "export", id="bench.export"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Each ranker marked ✓ runs every labelled request; nothing is loaded or recorded.",
        "space chooses a ranker, r measures the chosen ones, esc stops and keeps the results so far.",
        "nDCG@10 is 1 if the right tools rank first; 95 % CI is the mean's confidence interval.",
        "hit@1: the first tool is right. recall@5: the share of needed tools in the first five.",
        "delivered: the share of needed tools that a search returns.",
        "false yes: impossible requests answered “found”. false no: possible requests that get nothing.",
        "p50 and p95: half of the searches, or 95 % of them, finished within this time.",
        "enter on a ranker lists its worst requests, or its differences from the first measured ranker.",
        "v finds the confidence that a search needs to answer found or closest.",
        "x exports the table as Markdown, JSON or CSV. `toolsight bench` measures without the app.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._run = BenchRun()

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static("Gathering the requests …\n", id="bench-facts", markup=False)
        yield Static(id="bench-status")
        yield RecordList(content.COLUMNS, header=True, id="rankers")
        yield Static(id="bench-detail")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self._show()
        self.set_interval(_DRAWN_EVERY, self._show_progress)
        self._prepare()

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the state
        live = self._run.live
        if live is not None and not self._run.waiting and not live.is_current(self.session.retrieval):
            self._prepare()
        self._show_status()

    def _prepare(self) -> None:
        view, before = self.session.retrieval, self._run.live
        self.run_job(_BENCH, lambda _: LiveBench.of(view, before), self._prepared)

    def _prepared(self, live: LiveBench) -> None:
        self._run.live = live
        self._show()

    def action_choose(self) -> None:
        """Choose the ranker under the cursor, or undo the choice."""
        current = self._list.current
        if current is not None:
            self._run.toggle(current.key)
            self._show()

    def action_run(self) -> None:
        """Measure the chosen rankers."""
        names = self._run.begin()
        if names:
            self._show()
            self._measure(self._run.number, names)

    def _measure(self, number: int, names: tuple[str, ...]) -> None:
        view, before = self.session.retrieval, self._run.live

        def measure(job: Job) -> None:
            live = LiveBench.of(view, before)
            started = live.clock.monotonic()

            def report(what: str, done: int, total: int) -> None:
                self._run.report(number, names, what, done, total, live.clock.monotonic() - started)

            job.tell(lambda: self._arrived(number, live))
            for measured in live.measure(names, report, job.stopped):
                job.tell(partial(self._arrived, number, live, measured))

        def finished(_: object) -> None:
            self._run.finish(number)
            self._show()

        self.run_job(_BENCH, measure, finished, failed=finished)

    def _arrived(self, number: int, live: LiveBench, measured: Measured | None = None) -> None:
        self._run.arrive(number, live, measured)
        self._show()

    @property
    def activity(self) -> Activity | None:
        return Activity("rankers", self.action_stop, *self._run.steps) if self._run.waiting else None

    def action_stop(self) -> None:
        """Stop the run after the current request; the results so far are kept."""
        if self._run.waiting:
            self._run.is_stopping = True
            self.stop_job(_BENCH)
            self._show_status()

    async def action_leave(self) -> None:
        """Stop the run, or go back."""
        if self._run.waiting and not self._run.is_stopping:
            self.action_stop()
        else:
            await super().action_leave()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to run only what does not run."""
        if action == "run":
            return not self._run.waiting
        return super().check_action(action, parameters)

    @property
    def _list(self) -> RecordList:
        return self.query_one("#rankers", RecordList)

    def _show(self) -> None:
        run = self._run
        if run.live is not None:
            facts = content.facts(run.live.evalset, is_semantic=run.live.index.is_semantic)
            self.query_one("#bench-facts", Static).update(facts)
        self.refresh_bindings()
        self._list.records = content.rows(run.chosen, run.measured, run.waiting)
        self._show_status()
        self._show_detail()

    def _show_progress(self) -> None:
        if self._run.waiting:
            self._show_status()

    def _show_status(self) -> None:
        line = content.status(self._run.state(self.session.retrieval), self.size.width)
        self.query_one("#bench-status", Static).update(line)

    @on(RecordList.Highlighted, "#rankers")
    def _show_detail(self) -> None:
        current = self._list.current
        if current is not None:
            detail = content.detail(current.key, self._run.measured.get(current.key))
            self.query_one("#bench-detail", Static).update(detail)

    @on(RecordList.Selected, "#rankers")
    def _open(self, event: RecordList.Selected) -> None:
        measured = self._run.measured.get(event.key)
        if measured is None:
            self.action_choose()
            return
        self.app.push_screen(BenchRequestScreen(measured, self._run.compared_with(event.key)))

    def action_other_view(self) -> None:
        """Calibrate the threshold of the ranker under the cursor, or of the default one."""
        current = self._list.current
        name = current.key if current is not None and current.key in SETTINGS else next(iter(SETTINGS))
        self.open(ThresholdPage(name, self._run.live))

    def action_export(self) -> None:
        """Export the table to a file."""
        rows = self._run.table()
        if not rows:
            self.notify("Nothing to export yet. Press r to measure the chosen rankers.", markup=False)
            return
        suggested = Path(f"toolsight-bench-{self.session.session_id}.md")
        text = partial(content.export_text, rows)
        self.export(suggested, text, _ENDINGS, what=f"{len(rows)} rankers")

"""The bench page: how well and how fast each ranker finds the right tools of this session."""

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.list_page import ListPage
from inspector.app.place import RunsPage, SearchPage, WhyNotPage
from inspector.app.stream import View
from inspector.core.number import count
from inspector.core.ranking import SearchRequest
from inspector.features.bench import bench_text as content
from inspector.features.bench.bench_text import DEFAULT_RANKERS, page
from inspector.features.bench.ranker_bench import LiveBench, Measured
from inspector.search.index.tool_index import words_alone
from inspector.search.ranker.ranker_list import RANKERS
from widgets import RecordList


class BenchRequestScreen(ListPage):
    """The worst requests of a ranker, and how it compares with `first`."""

    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#requests RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("w", "why", "why not", id="bench.why")]
    help_lines: ClassVar[tuple[str, ...]] = (
        "The worst requests come first; the title compares the ranker with the first one that was measured.",
        "nDCG@10 is 1 if the right tools rank first, and 0 if none is in the top ten.",
        "false yes: answered “found” although no tool fits. false no: returned nothing although a tool fits.",
        "If the interval after the mean change includes 0, the difference may be chance.",
        "enter opens the request on the search page with every score, w why its tool is not first.",
    )

    def __init__(self, measured: Measured, first: Measured | None) -> None:
        super().__init__()
        self._page = page(measured, first)

    def body(self) -> ComposeResult:
        empty = "No requests to improve or compare. esc goes back."
        yield Static(self._page.title, id="requests-title")
        yield RecordList(content.WORST_COLUMNS, self._page.rows, header=True, empty=empty, id="requests")
        yield Static(self._page.detail(""), id="request-detail")

    def draw_detail(self) -> None:
        self.write(self._page.detail(self.key), "#request-detail")

    def opened(self, key: str) -> None:
        self.open(SearchPage(SearchRequest(self._page.cases[key].query)))

    def action_why(self) -> None:
        """Say why the right tool under the cursor is not first."""
        case = self._page.cases.get(self.key)
        if case is None or not case.is_possible:
            self.warn("Put the cursor on a request that some tool fits.")
            return
        ranked = next(reversed(self._page.runs.values()))[case.id].ranked
        group = next((one for one in case.relevant if one.isdisjoint(ranked[:1])), case.relevant[0])
        right = next((tool for tool in ranked if tool in group), min(group))
        self.open(WhyNotPage(right, SearchRequest(case.query)))


class BenchScreen(ListPage):
    """Measures the chosen rankers in a thread, and shows each as soon as it is done.

    `live` is what can be measured; all that is `measured` is of the same tools, requests and thresholds.
    """

    page = "bench"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#rankers RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "recorded runs", id="page.view"),
        Binding("space", "choose", "choose", id="bench.choose"),
        Binding("r", "run", "run", id="bench.run"),
        Binding("x", "app.export", "export", id="bench.export"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Each ranker marked ✓ runs every labelled request; nothing is loaded or recorded.",
        "space chooses a ranker, r measures the chosen ones, esc stops and keeps the results so far.",
        "nDCG@10 is 1 if the right tools rank first; 95 % CI is the mean's confidence interval.",
        "hit@1: the first tool is right. recall@5: the share of needed tools in the first five.",
        "delivered: the share of needed tools that a search returns.",
        "false yes: impossible requests answered “found”. false no: possible requests that get nothing.",
        "p50 and p95: half of the searches, or 95 % of them, finished within this time.",
        "enter on a ranker lists its worst requests.",
        "v shows recorded runs, yours too; r there plays them, and shows what each profile finds and costs.",
        "x exports the table. `toolsight bench` measures without the app.",
    )

    when_idle = frozenset({"run"})

    def __init__(self) -> None:
        super().__init__()
        self._chosen = DEFAULT_RANKERS
        self._live: LiveBench | None = None
        self._measured: dict[str, Measured] = {}
        self._measured_over: LiveBench | None = None
        self._waiting: tuple[str, ...] = ()
        self._now = ""

    def body(self) -> ComposeResult:
        yield Static("Gathering the requests …\n", id="bench-facts", markup=False)
        yield Static(id="bench-status")
        yield RecordList(content.COLUMNS, header=True, id="rankers")
        yield Static(id="bench-detail")

    def on_mount(self) -> None:
        self.draw()
        self._prepare()

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the state
        live = self._live
        if live is not None and self.running is None and not live.is_current(self.session.retrieval):
            self._prepare()
        self.show_progress()

    def _prepare(self) -> None:
        view, before = self.session.retrieval, self._live

        def prepared(live: LiveBench) -> None:
            self._live = live
            self.draw()

        self.run_job("requests", lambda _: LiveBench.of(view, before), prepared)

    def action_choose(self) -> None:
        """Choose the ranker under the cursor, or undo the choice."""
        if self.key:
            self._chosen = self._chosen ^ {self.key}
            self.draw()

    def action_run(self) -> None:
        """Measure the chosen rankers."""
        names = tuple(name for name in RANKERS if name in self._chosen)
        if self._live is None or not self._live.index.tools or not names:
            return
        view, before = self.session.retrieval, self._live
        self._waiting, self._now = names, ""
        self.drop_job("requests")

        def measure(job: Job) -> None:
            live = LiveBench.of(view, before)

            def report(what: str, done: int, total: int) -> None:
                at = names.index(what.rpartition(" ")[2])
                self._now = f"{names[at]} {at + 1}/{len(names)}   {done} of {count(total, 'request')}"
                job.report(at * total + done, len(names) * total)

            job.tell(partial(self._arrived, live))
            for measured in live.measure(names, report, job.stopped):
                job.tell(partial(self._arrived, live, measured))

        self.run_stoppable("rankers", measure, self._ended, failed=self._ended)
        self.draw()

    def _arrived(self, live: LiveBench, measured: Measured | None = None) -> None:
        """Take the start of a run over `live`, or one more measured ranker of it."""
        if self._measured_over is None or not self._measured_over.is_same(live):
            self._measured = {}
        self._live = self._measured_over = live
        if measured is not None:
            name = measured.run.ranker
            self._measured[name] = measured
            self._waiting = tuple(other for other in self._waiting if other != name)
        self.draw()

    def _ended(self, _: object) -> None:
        self._waiting = ()
        self.draw()

    def draw(self) -> None:
        if self._live is not None:
            facts = content.facts(self._live.evalset, words_alone(self._live.index))
            self.write(facts, "#bench-facts")
        self.list.records = content.rows(self._chosen, self._measured, self._waiting)
        self.show_progress()
        self.draw_detail()

    def show_progress(self) -> None:
        over, job = self._measured_over, self.running
        told = content.status(len(self._chosen), tuple(self._measured.values()))
        if job is not None:
            told = content.progress(self._now, is_stopping=job.is_stopped)
        elif over is not None and not over.is_current(self.session.retrieval):
            told = content.STALE
        self.write(told, "#bench-status")

    def draw_detail(self) -> None:
        if self.key:
            self.write(content.detail(self.key, self._measured.get(self.key)), "#bench-detail")

    def opened(self, key: str) -> None:
        measured = self._measured.get(key)
        if measured is None:
            self.action_choose()
            return
        first = next(self._measured[name] for name in RANKERS if name in self._measured)
        self.app.push_screen(BenchRequestScreen(measured, None if first is measured else first))

    def action_other_view(self) -> None:
        """Show the recorded runs, which can be played under three profiles."""
        self.open(RunsPage())

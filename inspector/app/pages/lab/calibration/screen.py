"""The calibration page: the thresholds from which on a search answers."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from inspector.app.activity import Activity
from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.draw.line import failure_text
from inspector.app.job import Job
from inspector.app.pages.lab.calibration import content
from inspector.app.place import Destination, ThresholdPage
from inspector.core.error import ToolsightError
from inspector.measure.calibrate import SETTINGS, Calibration, Point, threshold_of
from inspector.measure.evalset import LiveBench
from widgets import KeyBar, RecordList

_DRAWN_EVERY = 0.1
_STOPPED = "Stopped before ranking every request. Press r to start again."


class CalibrationScreen(BaseScreen):
    """Ranks every request once in a thread, then draws the curve; a `ThresholdPage` may bring requests."""

    page = "threshold"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#points RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "benchmark", id="page.view"),
        Binding("a", "apply", "apply", id="calibration.apply"),
        Binding("n", "next_ranker", "next ranker", id="calibration.ranker"),
        Binding("r", "again", "measure", id="calibration.again"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Each request is ranked once; then every threshold up to 0.90 is tried on the results.",
        "hybrid: the minimum confidence for found (★) and for closest (◆), counting requests.",
        "dense: the minimum cosine for a tool, counting tools in the top ten.",
        "precision: how many of the answers are right. recall: how much of what is needed is found.",
        "★ has the best F1, ● is in use, ◆ is the highest one that refuses only a few possible requests.",
        "false yes: impossible requests that get an answer. false no: possible requests that get none.",
        "Press a to apply the threshold under the cursor (for hybrid, also ◆ for closest), y to copy it.",
        "n switches to the other ranker, r measures, esc stops, v goes back to the benchmark.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._ranker = next(iter(SETTINGS))
        self._live: LiveBench | None = None
        self._found: Calibration | None = None
        self._job: Job | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(content.before(), id="calibration-facts")
        with Container(id="calibration-body"):
            yield Static(id="curve")
            yield RecordList(content.COLUMNS, header=True, empty="Thresholds appear here.", id="points")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_DRAWN_EVERY, self._show_progress)

    def arrive(self, destination: Destination) -> None:
        """Measure the threshold of the ranker that was asked for."""
        if isinstance(destination, ThresholdPage):
            self._ranker, self._live = destination.ranker, destination.live
            self.action_again()

    @property
    def activity(self) -> Activity | None:
        return Activity("threshold", self.action_stop, *self._job.progress) if self._job is not None else None

    async def action_leave(self) -> None:
        """Stop measuring, or go back."""
        if self._job is not None and not self._job.is_stopped:
            self.action_stop()
        else:
            await super().action_leave()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_curve)

    def action_again(self) -> None:
        """Measure, or measure again."""
        self._found = None
        self.query_one("#points", RecordList).records = ()
        self.query_one("#curve", Static).update("")
        ranker, before, view = self._ranker, self._live, self.session.retrieval

        def measure(job: Job) -> tuple[LiveBench, Calibration | None]:
            live = LiveBench.of(view, before)
            return live, live.calibrate(ranker, job.report, job.stopped)

        self._job = self.run_job(
            "calibration", measure, lambda measured: self._calibrated(*measured), failed=self._failed
        )
        self.refresh_bindings()
        self._show_progress()

    def action_next_ranker(self) -> None:
        """Show the curve of the other ranker."""
        names = tuple(SETTINGS)
        self._ranker = names[(names.index(self._ranker) + 1) % len(names)]
        self.action_again()

    def action_stop(self) -> None:
        """Stop after the current request."""
        self.stop_job("calibration")

    def _calibrated(self, live: LiveBench, found: Calibration | None) -> None:
        self._live, self._found = live, found
        if found is None:
            self._end(_STOPPED)
            return
        self._end()
        self._show()
        self.query_one("#points", RecordList).move_to(f"{found.best.threshold:g}")
        self._show_curve()

    def _failed(self, error: Exception) -> None:
        self._end(failure_text(error)[1])

    def _end(self, problem: str = "") -> None:
        self._job = None
        self.refresh_bindings()
        if problem:
            self.query_one("#calibration-facts", Static).update(Content.styled(problem, "$text-warning"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the keys that work now."""
        if action in ("apply", "again"):
            return self._job is None
        return super().check_action(action, parameters)

    @property
    def _now(self) -> float | None:
        return threshold_of(self.session.settings, self._ranker)

    @property
    def _point(self) -> Point | None:
        current = self.query_one("#points", RecordList).current
        points = self._found.points if self._found else ()
        return next((p for p in points if current is not None and f"{p.threshold:g}" == current.key), None)

    def _show_progress(self) -> None:
        if self._job is not None:
            line = content.progress(self._ranker, *self._job.progress)
            self.query_one("#calibration-facts", Static).update(line)

    def _show(self) -> None:
        if self._found is not None:
            self.query_one("#calibration-facts", Static).update(content.facts(self._found, self._now))
            self.query_one("#points", RecordList).records = content.rows(self._found, self._now)

    @on(RecordList.Highlighted, "#points")
    def _show_curve(self) -> None:
        curve = self.query_one("#curve", Static)
        if self._found is None:
            return
        cursor = (self._point or self._found.best).threshold
        width, height = curve.content_size
        curve.update(content.curve(self._found, self._now, cursor, width, height))

    def action_apply(self) -> None:
        """Apply the threshold under the cursor to this session."""
        point = self._point
        if point is None or self._found is None:
            return
        try:
            for path, value in self._found.values(point.threshold).items():
                self.commands.change_setting(path, value)
        except ToolsightError as error:
            self.fail(error)
            return
        self._show()
        self._show_curve()
        text = f"{self._ranker} uses {point.threshold:.2f} in this session. y copies its configuration."
        self.notify(text, title="Applied", markup=False)

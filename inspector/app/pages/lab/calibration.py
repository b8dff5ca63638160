"""The calibration page: the thresholds from which on a search answers, as a curve and in rows."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.draw.line import MUTED, failure_text
from inspector.app.draw.plot import Axis, Curve, plot
from inspector.app.list_page import ListPage
from inspector.app.place import Destination, ThresholdPage
from inspector.core.error import ToolsightError
from inspector.core.number import bar, count, percent
from inspector.core.report import NOTHING
from inspector.measure.calibrate import HYBRID, SETTINGS, Calibration, Point, threshold_of
from inspector.measure.evalset import LiveBench
from inspector.measure.run import Share
from widgets import Column, Record, RecordList

BEST, NOW, CAUTIOUS = ("★", "$success"), ("●", "$primary"), ("◆", "$secondary")
KINDS: Mapping[str, str] = {"hybrid": "confidence", "dense": "cosine", "iso": "cosine"}
COLUMNS = (
    Column("mark", "", width=2, weight=9),
    Column("threshold", "threshold", align="right", weight=10),
    Column("bar", width=8, weight=2, hide_below=64),
    Column("f1", "F1", align="right", weight=9),
    Column("precision", "precision", align="right", weight=5),
    Column("recall", "recall", align="right", weight=6),
    Column("yes", "false yes", align="right", weight=8),
    Column("no", "false no", align="right", weight=8),
)


def progress(ranker: str, done: int, total: int) -> Content:
    """Return the progress while requests are ranked."""
    return Content.assemble(
        ("Calibrating ", MUTED),
        (ranker, "bold"),
        f"   {done} of {count(total, 'request')}",
        ("   esc stops", MUTED),
        "\n\n",
    )


def facts(found: Calibration, now: float | None) -> Content:
    """Return what was measured, the notable thresholds and the advice, in three lines."""
    title = Content.assemble(
        (found.ranker, "bold"),
        f": {KINDS[found.ranker]} threshold",
        (f"   {found.possible} possible, {found.impossible} impossible requests", MUTED),
    )
    marks = [
        Content.assemble(
            BEST, f" {'found, ' if found.ranker == HYBRID else ''}best F1 {found.best.threshold:.2f}"
        ),
        *_held_out(found),
        *([] if now is None else [Content.assemble(NOW, f" now {now:.2f}")]),
        _cautious(found),
    ]
    return Content("\n").join([title, Content("   ").join(marks), _advice(found)])


def _held_out(found: Calibration) -> Iterator[Content]:
    """The best F1, and what that threshold does on requests that it was not fitted on."""
    if found.held_out is not None:
        yield Content.styled(f"(F1 {found.best.f1:.3f}, held out {found.held_out.f1:.3f})", MUTED)


def _cautious(found: Calibration) -> Content:
    most = f"refuses at most {percent(found.max_refused)}"
    if found.cautious is None:
        return Content.styled(f"no threshold {most}", MUTED)
    name = "closest " if found.ranker == HYBRID else ""
    return Content.assemble(CAUTIOUS, f" {name}{found.cautious.threshold:.2f}, {most}")


def _advice(found: Calibration) -> Content:
    if found.is_at_edge:
        text = "⚠ The best threshold is at the edge of the range, so these requests cannot pin it down."
        return Content.styled(text, "$text-warning")
    if found.is_generated:
        text = "⚠ Measured on generated requests, which are easier than real ones. Treat it as a guess."
        return Content.styled(text, "$text-warning")
    return Content.assemble("press ", ("a", "bold $text-accent"), " to apply the threshold under the cursor")


def rows(found: Calibration, now: float | None) -> tuple[Record, ...]:
    """Return one row per threshold; `y` copies its line of configuration."""
    return tuple(
        Record(
            f"{point.threshold:g}",
            (
                _mark(point, found, now),
                f"{point.threshold:.2f}",
                Content.styled(bar(point.f1, 8), "$primary"),
                f"{point.f1:.3f}",
                NOTHING if point.precision is None else f"{point.precision:.3f}",
                f"{point.recall:.3f}",
                _share(point.answered_impossible),
                _share(point.refused_possible),
            ),
            copy=found.line(point.threshold),
        )
        for point in found.points
    )


def _mark(point: Point, found: Calibration, now: float | None) -> Content:
    """Return at most two signs, of the best, the current and the cautious threshold."""
    nearest = min(found.points, key=lambda other: abs(other.threshold - (now or 0.0)))
    signs = [
        sign
        for sign, is_here in (
            (BEST, point is found.best),
            (NOW, now is not None and point is nearest),
            (CAUTIOUS, point is found.cautious),
        )
        if is_here
    ]
    return Content.assemble(*signs[:2])


def curve_text(found: Calibration, now: float | None, cursor: float, width: int, height: int) -> Content:
    """Return F1, precision and recall over the threshold with their legend, in `height` lines."""
    curves = (
        Curve("F", [point.f1 for point in found.points], "$success"),
        Curve("P", [point.precision for point in found.points], "$primary", drawn=3, period=5),
        Curve("R", [point.recall for point in found.points], "$warning", drawn=1, period=3),
    )
    marks = {found.best.threshold: BEST}
    if now is not None:
        marks.setdefault(now, NOW)
    if found.cautious is not None:
        marks.setdefault(found.cautious.threshold, CAUTIOUS)
    axis = Axis(found.points[0].threshold, found.points[-1].threshold, marks, cursor)
    legend = Content.assemble(
        ("F", "bold $success"),
        " F1, solid  ",
        ("P", "bold $primary"),
        " precision, dashed  ",
        ("R", "bold $warning"),
        " recall, dotted",
    )
    return Content("\n").join([legend, plot(curves, axis, width, max(height - 4, 4))])


def _share(value: Share | None) -> str:
    return NOTHING if value is None else percent(value.value)


_STOPPED = "Stopped before ranking every request. Press r to start again."


class CalibrationScreen(ListPage):
    """Ranks every request once in a thread, then draws the curve; a `ThresholdPage` may bring requests."""

    page = "threshold"
    CSS_PATH = "calibration.tcss"
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

    when_idle = frozenset({"apply", "again"})

    def __init__(self) -> None:
        super().__init__()
        self._ranker = next(iter(SETTINGS))
        self._live: LiveBench | None = None
        self._found: Calibration | None = None

    def body(self) -> ComposeResult:
        what = "how sure a search must be before it answers. It ranks every labelled request once."
        invitation = Content.assemble(("r measures", "bold $accent"), f"   {what}\n\n")
        yield Static(invitation, id="calibration-facts")
        with Container(id="calibration-body"):
            yield Static(id="curve")
            yield RecordList(COLUMNS, header=True, empty="Thresholds appear here.", id="points")

    def arrive(self, destination: Destination) -> None:
        """Measure the threshold of the ranker that was asked for."""
        if isinstance(destination, ThresholdPage):
            self._ranker, self._live = destination.ranker, destination.live
            self.action_again()

    def action_again(self) -> None:
        """Measure, or measure again."""
        self._found = None
        self.list.records = ()
        self.write("", "#curve")
        ranker, before, view = self._ranker, self._live, self.session.retrieval

        def measure(job: Job) -> tuple[LiveBench, Calibration | None]:
            live = LiveBench.of(view, before)
            return live, live.calibrate(ranker, job.report, job.stopped)

        def failed(error: Exception) -> None:
            self._say(failure_text(error)[1])

        self.run_stoppable("threshold", measure, self._calibrated, failed=failed)
        self.show_progress()

    def action_next_ranker(self) -> None:
        """Show the curve of the other ranker."""
        names = tuple(SETTINGS)
        self._ranker = names[(names.index(self._ranker) + 1) % len(names)]
        self.action_again()

    def _calibrated(self, measured: tuple[LiveBench, Calibration | None]) -> None:
        self._live, self._found = measured
        if self._found is None:
            self._say(_STOPPED)
            return
        self.draw()
        self.list.move_to(f"{self._found.best.threshold:g}")
        self.draw_detail()

    def _say(self, problem: str) -> None:
        self.write(Content.styled(problem, "$text-warning"), "#calibration-facts")

    @property
    def _now(self) -> float | None:
        return threshold_of(self.session.settings, self._ranker)

    @property
    def _point(self) -> Point | None:
        points = self._found.points if self._found else ()
        return next((point for point in points if f"{point.threshold:g}" == self.key), None)

    def show_progress(self) -> None:
        if self.running is not None:
            self.write(progress(self._ranker, *self.running.progress), "#calibration-facts")

    def draw(self) -> None:
        if self._found is not None:
            self.write(facts(self._found, self._now), "#calibration-facts")
            self.list.records = rows(self._found, self._now)

    def draw_detail(self) -> None:
        if self._found is not None:
            cursor = (self._point or self._found.best).threshold
            size = self.query_one("#curve").content_size
            self.write(curve_text(self._found, self._now, cursor, *size), "#curve")

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
        self.draw()
        self.draw_detail()
        text = f"{self._ranker} uses {point.threshold:.2f} in this session. y copies its configuration."
        self.notify(text, title="Applied", markup=False)

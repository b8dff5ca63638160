"""The threshold below which a search had better say that no tool fits."""

from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.draw.failure import failure_text
from inspector.app.pages.lab.calibration import content
from inspector.domain.error import ToolsightError
from inspector.engine.measure.calibrate import SETTINGS, Calibration, Point
from inspector.engine.measure.live import LiveBench
from widgets import KeyBar, RecordList

_DRAWN_EVERY = 0.1
_STOPPED = "Stopped before every request was ranked. r starts again, esc goes back."


class CalibrationScreen(BaseScreen):
    """Ranks every request once in a thread, then draws the curve; `live` spares gathering them anew."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#points RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "apply", "apply", id="calibration.apply"),
        Binding("k", "next_ranker", "ranker", id="calibration.ranker"),
        Binding("r", "again", "again", id="calibration.again"),
        Binding("x", "stop", "stop", id="calibration.stop"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Each request is ranked once; then every threshold from 0.10 to 0.90 is tried on what was found.",
        "hybrid: the probability below which a search says that no tool fits; counted are requests.",
        "dense: the cosine that a tool needs; counted are single tools among the first ten.",
        "precision: of what was answered, how much is right. recall: of what is needed, how much came.",
        "★ has the best F1, ● is in use, ◆ is the highest that refuses at most 10 % of what is possible.",
        "false yes: impossible requests that are answered. false no: possible ones that are refused.",
        "a uses the threshold under the cursor for this session, y copies its line of configuration.",
        "k shows the other ranker, r measures again, x stops, esc goes back.",
    )

    class Calibrated(Message):
        """From the thread: a curve, or what is wrong."""

        def __init__(
            self, number: int, live: LiveBench | None, found: Calibration | None, problem: str
        ) -> None:
            super().__init__()
            self.number = number
            self.live = live
            self.found = found
            self.problem = problem

    def __init__(self, ranker: str, live: LiveBench | None = None) -> None:
        super().__init__()
        self._ranker = ranker
        self._live = live
        self._found: Calibration | None = None
        self._number = 0
        self._progress: tuple[int, int] | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="calibration-facts")
        with Container(id="calibration-body"):
            yield Static(id="curve")
            yield RecordList(content.COLUMNS, header=True, empty="The thresholds stand here.", id="points")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_DRAWN_EVERY, self._show_progress)
        self.action_again()

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._show_curve)

    def action_again(self) -> None:
        """Measure, or measure again."""
        self._number += 1
        self._found, self._progress = None, (0, 0)
        self.refresh_bindings()
        self.query_one("#points", RecordList).records = ()
        self.query_one("#curve", Static).update("")
        self._show_progress()
        self._measure(self._number, self._ranker)

    def action_next_ranker(self) -> None:
        """Show the curve of the other ranker."""
        names = tuple(SETTINGS)
        self._ranker = names[(names.index(self._ranker) + 1) % len(names)]
        self.action_again()

    @work(thread=True, exclusive=True, exit_on_error=False, group="calibration")
    def _measure(self, number: int, ranker: str) -> None:
        worker = get_current_worker()
        live, found, problem = self._live, None, ""
        try:
            live = LiveBench.of(self.bench.retrieval, self._live)
            found = live.calibrate(ranker, self._progressed(number), lambda: worker.is_cancelled)
        except ToolsightError as error:
            problem = failure_text(error)[1]
        self.post_message(self.Calibrated(number, live, found, problem))

    def _progressed(self, number: int) -> Callable[[int, int], None]:
        def keep(done: int, total: int) -> None:
            if number == self._number:
                self._progress = (done, total)

        return keep

    def action_stop(self) -> None:
        """Stop after the request that is being ranked."""
        self.workers.cancel_group(self, "calibration")

    @on(Calibrated)
    def _calibrated(self, event: Calibrated) -> None:
        if event.number != self._number:
            return
        self._live, self._found, self._progress = event.live, event.found, None
        self.refresh_bindings()
        if event.found is None:
            problem = event.problem or _STOPPED
            self.query_one("#calibration-facts", Static).update(Content.styled(problem, "$text-warning"))
            return
        self._show()
        self.query_one("#points", RecordList).move_to(f"{event.found.best.threshold:g}")
        self._show_curve()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what can be done now."""
        if action == "stop":
            return self._progress is not None
        if action in ("apply", "again"):
            return self._progress is None
        return super().check_action(action, parameters)

    @property
    def _now(self) -> float | None:
        return self.bench.retrieval.threshold_of(self._ranker)

    @property
    def _point(self) -> Point | None:
        current = self.query_one("#points", RecordList).current
        points = self._found.points if self._found else ()
        return next((p for p in points if current is not None and f"{p.threshold:g}" == current.key), None)

    def _show_progress(self) -> None:
        if self._progress is not None:
            line = content.progress(self._ranker, *self._progress)
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
        """Use the threshold under the cursor for this session."""
        point = self._point
        if point is None or self._found is None:
            return
        self.bench.retrieval.use_threshold(self._ranker, point.threshold)
        self._show()
        self._show_curve()
        title = f"{self._ranker} now uses {point.threshold:.2f}, in this session"
        self.notify("y copies the line that keeps it in the configuration.", title=title, markup=False)

    @on(RecordList.Copied, "#points")
    def _tell_copied(self, event: RecordList.Copied) -> None:
        self.notify(event.record.copy, title="Copied", markup=False)

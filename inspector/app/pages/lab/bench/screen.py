"""The bench: how well and how fast each ranker finds the right tools of this session."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.dialogs.export import ExportDialog
from inspector.app.pages.lab.bench import content
from inspector.app.pages.lab.bench.request_screen import BenchRequestScreen
from inspector.app.pages.lab.bench.run import BenchRun
from inspector.app.pages.lab.calibration.screen import CalibrationScreen
from inspector.engine.measure.calibrate import SETTINGS
from inspector.engine.measure.comparison import Measured
from inspector.engine.measure.live import LiveBench
from widgets import KeyBar, RecordList, visible

# Seconds between two drawings of a run's progress.
_DRAWN_EVERY = 0.1
_ENDINGS = "The ending decides the form: .md, .json or .csv."


class Prepared(Message):
    """From the thread: what there is to measure now."""

    def __init__(self, live: LiveBench) -> None:
        super().__init__()
        self.live = live


class Arrived(Message):
    """From the thread of a run: it starts over `live`, or one more ranker is measured."""

    def __init__(self, number: int, live: LiveBench, measured: Measured | None = None) -> None:
        super().__init__()
        self.number = number
        self.live = live
        self.measured = measured


class Finished(Message):
    """The thread of a run has ended, whatever the reason."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class BenchScreen(BaseScreen):
    """Chooses rankers, measures them in a thread, and shows each as soon as it is done."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#rankers RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "choose", id="bench.choose"),
        Binding("r", "run", "run", id="bench.run"),
        Binding("x", "stop", "stop", id="bench.stop"),
        Binding("escape", "stop_or_leave", "back", show=False),
        Binding("t", "calibrate", "threshold", id="bench.calibrate"),
        Binding("o", "export", "export", id="bench.export"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Every request is asked of every ranker that has a check mark; nothing is loaded, nothing recorded.",
        "space chooses a ranker, r measures those chosen, x or esc stops and keeps what is there.",
        "nDCG@10 is 1 where the right tools stand first; with 95 % the true mean lies within the interval.",
        "hit@1: the first tool is right. recall@5: the share of the needed tools among the first five.",
        "false yes: impossible requests that were answered. false no: possible ones that were refused.",
        "p50 and p95: half, and 95 %, of the searches took at most so long.",
        "enter on a ranker lists its requests: compared with the first measured ranker, or its worst ones.",
        "t finds the threshold below which a search had better say that no tool fits.",
        "o writes the table as Markdown, JSON or CSV. `toolsight bench` measures without the app.",
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

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the state
        live = self._run.live
        if live is not None and not self._run.waiting and not live.is_current(self.bench.retrieval):
            self._prepare()
        self._show_status()

    @work(thread=True, exclusive=True, exit_on_error=False, group="bench")
    def _prepare(self) -> None:
        live = LiveBench.of(self.bench.retrieval, self._run.live)
        if not get_current_worker().is_cancelled:
            self.post_message(Prepared(live))

    @on(Prepared)
    def _prepared(self, event: Prepared) -> None:
        self._run.live = event.live
        self._show()

    def action_choose(self) -> None:
        """Choose the ranker under the cursor, or not."""
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

    @work(thread=True, exclusive=True, exit_on_error=False, group="bench")
    def _measure(self, number: int, names: tuple[str, ...]) -> None:
        worker = get_current_worker()
        try:
            live = LiveBench.of(self.bench.retrieval, self._run.live)
            started = live.clock.monotonic()

            def report(what: str, done: int, total: int) -> None:
                self._run.report(number, names, what, done, total, live.clock.monotonic() - started)

            self.post_message(Arrived(number, live))
            for measured in live.measure(names, report, lambda: worker.is_cancelled):
                self.post_message(Arrived(number, live, measured))
        finally:
            self.post_message(Finished(number))

    @on(Arrived)
    def _arrived(self, event: Arrived) -> None:
        self._run.arrive(event.number, event.live, event.measured)
        self._show()

    @on(Finished)
    def _finished(self, event: Finished) -> None:
        self._run.finish(event.number)
        self._show()

    def action_stop(self) -> None:
        """Stop the run after the request that is being answered; what is measured stays."""
        if self._run.waiting:
            self._run.is_stopping = True
            self.workers.cancel_group(self, "bench")
            self._show_status()

    async def action_stop_or_leave(self) -> None:
        """Stop the run, or go back."""
        if self._run.waiting and not self._run.is_stopping:
            self.action_stop()
        else:
            await self.app.run_action("back")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what can be done now: run, or stop."""
        if action in ("run", "stop"):
            return bool(self._run.waiting) == (action == "stop")
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
        line = content.status(self._run.state(self.bench.retrieval), self.size.width)
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

    def action_calibrate(self) -> None:
        """Find the threshold of the ranker under the cursor, or of the default one."""
        current = self._list.current
        name = current.key if current is not None and current.key in SETTINGS else next(iter(SETTINGS))
        self.app.push_screen(CalibrationScreen(name, self._run.live))

    @work(exit_on_error=False)
    async def action_export(self) -> None:
        """Write the table to a file of the user's choice."""
        rows = self._run.table()
        if not rows:
            self.notify("Nothing is measured yet: r runs the chosen rankers.", markup=False)
            return
        suggested = Path(f"toolsight-bench-{self.bench.session_id}.md")
        dialog = ExportDialog(suggested, partial(content.export_text, rows), _ENDINGS)
        chosen = await self.app.push_screen_wait(dialog)
        if chosen:
            self.notify(f"Wrote {len(rows)} rankers to {visible(chosen)}", markup=False)

    @on(RecordList.Copied)
    def _tell_copied(self) -> None:
        self.notify("", title="Copied", markup=False, timeout=2)

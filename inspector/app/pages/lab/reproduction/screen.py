"""The reproduction page: measures published results again, section by section, and shows both."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import Static

from inspector.app.activity import Activity
from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.dialogs.export import ExportDialog
from inspector.app.job import Job
from inspector.app.pages.lab.reproduction import content
from inspector.app.pages.lab.reproduction.job import ReproduceJob
from inspector.app.reproduction import Reproduction
from inspector.core.report import Section, markdown
from inspector.research.published import report
from inspector.research.run import CHAPTERS, chapters
from inspector.research.source import Steps, Stopped
from widgets import KeyBar, RecordList, visible

# Seconds between redraws of a run's progress.
_DRAWN_EVERY = 0.1
_RUN = "reproduce"


class ReproduceScreen(BaseScreen):
    """Chapters on the left, the current one on the right. Results are kept for the session."""

    page = "published"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#chapters RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "all", "measure all", id="reproduce.all"),
        Binding("x", "export", "export", id="reproduce.export"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Measures published claims about tool discovery on this machine, next to the published numbers.",
        "enter measures the section under the cursor, a measures them all, esc stops after the current step.",
        "Sections run on the demo servers and on generated catalogs, never on yours; nothing is recorded.",
        "tab goes to the tables to scroll them. –: the paper gives no number.",
        "Targets: ✓ met, ✕ not met.",
        "⚠ marks published numbers that contradict each other, judged by the numbers alone.",
        "x exports the measured sections as Markdown. y copies the command that measures the section.",
        "`toolsight bench papers --all --data FOLDER` measures third-party catalogs too.",
    )

    def __init__(self, reproduction: Reproduction | None = None) -> None:
        super().__init__()
        self._given = reproduction
        self._job = ReproduceJob()

    @property
    def reproduction(self) -> Reproduction | None:
        """The reproduction given to this page, else the app's."""
        return self._given if self._given is not None else self.context.reproduction

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="reproduce-status")
        with Container(id="reproduce-page"):
            yield RecordList(content.COLUMNS, id="chapters")
            with VerticalScroll(id="section"):
                yield Static(id="section-text")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self._show()
        self.set_interval(_DRAWN_EVERY, self._show_progress)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_section)

    def action_all(self) -> None:
        """Measure every section."""
        self._begin(tuple(chapter.id for chapter in CHAPTERS))

    @on(RecordList.Selected, "#chapters")
    def _selected(self, event: RecordList.Selected) -> None:
        self._begin((event.key,) if event.key is not None else ())

    def _begin(self, ids: tuple[str, ...]) -> None:
        if self.reproduction is None or self._job.is_running:
            return
        number = self._job.begin(ids)
        self._show()
        self._measure(number, ids, self.reproduction)

    def _measure(self, number: int, ids: tuple[str, ...], reproduction: Reproduction) -> None:
        def measure(job: Job) -> None:
            steps = Steps(partial(self._job.report, number), job.stopped)
            with suppress(Stopped):
                for chapter in chapters(ids):
                    sections = chapter.sections(reproduction.source, steps)
                    job.tell(partial(self._arrived, number, reproduction, chapter.id, sections))

        self.run_job(_RUN, measure, lambda _: self._ended(number), failed=partial(self._failed, number))

    def _arrived(
        self, number: int, reproduction: Reproduction, chapter: str, sections: tuple[Section, ...]
    ) -> None:
        reproduction.sections[chapter] = sections
        self._job.arrive(number, chapter)
        self._show()

    def _failed(self, number: int, error: BaseException) -> None:
        self.fail(error)
        self._ended(number, has_failed=True)

    def _ended(self, number: int, *, has_failed: bool = False) -> None:
        self._job.finish(number, has_failed=has_failed)
        self._show()

    @property
    def activity(self) -> Activity | None:
        step = self._job.step
        steps = (step.done, step.total) if step is not None else (0, 0)
        return Activity(self._job.current, self.action_stop, *steps) if self._job.is_running else None

    def action_stop(self) -> None:
        """Stop after the current step; the results so far are kept."""
        if self._job.is_running:
            self._job.is_stopping = True
            self.stop_job(_RUN)
            self._show()

    async def action_leave(self) -> None:
        """Stop the run, or go back."""
        if self._job.is_running and not self._job.is_stopping:
            self.action_stop()
        else:
            await super().action_leave()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to measure only what is not being measured."""
        if action == "all":
            return not self._job.is_running
        return super().check_action(action, parameters)

    def _show(self) -> None:
        self.refresh_bindings()
        self.query_one("#chapters", RecordList).records = content.rows(self._job, self.reproduction)
        self._show_status()
        self._show_section()

    def _show_progress(self) -> None:
        if self._job.is_running:
            self.query_one("#chapters", RecordList).records = content.rows(self._job, self.reproduction)
            self._show_status()

    def _show_status(self) -> None:
        self.query_one("#reproduce-status", Static).update(content.status(self._job, self.reproduction))

    @on(RecordList.Highlighted, "#chapters")
    def _highlighted(self) -> None:
        self.query_one("#section", VerticalScroll).scroll_home(animate=False)
        self._show_section()

    def _show_section(self) -> None:
        current = self.query_one("#chapters", RecordList).current
        pane = self.query_one("#section", VerticalScroll)
        width = pane.scrollable_content_region.width
        if current is not None and width > 0:
            text = content.page(current.key, self._job, self.reproduction, width)
            self.query_one("#section-text", Static).update(text)

    @work(exit_on_error=False)
    async def action_export(self) -> None:
        """Export the measured sections to a file."""
        measured = self.reproduction
        if measured is None or not measured.sections:
            self.notify("Nothing to export yet. Press enter to measure a section.", markup=False)
            return
        text = markdown(report(measured.made(), measured.source, content.told(measured.ids())))
        chosen = await self.app.push_screen_wait(ExportDialog(Path("toolsight-reproduction.md"), text))
        if chosen:
            text = f"{len(measured.sections)} sections to {visible(chosen)}"
            self.notify(text, title="Exported", markup=False)

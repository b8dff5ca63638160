"""The page of published results: measured again, section by section, beside the published numbers."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.draw.line import MUTED
from inspector.app.draw.table import table_lines
from inspector.app.job import Activity, Job
from inspector.app.scenario_job import Reproduction
from inspector.core.report import Section, Table, markdown
from inspector.research.published import report
from inspector.research.run import CHAPTERS, Chapter, chapters
from inspector.research.source import Steps, Stopped
from widgets import Column, KeyBar, Record, RecordList, Tone, visible


@dataclass(frozen=True, slots=True)
class Step:
    """The current step of a chapter; a `total` of 0 is unknown."""

    what: str
    done: int = 0
    total: int = 0


class ReproduceJob:
    """One run at a time. Runs are numbered, so that late reports of an earlier run are ignored."""

    def __init__(self) -> None:
        self.number = 0
        self.waiting: tuple[str, ...] = ()
        self.step: Step | None = None
        self.stopped: frozenset[str] = frozenset()
        self.failed: frozenset[str] = frozenset()
        self.is_stopping = False

    @property
    def is_running(self) -> bool:
        return bool(self.waiting)

    @property
    def current(self) -> str:
        """The chapter being measured, "" if none is."""
        return self.waiting[0] if self.waiting else ""

    def begin(self, ids: Sequence[str]) -> int:
        """Start a run of these chapters; return its number."""
        self.number += 1
        self.waiting = tuple(ids)
        self.step = None
        self.is_stopping = False
        self.stopped -= frozenset(ids)
        self.failed -= frozenset(ids)
        return self.number

    def report(self, number: int, what: str, done: int, total: int) -> None:
        """Take a step of the current chapter; callable from any thread."""
        if number == self.number:
            self.step = Step(what, done, total)

    def arrive(self, number: int, chapter: str) -> None:
        """Take a measured chapter."""
        if number == self.number:
            self.waiting = tuple(id_ for id_ in self.waiting if id_ != chapter)
            self.step = None

    def finish(self, number: int, *, has_failed: bool = False) -> None:
        """End the run; the chapters still waiting were stopped, and the first of them may have failed."""
        if number != self.number:
            return
        if has_failed:
            self.failed |= frozenset(self.waiting[:1])
        self.stopped |= frozenset(self.waiting) - self.failed
        self.waiting, self.step, self.is_stopping = (), None, False


COLUMNS = (
    Column("title", "section", min_width=20, weight=9),
    Column("source", "published in", min_width=20, weight=4, hide_below=70),
    Column("state", "state", width=11, weight=5),
)
_LINE = "━"
_BAR = 20


def rows(job: ReproduceJob, measured: Reproduction | None) -> tuple[Record, ...]:
    """Return every chapter with its state."""
    return tuple(_row(chapter, job, measured) for chapter in CHAPTERS)


def _row(chapter: Chapter, job: ReproduceJob, measured: Reproduction | None) -> Record:
    state, tone = _state(chapter.id, job, measured)
    source = Content.styled(chapter.source, MUTED)
    copied = f"toolsight bench papers {chapter.id}"
    return Record(chapter.id, (chapter.title, source, state), tone=tone, copy=copied)


def _state(chapter: str, job: ReproduceJob, measured: Reproduction | None) -> tuple[str, Tone]:
    if chapter == job.current:
        step = job.step
        return (f"◐ {step.done:,} of {step.total:,}" if step and step.total else "◐ running"), "accent"
    if chapter in job.waiting:
        return "… waiting", "muted"
    if chapter in job.failed:
        return "✕ failed", "error"
    if measured is not None and chapter in measured.sections:
        return "✓ done", ""
    return ("■ stopped", "warning") if chapter in job.stopped else ("○ not run", "muted")


def status(job: ReproduceJob, measured: Reproduction | None) -> Content:
    """Return the progress, or what to do next, in one line."""
    if measured is None:
        return Content.styled("⚠ This session cannot measure published results.", "$text-warning")
    if job.is_stopping:
        return Content.styled("Stopping after this step …", "$text-warning")
    if job.is_running:
        return _progress(job)
    if job.failed:
        return Content.styled("✕ A section failed. Press enter to measure it again.", "$text-error")
    done = len(measured.sections)
    if not done:
        return Content.assemble(
            ("enter", "bold $text-accent"),
            " measures a section, ",
            ("a", "bold $text-accent"),
            " measures all of them in a few minutes.",
        )
    return Content.assemble(
        ("✓ ", "$text-success"),
        f"{done} of {len(CHAPTERS)} measured.",
        ("  tab goes to the tables.  x exports the report.", MUTED),
    )


def _progress(job: ReproduceJob) -> Content:
    title = next(chapter.title for chapter in CHAPTERS if chapter.id == job.current)
    step = job.step
    share = min(step.done / step.total, 1.0) if step is not None and step.total else 0.0
    what = visible(step.what, newlines=False, limit=60) if step is not None else "starting"
    left = f"   then {len(job.waiting) - 1} more" if len(job.waiting) > 1 else ""
    full = round(share * _BAR)
    return Content.assemble(
        (_LINE * full, "$primary"),
        (_LINE * (_BAR - full), "$border"),
        (f" {title}", "bold"),
        (f"   {what}{left}   esc stops", MUTED),
    )


def page_text(chapter: str, job: ReproduceJob, measured: Reproduction | None, width: int) -> Content:
    """Return the sections of a chapter, or what it would measure, `width` cells wide."""
    found = measured.sections.get(chapter, ()) if measured is not None else ()
    if not found:
        return _invitation(next(known for known in CHAPTERS if known.id == chapter), job)
    lines = [line for section in found for line in (*section_lines(section, width), Content())]
    return Content("\n").join(lines)


def _invitation(chapter: Chapter, job: ReproduceJob) -> Content:
    if chapter.id in job.waiting:
        what, then = "Measures", Content("The tables appear here when it finishes.")
    elif job.is_running:
        what, then = "Measures", Content("Only one run at a time. Wait for the other to finish.")
    else:
        what = "Measures"
        then = Content.assemble(("enter", "bold $text-accent"), " measures it now.")
    return Content("\n").join(
        [
            Content.styled(chapter.title, "bold"),
            Content.styled(f"Published: {chapter.source}", MUTED),
            Content(),
            Content(f"{what} {chapter.about}."),
            then,
        ]
    )


def section_lines(section: Section, width: int) -> Iterator[Content]:
    """Yield title and scope, every table, the targets, recorded runs and the published inconsistencies."""
    yield Content.styled(_line(section.title), "bold")
    if section.source:
        yield Content.styled(f"Published: {_line(section.source)}", MUTED)
    yield Content.styled(f"Measured: {_line(section.measured)}.", MUTED)
    for table in section.tables:
        yield Content()
        yield from _table(table, width)
    if section.bars:
        yield Content()
        yield from _table(_bars(section), width)
    if section.recorded:
        yield Content()
        yield Content.styled(f"Recorded runs of real agents: {_line(section.recorded)}.", MUTED)
    if section.findings:
        yield Content()
        yield Content.styled("Inconsistencies in the published numbers", "bold $primary")
        yield from (Content.assemble(("⚠ ", "$text-warning"), _line(finding)) for finding in section.findings)


def _table(table: Table, width: int) -> Iterator[Content]:
    if table.heading:
        yield Content.styled(_line(table.heading), "bold $primary")
    yield from table_lines(table, width)
    for note in table.remarks:
        yield Content.styled(_line(note), MUTED)


def _line(text: str) -> str:
    """Any text on one line."""
    return visible(text, newlines=False)


def _bars(section: Section) -> Table:
    rows = tuple(
        ("✓ met" if is_met else "✕ not met", demanded, found) for demanded, found, is_met in section.bars
    )
    return Table("Targets", ("", "target", "measured"), rows)


def told(chapters: Sequence[str]) -> str:
    """Return the command that repeats a report of these chapters."""
    which = "--all" if len(chapters) == len(CHAPTERS) else " ".join(chapters)
    return f"toolsight bench papers {which}"


# Seconds between redraws of a run's progress.
_DRAWN_EVERY = 0.1
_RUN = "reproduce"


class ReproduceScreen(BaseScreen):
    """Chapters on the left, the current one on the right. Results are kept for the session."""

    page = "published"
    CSS_PATH = "published.tcss"
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
        return self._given if self._given is not None else self.context.parts.reproduction

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="reproduce-status")
        with Container(id="reproduce-page"):
            yield RecordList(COLUMNS, id="chapters")
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
        self.query_one("#chapters", RecordList).records = rows(self._job, self.reproduction)
        self._show_status()
        self._show_section()

    def _show_progress(self) -> None:
        if self._job.is_running:
            self.query_one("#chapters", RecordList).records = rows(self._job, self.reproduction)
            self._show_status()

    def _show_status(self) -> None:
        self.query_one("#reproduce-status", Static).update(status(self._job, self.reproduction))

    @on(RecordList.Highlighted, "#chapters")
    def _highlighted(self) -> None:
        self.query_one("#section", VerticalScroll).scroll_home(animate=False)
        self._show_section()

    def _show_section(self) -> None:
        current = self.query_one("#chapters", RecordList).current
        pane = self.query_one("#section", VerticalScroll)
        width = pane.scrollable_content_region.width
        if current is not None and width > 0:
            text = page_text(current.key, self._job, self.reproduction, width)
            self.query_one("#section-text", Static).update(text)

    def action_export(self) -> None:
        """Export the measured sections to a file."""
        measured = self.reproduction
        if measured is None or not measured.sections:
            self.notify("Nothing to export yet. Press enter to measure a section.", markup=False)
            return
        text = markdown(report(measured.made(), measured.source, told(measured.ids())))
        self.export(Path("toolsight-reproduction.md"), text, what=f"{len(measured.sections)} sections")

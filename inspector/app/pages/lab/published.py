"""The page of published results: measured again, section by section, beside the published numbers."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.draw.line import MUTED, progress_bar
from inspector.app.draw.table import table_lines
from inspector.app.list_page import ListPage
from inspector.app.scenario_job import Reproduction
from inspector.core.report import Section, Table, markdown
from inspector.research.published import report
from inspector.research.run import CHAPTERS, Chapter, chapters
from inspector.research.source import Steps, Stopped
from widgets import Column, Record, RecordList, Tone, visible


@dataclass(slots=True)
class Progress:
    """How far a run of chapters is: those still `waiting`, the first of them measured now, and its step."""

    waiting: tuple[str, ...] = ()
    what: str = "starting"
    done: int = 0
    total: int = 0
    stopped: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    is_stopping: bool = False

    @property
    def current(self) -> str:
        """The chapter being measured, "" if none is."""
        return self.waiting[0] if self.waiting else ""

    def begin(self, ids: Sequence[str]) -> None:
        """Start a run of these chapters."""
        self.go_on(ids)
        self.stopped -= frozenset(ids)
        self.failed -= frozenset(ids)

    def go_on(self, waiting: Sequence[str]) -> None:
        """Measure the first of the chapters that are left."""
        self.waiting, self.is_stopping = tuple(waiting), False
        self.at("starting", 0, 0)

    def at(self, what: str, done: int, total: int) -> None:
        """Take a step of the current chapter; a `total` of 0 is unknown."""
        self.what, self.done, self.total = what, done, total

    def finish(self, *, has_failed: bool = False) -> None:
        """End the run; the chapters still waiting were stopped, and the first of them may have failed."""
        if has_failed:
            self.failed |= frozenset(self.waiting[:1])
        self.stopped |= frozenset(self.waiting) - self.failed
        self.go_on(())


COLUMNS = (
    Column("title", "section", min_width=20, weight=9),
    Column("source", "published in", min_width=20, weight=4, hide_below=70),
    Column("state", "state", width=11, weight=5),
)
_BAR = 20


def rows(now: Progress, measured: Reproduction | None) -> tuple[Record, ...]:
    """Return every chapter with its state."""
    rows = []
    for chapter in CHAPTERS:
        state, tone = _state(chapter.id, now, measured)
        cells = (chapter.title, Content.styled(chapter.source, MUTED), state)
        rows.append(Record(chapter.id, cells, tone=tone, copy=f"toolsight bench papers {chapter.id}"))
    return tuple(rows)


def _state(chapter: str, now: Progress, measured: Reproduction | None) -> tuple[str, Tone]:
    if chapter == now.current:
        return (f"◐ {now.done:,} of {now.total:,}" if now.total else "◐ running"), "accent"
    if chapter in now.waiting:
        return "… waiting", "muted"
    if chapter in now.failed:
        return "✕ failed", "error"
    if measured is not None and chapter in measured.sections:
        return "✓ done", ""
    return ("■ stopped", "warning") if chapter in now.stopped else ("○ not run", "muted")


def status(now: Progress, measured: Reproduction | None) -> Content:
    """Return the progress, or what to do next, in one line."""
    if measured is None:
        return Content.styled("⚠ This session cannot measure published results.", "$text-warning")
    if now.is_stopping:
        return Content.styled("Stopping after this step …", "$text-warning")
    if now.waiting:
        return _progress(now)
    if now.failed:
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


def _progress(now: Progress) -> Content:
    title = next(chapter.title for chapter in CHAPTERS if chapter.id == now.current)
    share = min(now.done / now.total, 1.0) if now.total else 0.0
    what = visible(now.what, newlines=False, limit=60)
    left = f"   then {len(now.waiting) - 1} more" if len(now.waiting) > 1 else ""
    return Content.assemble(
        progress_bar(share, _BAR),
        (f" {title}", "bold"),
        (f"   {what}{left}   esc stops", MUTED),
    )


def page_text(chapter: str, now: Progress, measured: Reproduction | None, width: int) -> Content:
    """Return the sections of a chapter, or what it would measure, `width` cells wide."""
    found = measured.sections.get(chapter, ()) if measured is not None else ()
    if not found:
        return _invitation(next(known for known in CHAPTERS if known.id == chapter), now)
    lines = [line for section in found for line in (*section_lines(section, width), Content())]
    return Content("\n").join(lines)


def _invitation(chapter: Chapter, now: Progress) -> Content:
    if chapter.id in now.waiting:
        then = Content("The tables appear here when it finishes.")
    elif now.waiting:
        then = Content("Only one run at a time. Wait for the other to finish.")
    else:
        then = Content.assemble(("enter", "bold $text-accent"), " measures it now.")
    return Content("\n").join(
        [
            Content.styled(chapter.title, "bold"),
            Content.styled(f"Published: {chapter.source}", MUTED),
            Content(),
            Content(f"Measures {chapter.about}."),
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
        met = (("✓ met" if is_met else "✕ not met", *numbers) for *numbers, is_met in section.bars)
        yield from _table(Table("Targets", ("", "target", "measured"), tuple(met)), width)
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


def told(chapters: Sequence[str]) -> str:
    """Return the command that repeats a report of these chapters."""
    which = "--all" if len(chapters) == len(CHAPTERS) else " ".join(chapters)
    return f"toolsight bench papers {which}"


class ReproduceScreen(ListPage):
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

    when_idle = frozenset({"all"})

    def __init__(self, reproduction: Reproduction | None = None) -> None:
        super().__init__()
        self._given = reproduction
        self._now = Progress()

    @property
    def reproduction(self) -> Reproduction | None:
        """The reproduction given to this page, else the app's."""
        return self._given if self._given is not None else self.context.parts.reproduction

    def body(self) -> ComposeResult:
        yield Static(id="reproduce-status")
        with Container(id="reproduce-page"):
            yield RecordList(COLUMNS, id="chapters")
            with VerticalScroll(id="section"):
                yield Static(id="section-text")

    def on_mount(self) -> None:
        self.draw()

    def action_all(self) -> None:
        """Measure every section."""
        self._begin(tuple(chapter.id for chapter in CHAPTERS))

    def opened(self, key: str) -> None:
        self._begin((key,))

    def _begin(self, ids: tuple[str, ...]) -> None:
        measured, now = self.reproduction, self._now
        if measured is None or self.running is not None:
            return

        def measure(job: Job) -> None:
            def step(what: str, done: int, total: int) -> None:
                now.at(what, done, total)
                job.report(done, total)

            with suppress(Stopped):
                for chapter in chapters(ids):
                    job.title = chapter.id
                    sections = chapter.sections(measured.source, Steps(step, job.stopped))
                    job.tell(partial(self._arrived, measured, chapter.id, sections))

        now.begin(ids)
        self.run_stoppable(ids[0], measure, self._ended, failed=self._failed)
        self.draw()

    def _arrived(self, measured: Reproduction, chapter: str, sections: tuple[Section, ...]) -> None:
        measured.sections[chapter] = sections
        self._now.go_on([id_ for id_ in self._now.waiting if id_ != chapter])
        self.draw()

    def _failed(self, error: Exception) -> None:
        self.fail(error)
        self._ended(has_failed=True)

    def _ended(self, _: object = None, *, has_failed: bool = False) -> None:
        self._now.finish(has_failed=has_failed)
        self.draw()

    def draw(self) -> None:
        self.show_progress()
        self.draw_detail()

    def show_progress(self) -> None:
        self._now.is_stopping = self.running is not None and self.running.is_stopped
        self.list.records = rows(self._now, self.reproduction)
        self.write(status(self._now, self.reproduction), "#reproduce-status")

    def moved(self) -> None:
        self.query_one("#section", VerticalScroll).scroll_home(animate=False)
        self.draw_detail()

    def draw_detail(self) -> None:
        width = self.query_one("#section").scrollable_content_region.width
        if self.key and width > 0:
            self.write(page_text(self.key, self._now, self.reproduction, width), "#section-text")

    def action_export(self) -> None:
        """Export the measured sections to a file."""
        measured = self.reproduction
        if measured is None or not measured.sections:
            self.notify("Nothing to export yet. Press enter to measure a section.", markup=False)
            return
        text = markdown(report(measured.made(), measured.source, told(measured.ids())))
        self.export(Path("toolsight-reproduction.md"), text, what=f"{len(measured.sections)} sections")

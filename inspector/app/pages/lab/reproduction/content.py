"""The texts of the reproduction page: chapters with their state, and a section as lines."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import table_lines
from inspector.app.pages.lab.reproduction.job import ReproduceJob
from inspector.app.reproduction import Reproduction
from inspector.core.report import Section, Table
from inspector.research.run import CHAPTERS, Chapter
from widgets import Column, Record, Tone, visible

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


def page(chapter: str, job: ReproduceJob, measured: Reproduction | None, width: int) -> Content:
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

"""Reports of measurements as Markdown: sections with tables, and what each table's numbers rest on."""

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from inspector.core import report


def percent_down(fraction: float) -> str:
    """94.9 %: truncated to one decimal, never rounded up."""
    return f"{int(fraction * 1000 + 1e-9) / 10:.1f} %"


def markdown_table(table: report.Table) -> str:
    """The headers and rows alone."""
    rule = ["--:" if column in table.right else "---" for column in range(len(table.headers))]
    return "\n".join(f"| {' | '.join(map(inline, cells))} |" for cells in (table.headers, rule, *table.rows))


def inline(text: str) -> str:
    """The text on one line of Markdown, with `|` escaped."""
    return " ".join(text.split()).replace("|", "\\|")


class Origin(StrEnum):
    """What a table's numbers rest on, in the order in which a section shows them.

    Those of a calibration were built into the data that is measured: that they agree with the published ones
    confirms nothing. Published ones are not measured at all.
    """

    REAL = "real"
    GENERATED = "generated"
    CALIBRATION = "calibration"
    PUBLISHED = "published"


class Table(report.Table, frozen=True):
    """A table. `origin` says what the numbers rest on, and `why`, a sentence, why that is not real data."""

    origin: Origin = Origin.REAL
    why: str = ""

    @property
    def heading(self) -> str:
        """The title, which begins with the origin where numbers are generated or built in."""
        if self.origin in (Origin.GENERATED, Origin.CALIBRATION):
            return f"{self.origin.capitalize()}: {self.title}"
        return self.title

    @property
    def remarks(self) -> tuple[str, ...]:
        """Why the numbers are not of real data, and the notes."""
        return (self.why, *self.notes) if self.why else self.notes


class Section(Struct, frozen=True):
    """A page of a report. `measured` says what was measured on what.

    `findings` say where published numbers disagree. `source` is the publication and its section. `bars` are
    (demanded, measured, met). `recorded` says where recorded runs of real agents answer the same question.
    """

    id: str
    title: str
    source: str
    measured: str
    tables: tuple[Table, ...]
    findings: tuple[str, ...] = ()
    bars: tuple[tuple[str, str, bool], ...] = ()
    recorded: str = ""


def real_first(section: Section) -> Section:
    """The section with its tables ordered by origin, and otherwise as they were."""
    order = list(Origin)
    return replace(section, tables=tuple(sorted(section.tables, key=lambda one: order.index(one.origin))))


class Report(Struct, frozen=True):
    """Sections under one title."""

    title: str
    intro: tuple[str, ...]
    sections: tuple[Section, ...]


def markdown(report: Report) -> str:
    """The report as GitHub Markdown, ending in a newline."""
    blocks = [f"# {report.title}", *report.intro]
    for section in report.sections:
        blocks += _section(section)
    return "\n\n".join(blocks) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.title}"
    if section.source:
        yield f"Published: {section.source}."
    if section.measured:
        yield f"Measured: {section.measured}."
    if section.recorded:
        yield f"Recorded runs of real agents: {section.recorded}."
    for table in section.tables:
        yield from _table(table)
    if section.bars:
        rows = tuple((what, value, "yes" if met else "**no**") for what, value, met in section.bars)
        yield from _table(Table("Bars", ("demanded", "measured", "met"), rows))
    if section.findings:
        yield "Where the published numbers do not hold together:"
        yield "\n".join(f"- {finding}" for finding in section.findings)


def _table(table: Table) -> Iterator[str]:
    if table.heading:
        yield f"### {table.heading}"
    yield markdown_table(table)
    if table.remarks:
        yield "\n".join(f"- {note}" for note in table.remarks)

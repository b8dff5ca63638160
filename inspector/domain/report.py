"""A report of tables that compare measured with published numbers, and its Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headers. The columns in `right` hold numbers. Notes go below."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A page of a report. `measured` says what was measured on what.

    `findings` say where published numbers disagree. `source` is the publication and its section. `bars` are
    (demanded, measured, met).
    """

    id: str
    title: str
    source: str
    measured: str
    tables: tuple[Table, ...]
    findings: tuple[str, ...] = ()
    bars: tuple[tuple[str, str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
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
    for table in section.tables:
        yield from _table(table)
    if section.bars:
        rows = tuple((what, value, "yes" if met else "**no**") for what, value, met in section.bars)
        yield from _table(Table("Bars", ("demanded", "measured", "met"), rows))
    if section.findings:
        yield "Where the published numbers do not hold together:"
        yield "\n".join(f"- {finding}" for finding in section.findings)


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"### {table.title}"
    rule = ["--:" if column in table.right else "---" for column in range(len(table.headers))]
    yield "\n".join(_row(cells) for cells in (table.headers, rule, *table.rows))
    if table.notes:
        yield "\n".join(f"- {note}" for note in table.notes)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """The text on one line, with `|` escaped."""
    return " ".join(text.split()).replace("|", "\\|")

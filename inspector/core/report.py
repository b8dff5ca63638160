"""Reports: tables of objects as people read them, what programs read of the same objects, and Markdown.

A table's columns say once how each value is found and shown. `selected` names the keys of JSON in one place.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, Self

from inspector.core.number import milliseconds, money, percent, shown_moment, tokens

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Kind:
    """How a person reads a kind of value; numbers align right, and what is `whole` is never broken."""

    show: Callable[[Any], str]
    is_number: bool = True
    whole: bool = False


TEXT, NAME = Kind(str, is_number=False), Kind(str, is_number=False, whole=True)
NUMBER, COUNT, TOKENS, MONEY = Kind(str), Kind("{:,}".format), Kind(tokens), Kind(money)
SHARE, TENTHS = Kind(percent), Kind(lambda one: percent(one, 1))
ONE, TWO, THREE, MILLISECONDS = (
    Kind("{:.1f}".format),
    Kind("{:.2f}".format),
    Kind("{:.3f}".format),
    Kind(milliseconds),
)
TIME = Kind(shown_moment, is_number=False, whole=True)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its header, where its value is, and how it is shown.

    The value is a function of the row's object, or a path of attributes; by default the header is its name.
    """

    header: str
    value: "Callable[[Any], Any] | str" = ""
    kind: Kind = TEXT

    def text(self, row: object) -> str:
        """The cell of an object; what there is no value for is a dash."""
        value = self.value(row) if callable(self.value) else _found(row, self.value or self.header)
        return NOTHING if value is None else self.kind.show(value)


class Origin(StrEnum):
    """What a table's numbers rest on, in the order in which a section shows them.

    Those of a calibration were built into the data that is measured: that they agree with the published ones
    confirms nothing. Published ones are not measured at all.
    """

    REAL = "real"
    GENERATED = "generated"
    CALIBRATION = "calibration"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headers. The columns in `right` hold numbers, those in `whole` are never broken.

    Notes go below.
    `origin` says what the numbers rest on, and `why`, a sentence, why that is not real data.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    origin: Origin = Origin.REAL
    why: str = ""
    whole: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, columns: Sequence[Column], rows: Iterable[object], title: str = "", notes: tuple[str, ...] = ()
    ) -> Self:
        """The objects as rows under these columns."""
        return cls(
            title,
            tuple(column.header for column in columns),
            tuple(tuple(column.text(row) for column in columns) for row in rows),
            frozenset(place for place, column in enumerate(columns) if column.kind.is_number),
            notes,
            whole=frozenset(place for place, column in enumerate(columns) if column.kind.whole),
        )

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


@dataclass(frozen=True, slots=True)
class Section:
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


@dataclass(frozen=True, slots=True)
class Report:
    """Sections under one title."""

    title: str
    intro: tuple[str, ...]
    sections: tuple[Section, ...]


def selected(value: Any, keys: str) -> Any:
    """What programs read of an object: these keys, such as `name server:spec.name tools{id tokens}`.

    A key is the attribute of its name, or the path behind its colon. What is in braces is selected from what
    the key has: an object, or each one of a list or of a mapping's values. What is not there is None.
    """
    return _selected(value, _parsed(keys))


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    path: str
    inner: "list[_Key]" = field(default_factory=list)


_PART = re.compile(r"(?P<key>\w+)(?::(?P<path>[\w.]+))?(?P<opens>\{)?|(?P<closes>\})")


@cache
def _parsed(keys: str) -> list[_Key]:
    levels: list[list[_Key]] = [[]]
    for part in _PART.finditer(keys):
        if part["closes"]:
            levels.pop()
            continue
        levels[-1].append(_Key(part["key"], part["path"] or part["key"]))
        if part["opens"]:
            levels.append(levels[-1][-1].inner)
    return levels[0]


def _selected(value: Any, keys: Sequence[_Key]) -> Any:
    if value is None or not keys:
        return value
    if isinstance(value, Mapping):
        return {key: _selected(one, keys) for key, one in value.items()}
    if isinstance(value, Iterable):
        return [_selected(one, keys) for one in value]
    return {key.name: _selected(_found(value, key.path), key.inner) for key in keys}


def _found(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


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


def markdown_table(table: Table) -> str:
    """The headers and rows alone."""
    rule = ["--:" if column in table.right else "---" for column in range(len(table.headers))]
    return "\n".join(_row(cells) for cells in (table.headers, rule, *table.rows))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(inline, cells))} |"


def inline(text: str) -> str:
    """The text on one line of Markdown, with `|` escaped."""
    return " ".join(text.split()).replace("|", "\\|")

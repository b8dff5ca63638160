"""Reports: facts and tables of objects as people read them, and what programs read of the same objects.

A table's columns say once how each value is found and shown. `selected` names the keys of JSON in one place.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

from inspector.core.number import milliseconds, money, percent, saving, shown_moment, tokens

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Kind:
    """How a person reads a kind of value; numbers align right, and what is `whole` is never broken."""

    show: Callable[[Any], str]
    is_number: bool = True
    whole: bool = False


TEXT, NAME = Kind(str, is_number=False), Kind(str, is_number=False, whole=True)
NUMBER, COUNT, TOKENS, MONEY = Kind(str), Kind("{:,}".format), Kind(tokens), Kind(money)
SHARE, TENTHS, SAVING = Kind(percent), Kind(lambda one: percent(one, 1)), Kind(saving)
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


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headers. The columns in `right` hold numbers, those in `whole` are never broken.

    Notes go below.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
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


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled line. With `warns`, it says what a person should look at."""

    label: str
    text: str
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about one thing, their labels in one column."""

    facts: tuple[Fact, ...]
    title: str = ""


Block = str | Table | Facts
"""A part of a report. Terminal, pages and Markdown draw the same blocks."""


@dataclass(frozen=True, slots=True)
class Section:
    """Tables about one subject."""

    id: str
    title: str
    tables: tuple[Table, ...]


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


def markdown_table(table: Table) -> str:
    """The headers and rows alone."""
    rule = ["--:" if column in table.right else "---" for column in range(len(table.headers))]
    return "\n".join(f"| {' | '.join(map(inline, cells))} |" for cells in (table.headers, rule, *table.rows))


def inline(text: str) -> str:
    """The text on one line of Markdown, with `|` escaped."""
    return " ".join(text.split()).replace("|", "\\|")

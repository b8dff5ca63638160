"""What a person reads, or is asked, as data: the terminal and the app draw the same words, in the same order.

Reports are lines, facts and tables, whose columns say once how each value is found and shown. A question is
made of them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Self

from msgspec import Struct

from inspector.core.number import milliseconds, money, percent, saving, shown_moment, tokens

NOTHING = "–"


class Kind(Struct, frozen=True):
    """How a person reads a kind of value; numbers align right, and what is `whole` is never broken."""

    show: Callable[[Any], str]
    is_number: bool = True
    whole: bool = False


TEXT, NAME = Kind(str, is_number=False), Kind(str, is_number=False, whole=True)
NUMBER, COUNT, TOKENS, MONEY = Kind(str), Kind("{:,}".format), Kind(tokens), Kind(money)
SHARE, SAVING = Kind(percent), Kind(saving)
ONE, TWO, MILLISECONDS = Kind("{:.1f}".format), Kind("{:.2f}".format), Kind(milliseconds)
TIME = Kind(shown_moment, is_number=False, whole=True)


class Column(Struct, frozen=True):
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


class Table(Struct, frozen=True):
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


class Fact(Struct, frozen=True):
    """A labelled line. With `warns`, it says what a person should look at."""

    label: str
    text: str
    warns: bool = False


class Facts(Struct, frozen=True):
    """Facts about one thing, their labels in one column."""

    facts: tuple[Fact, ...]
    title: str = ""


Block = str | Table | Facts
"""A part of a report. Terminal, pages and files draw the same blocks."""


class Section(Struct, frozen=True):
    """Tables about one subject."""

    id: str
    title: str
    tables: tuple[Table, ...]


def _found(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


YES: Final = "yes"
"""The value of the answer to what has no other than yes and no."""


class Option(Struct, frozen=True):
    """An answer: its value, which is typed on a terminal, what it says, and a key that is no letter."""

    value: str
    label: str
    key: str = ""


class Address(Fact, frozen=True):
    """An address, shown whole on a line by itself; its host is what stands from `start` to `end`."""

    start: int = 0
    end: int = 0


class Diff(Struct, frozen=True):
    """What differs in one part, or becomes of a file: lines that begin with - or +, and those around them."""

    title: str
    lines: tuple[str, ...]


_LEAST, _MOST = 8, 16


class Question(Struct, frozen=True):
    """What to know before an answer, and the answers; the last one changes nothing, and is given by default.

    A text of its own is Toolsight's; what is from outside is a `Fact`, and one that `warns` is to be looked
    at before a yes. If it `is_exact`, all is read as it is, secrets too: it is what would run.
    """

    title: str
    blocks: tuple[str | Facts | Diff, ...]
    options: tuple[Option, ...]
    is_exact: bool = False

    @property
    def refusal(self) -> str:
        """The value of the answer that changes nothing."""
        return self.options[-1].value

    @property
    def label_width(self) -> int:
        """The cells of the column of labels; a longer label than most stands out of it."""
        facts = (fact for block in self.blocks if isinstance(block, Facts) for fact in block.facts)
        return max([_LEAST, *(len(fact.label) for fact in facts if len(fact.label) <= _MOST)])


def cut(text: str, limit: int) -> str:
    """The beginning of a text from outside, and how much more there is."""
    return text if len(text) <= limit else f"{text[:limit]}… [{len(text) - limit} more characters]"

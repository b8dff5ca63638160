"""A question to a person as data: the terminal and the app say the same words of it, in the same order."""

from dataclasses import dataclass
from typing import Final

from inspector.core.report import Fact, Facts

YES: Final = "yes"
"""The value of the answer to what has no other than yes and no."""


@dataclass(frozen=True, slots=True)
class Option:
    """An answer: its value, which is typed on a terminal, what it says, and a key that is no letter."""

    value: str
    label: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Address(Fact):
    """An address, shown whole on a line by itself; its host is what stands from `start` to `end`."""

    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs in one part, or becomes of a file: lines that begin with - or +, and those around them."""

    title: str
    lines: tuple[str, ...]


_LEAST, _MOST = 8, 16


@dataclass(frozen=True, slots=True)
class Question:
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

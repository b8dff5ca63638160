"""A token counter whose numbers can be worked out by hand."""

from collections.abc import Sequence

from inspector.core.budget import Prices, Tokenizer
from inspector.core.settings import Settings
from inspector.core.stream import LiveModel
from inspector.core.tool import Tool
from inspector.tokens.accounting import Accounting
from inspector.tokens.measure import BudgetMeter, FixedWindow
from tests.support.fakes import MemoryPrices
from tests.support.told_model import ToldModel


class CharacterCounter:
    """One token per character."""

    tokenizer = Tokenizer("characters", exact=True)

    def count(self, text: str) -> int:
        return len(text)

    def lengths(self, text: str) -> Sequence[int]:
        return [len(character.encode("utf-8", "replace")) for character in text]


class WordCounter:
    """One token per word."""

    tokenizer = Tokenizer("words", exact=True)

    def count(self, text: str) -> int:
        return len(text.split())

    def lengths(self, text: str) -> Sequence[int]:
        return [len(word.encode("utf-8", "replace")) for word in text.split()]


def character_accounting(live: LiveModel | None = None, *prices: Prices) -> Accounting:
    """An accounting that counts characters, for a model that says nothing."""
    live = live or LiveModel(Settings(), ToldModel())
    return Accounting(lambda _: CharacterCounter(), MemoryPrices(*prices), live)


def character_meter(window: int = 1000) -> BudgetMeter:
    """A meter that counts characters against a window."""
    return BudgetMeter(CharacterCounter(), FixedWindow(window))


def named_characters(tools: Sequence[Tool]) -> int:
    """The number of characters in the names, for connections, which accept any token count."""
    return sum(len(tool.name) for tool in tools)

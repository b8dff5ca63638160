"""What tokens cost in dollars, and whose prices these are."""

import math
from collections.abc import Iterable

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.domain.price import Prices
from widgets import visible

CALLS = 1000
NOTHING = "–"
_MOST_DECIMALS = 8


def dollars(value: float, decimals: int | None = None) -> str:
    """$12.50, $0.012, $0.000045: two digits that say something, and cents where there are dollars."""
    return f"${value:,.{decimals_of([value]) if decimals is None else decimals}f}"


def decimals_of(values: Iterable[float]) -> int:
    """How many decimals a column needs for two digits of its least amount."""
    least = min((abs(value) for value in values if value), default=1.0)
    return min(max(2, 1 - math.floor(math.log10(least))), _MOST_DECIMALS)


def thousand_calls(tokens: int, prices: Prices | None) -> str:
    """What so many input tokens cost in each of 1,000 calls at full price; "" without prices."""
    return dollars(CALLS * tokens * prices.input) if prices is not None else ""


def price_facts(prices: Prices | None, model: str) -> list[Content]:
    """Whose prices are used, what they are a million tokens, where they are from and of which day."""
    if prices is None:
        return [Content.styled("no prices known: set budget.priced_as (ctrl+g)", MUTED)]
    stand_in = "" if prices.model == model else "as "
    name = visible(prices.model, limit=60, newlines=False)
    source = visible(" ".join(filter(None, (prices.source, prices.date))), limit=90, newlines=False)
    each = f"${_million(prices.input)} in, ${_million(prices.output)} out per 1M"
    told = [f"priced {stand_in}{name}: {each}", *([source] if source else [])]
    return [Content.styled(text, MUTED) for text in told]


def _million(price: float) -> str:
    return f"{price * 1_000_000:.2f}".rstrip("0").rstrip(".")

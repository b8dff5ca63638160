"""Dollars for tokens, and the prices behind them."""

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
    """Format an amount with two significant digits and at least cents: $12.50, $0.012, $0.000045."""
    return f"${value:,.{decimals_of([value]) if decimals is None else decimals}f}"


def decimals_of(values: Iterable[float]) -> int:
    """Return the decimals that a column needs to show two digits of its least amount."""
    least = min((abs(value) for value in values if value), default=1.0)
    return min(max(2, 1 - math.floor(math.log10(least))), _MOST_DECIMALS)


def thousand_calls(tokens: int, prices: Prices | None) -> str:
    """Return the cost of these input tokens in 1,000 calls at full price; "" without prices."""
    return dollars(CALLS * tokens * prices.input) if prices is not None else ""


def price_facts(prices: Prices | None, model: str) -> list[Content]:
    """Return the model whose prices are used, the prices per million tokens, their source and date."""
    if prices is None:
        return [Content.styled("no prices for this model: set budget.priced_as (ctrl+g)", MUTED)]
    stand_in = "" if prices.model == model else "as "
    name = visible(prices.model, limit=60, newlines=False)
    source = visible(" ".join(filter(None, (prices.source, prices.date))), limit=90, newlines=False)
    each = f"${_million(prices.input)} in, ${_million(prices.output)} out per 1M"
    texts = [f"priced {stand_in}{name}: {each}", *([source] if source else [])]
    return [Content.styled(text, MUTED) for text in texts]


def _million(price: float) -> str:
    return f"{price * 1_000_000:.2f}".rstrip("0").rstrip(".")

"""Dollars for tokens, and the prices behind them."""

from textual.content import Content

from inspector.app.draw.problem import MUTED
from inspector.core.budget import Prices
from inspector.core.number import money
from widgets import visible

NOTHING = "–"
_MILLION = 1_000_000


def price_facts(prices: Prices | None, model: str) -> list[Content]:
    """Return the model whose prices are used, the prices per million tokens, their source and date."""
    if prices is None:
        return [Content.styled("no prices for this model; set budget.priced_as (ctrl+o)", MUTED)]
    stand_in = "" if prices.model == model else "as "
    name = visible(prices.model, limit=60, newlines=False)
    source = visible(" ".join(filter(None, (prices.source, prices.date))), limit=90, newlines=False)
    each = f"{money(prices.input * _MILLION)} in, {money(prices.output * _MILLION)} out per 1M"
    told = [f"priced {stand_in}{name}: {each}", *([source] if source else [])]
    return [Content.styled(text, MUTED) for text in told]

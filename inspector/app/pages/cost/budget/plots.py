"""Plots of tool tokens per model call (with discovery, with static binding), and amounts of money."""

from collections.abc import Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.plot import Axis, Curve, Scale, plot, round_above, whole_ticks
from inspector.core.budget import Prices
from inspector.core.number import money, tokens
from inspector.core.session import CallCost
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


_DISCOVERY, _STATIC = "$success", "$foreground 60%"
_BELOW, _LEGEND = 3, 1
_LEAST = 3
_LEAST_TOP = 10.0
EMPTY = "No model calls yet. Send a message in Chat; each call is plotted here next to static binding."


def call_plot(costs: Sequence[CallCost], width: int, height: int) -> Content:
    """Return the plot with its legend in `height` lines, or what to do if there is nothing to plot."""
    if not costs:
        return Content.styled(EMPTY, MUTED)
    spent = [float(cost.parts.discovery_tokens) for cost in costs]
    static = [float(cost.static_tools) for cost in costs]
    scale = Scale(round_above(max(*spent, *static, _LEAST_TOP)), lambda value: tokens(round(value)))
    curves = (
        Curve("D", spent, _DISCOVERY),
        Curve("S", static, _STATIC, drawn=3, period=5),
    )
    first, last = costs[0].call, costs[-1].call
    axis = Axis(first, last, {}, ticks=whole_ticks(first, last), text=lambda value: f"{value:.0f}")
    lines = max(height - _BELOW - _LEGEND + 1, _LEAST)
    drawn = plot(curves, axis, width, lines, scale).split("\n")
    # This axis has no marks below it.
    kept = [line for row, line in enumerate(drawn) if row != lines + 1]
    return Content("\n").join([_legend(costs[-1], width), *kept])


def _legend(last: CallCost, width: int) -> Content:
    whole = Content.assemble(
        ("D", f"bold {_DISCOVERY}"),
        f" with discovery {tokens(last.parts.discovery_tokens)}   ",
        ("S", f"bold {_STATIC}"),
        f" static {tokens(last.static_tools)}   ",
        ("tool tokens per model call", MUTED),
    )
    return whole.truncate(width, ellipsis=True)

"""A plot of tool tokens per model call: with discovery, and with static binding."""

from collections.abc import Sequence

from textual.content import Content

from inspector.app.draw.plot import Axis, Curve, Scale, plot, round_above, whole_ticks
from inspector.app.draw.problem import MUTED
from inspector.core.number import tokens
from inspector.core.session import CallCost

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

"""The five ways to deliver tools, side by side: tokens, cache, money, and what broke the cache."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from textual.content import Content

from inspector.app.draw.budget import fact
from inspector.app.draw.line import MUTED
from inspector.app.draw.plot import Axis, Curve, Scale, plot, round_above, whole_ticks
from inspector.app.pages.cost.budget.delivery_comparison import DeliveryComparison
from inspector.app.pages.cost.budget.plots import NOTHING
from inspector.app.verdict_line import verdict_text
from inspector.core.number import count, money, money_decimals, percent, tokens
from inspector.session.verdict import verdict
from inspector.tokens.cost import Delivery, DeliveryCost, RequestCost, SessionCost
from widgets import Column, Record, visible

_BAR = 16
COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("way", "strategy", width=15, weight=9),
    Column("about", "sends", weight=3, hide_below=150),
    Column("definitions", "definitions", align="right", weight=6, hide_below=112),
    Column("tools", "+ searches", align="right", weight=6, hide_below=112),
    Column("raw", "all input", align="right", weight=8),
    Column("plain", "no cache", align="right", weight=8),
    Column("billed", "billed", align="right", weight=7),
    Column("hit", "cached", align="right", weight=7),
    Column("money", "with cache", align="right", weight=9),
    Column("step", "per step", align="right", weight=6, hide_below=112),
    Column("even", "cheaper from", align="right", weight=8),
    Column("bar", "cost with cache", width=_BAR, hide_below=150),
    Column("breaks", "breaks", align="right", weight=5, hide_below=96),
)
ABOUT: Mapping[Delivery, str] = {
    Delivery.STATIC: "every tool in every call",
    Delivery.REWRITE: "found tools in catalog order; a new tool shifts the rest",
    Delivery.APPEND: "found tools at the end of tools[]",
    Delivery.CALL_TOOL: "tools[] never changes; search results carry the definitions",
    Delivery.GATE: "tools chosen for each turn; all summaries in the prompt",
}
WAITING = "Comparing five strategies …"
EMPTY = "No tools to load yet: no server is ready (see Tools)."


def way_rows(comparison: DeliveryComparison) -> tuple[Record, ...]:
    """Return one row per way; ★ is the cheapest with a cache, ● the one in use."""
    session = comparison.priced
    costs = {cost.delivery: cost.cached.worth for cost in session.costs}
    amounts = [priced.dollars for cost in session.costs for priced in (cost.cached, cost.uncached)]
    decimals = money_decimals(amount for amount in amounts if amount is not None)
    best = min(costs, key=lambda delivery: costs[delivery])
    most = max(costs.values())
    look = _Look(best, most, decimals)
    return tuple(_row(cost, comparison, look) for cost in session.costs)


@dataclass(frozen=True, slots=True)
class _Look:
    """What all rows need: the cheapest way, the highest cost, the decimals of money."""

    best: Delivery
    most: float
    decimals: int


def _row(cost: DeliveryCost, comparison: DeliveryComparison, look: _Look) -> Record:
    way, cached = cost.delivery, cost.cached
    marks = {
        comparison.own: Content.styled("●", "$text-success"),
        look.best: Content.styled("★", "$text-accent"),
    }
    color = "$success" if way is look.best else "$primary"
    share = cached.worth / look.most if look.most else 0.0
    cells = (
        marks.get(way, ""),
        f"{way.value}{' (in use)' if way is comparison.own else ''}",
        Content.styled(ABOUT[way], MUTED),
        tokens(cached.definitions),
        tokens(cached.discovery_tokens),
        tokens(cached.raw),
        _dollars(cost.uncached.dollars, look.decimals),
        tokens(round(cached.billed)),
        percent(cached.hit_rate),
        _dollars(cached.dollars, look.decimals),
        _step(comparison.priced.per_step(cached)),
        _even(way, comparison),
        Content.styled("━" * max(1, round(_BAR * share)), color),
        str(len(cached.breaks)),
    )
    return Record(way.value, cells, search=f"{way.value} {ABOUT[way]}", copy=f"{way.value}: {ABOUT[way]}")


def _dollars(value: float | None, decimals: int) -> str:
    return NOTHING if value is None else money(value, decimals)


def _even(way: Delivery, comparison: DeliveryComparison) -> str:
    if way is Delivery.STATIC:
        return NOTHING
    found = (comparison.priced.break_evens or {}).get(way)
    if found is None:
        return NOTHING
    usual, low, high = (
        "never" if tools is None else f"{tools:,}" for tools in (found.usual, found.low, found.high)
    )
    return usual if low == high else f"{usual} ({low}–{high})"


def _step(dollars: float | None) -> str:
    return NOTHING if dollars is None else money(dollars)


def way_facts(comparison: DeliveryComparison) -> list[Content]:
    """Return what is compared, over which calls and with which cache."""
    basis = "this session's calls" if comparison.is_recorded else comparison.priced.plan.basis
    found = verdict(comparison.priced)
    return [
        *([] if found is None else [verdict_text(found.answer, found.text)]),
        fact("over", visible(basis, limit=120, newlines=False)),
        *([] if comparison.is_recorded else [fact("with", comparison.priced.assumed.text)]),
        fact("prompt cache", comparison.cache),
        Content.styled(
            "cheaper from: how many tools a strategy needs to beat static, both cached (range)", MUTED
        ),
        Content.styled("c other cache   b session/assumed", MUTED),
    ]


def way_detail(comparison: DeliveryComparison, way: Delivery, lines: int) -> Content:
    """Return what a way is and every call that broke its cache, in at most that many lines."""
    cost = comparison.priced.of(way)
    detail = [Content.assemble((way.value, "bold"), f": {ABOUT[way]}")]
    breaks = cost.cached.breaks
    if not breaks:
        detail.append(Content.styled("✓ The cache was never lost.", "$text-success"))
    room = max(lines - 1, 1)
    shown = breaks if len(breaks) <= room else breaks[: room - 1]
    detail += [_break(request) for request in shown]
    if len(shown) < len(breaks):
        detail.append(Content.styled(f"… and {count(len(breaks) - len(shown), 'more call')}", MUTED))
    return Content("\n").join(detail)


def _break(request: RequestCost) -> Content:
    again = f", {tokens(request.again)} tokens resent" if request.again else ""
    return Content.assemble(
        ("✂ ", "$text-warning"),
        f"call {request.call}: {visible(request.broke, limit=300, newlines=False)}",
        (again, MUTED),
    )


# Style, and the dots drawn out of each period.
_LOOKS: Mapping[Delivery, tuple[str, int, int]] = {
    Delivery.STATIC: ("$foreground 60%", 3, 5),
    Delivery.REWRITE: ("$secondary", 1, 3),
    Delivery.APPEND: ("$primary", 1, 1),
    Delivery.CALL_TOOL: ("$success", 5, 6),
    Delivery.GATE: ("$warning", 1, 2),
}
_AROUND = 3


def way_plot(comparison: DeliveryComparison, width: int, height: int) -> Content:
    """Return the cumulative cost of each way with a cache, by call, in `height` lines."""
    priced = comparison.priced.costs[0].cached.dollars is not None
    calls = len(comparison.priced.plan.calls)
    sums = {cost.delivery: _sums(cost.cached, calls, priced) for cost in comparison.priced.costs}
    top = round_above(max(max(values) for values in sums.values()))
    curves = [
        Curve(way.value[0].upper(), values, _LOOKS[way][0], _LOOKS[way][1], _LOOKS[way][2])
        for way, values in sums.items()
    ]
    axis = Axis(1, calls, {}, ticks=whole_ticks(1, calls), text=lambda value: f"{value:.0f}")
    decimals = money_decimals([top / 2])
    scale = Scale(top, lambda value: money(value, decimals) if priced else tokens(round(value)))
    lines = plot(curves, axis, width, max(height - _AROUND, 3), scale).split("\n")
    return Content("\n").join([_plot_legend(priced, width), *lines[:-2], lines[-1]])


def _sums(cost: SessionCost, calls: int, priced: bool) -> Sequence[float]:
    """Return the cumulative cost after each call of the plan."""
    spent = [0.0] * calls
    for request in cost.requests:
        spent[request.call - 1] += (request.dollars or 0.0) if priced else request.billed
    return list(accumulate(spent))


def _plot_legend(priced: bool, width: int) -> Content:
    names = [
        Content.assemble((way.value[0].upper(), f"bold {_LOOKS[way][0]}"), f" {way.value}")
        for way in Delivery
    ]
    what = f"{'dollars' if priced else 'billed tokens'} so far per model call, with cache"
    return Content("  ").join([*names, Content.styled(what, MUTED)]).truncate(width, ellipsis=True)

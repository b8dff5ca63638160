"""The five ways to deliver tools, side by side: tokens, cache, dollars, and what broke the cache."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from textual.content import Content

from inspector.app.draw.budget import fact
from inspector.app.draw.plot import Axis, Curve, Scale, plot, round_above, whole_ticks
from inspector.app.draw.style import MUTED
from inspector.app.pages.cost.budget.delivery_comparison import DeliveryComparison
from inspector.app.pages.cost.budget.money import NOTHING
from inspector.domain.number import count, money, money_decimals, percent, tokens
from inspector.engine.tokens.cost.delivery_cost import Delivery, DeliveryCost, RequestCost, SessionCost
from widgets import Column, Record, visible

_BAR = 16
COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("way", "way", width=15, weight=9),
    Column("about", "what is sent", weight=3, hide_below=150),
    Column("raw", "raw", align="right", weight=8),
    Column("plain", "no cache", align="right", weight=8),
    Column("billed", "billed", align="right", weight=7),
    Column("hit", "cached", align="right", weight=7),
    Column("dollars", "with cache", align="right", weight=9),
    Column("even", "pays from", align="right", weight=8),
    Column("bar", "cost with cache", width=_BAR, hide_below=96),
    Column("breaks", "breaks", align="right", weight=5, hide_below=96),
)
ABOUT: Mapping[Delivery, str] = {
    Delivery.STATIC: "every tool in every call",
    Delivery.REWRITE: "found tools in catalog order: a new one moves the others",
    Delivery.APPEND: "found tools at the end of tools[]",
    Delivery.CALL_TOOL: "tools[] never changes, definitions come in search results",
    Delivery.GATE: "tools chosen anew for every message, summaries always there",
}
WAITING = "Comparing five ways …"
EMPTY = "No tools to deliver yet: no server is ready (f2 says why)."


def way_rows(found: DeliveryComparison) -> tuple[Record, ...]:
    """One row a way; ★ is the cheapest with a cache, ● the one in use."""
    costs = {cost.delivery: _worth(cost) for cost in found.costs}
    amounts = [one.dollars for cost in found.costs for one in (cost.cached, cost.uncached)]
    decimals = money_decimals(amount for amount in amounts if amount is not None)
    best = min(costs, key=lambda delivery: costs[delivery])
    most = max(costs.values())
    look = _Look(best, most, decimals)
    return tuple(_row(cost, found, look) for cost in found.costs)


@dataclass(frozen=True, slots=True)
class _Look:
    """What the rows have in common: the cheapest way, the highest cost, the decimals of dollars."""

    best: Delivery
    most: float
    decimals: int


def _worth(cost: DeliveryCost) -> float:
    """Dollars, or billed tokens where there are no prices."""
    return cost.cached.billed if cost.cached.dollars is None else cost.cached.dollars


def _row(cost: DeliveryCost, found: DeliveryComparison, look: _Look) -> Record:
    way, cached = cost.delivery, cost.cached
    marks = {found.own: Content.styled("●", "$text-success"), look.best: Content.styled("★", "$text-accent")}
    color = "$success" if way is look.best else "$primary"
    share = _worth(cost) / look.most if look.most else 0.0
    cells = (
        marks.get(way, ""),
        f"{way.value}{' (in use)' if way is found.own else ''}",
        Content.styled(ABOUT[way], MUTED),
        tokens(cost.uncached.raw),
        _dollars(cost.uncached.dollars, look.decimals),
        tokens(round(cached.billed)),
        percent(cached.hit_rate),
        _dollars(cached.dollars, look.decimals),
        _even(way, found),
        Content.styled("━" * max(1, round(_BAR * share)), color),
        str(len(cached.breaks)),
    )
    return Record(way.value, cells, search=f"{way.value} {ABOUT[way]}", copy=f"{way.value}: {ABOUT[way]}")


def _dollars(value: float | None, decimals: int) -> str:
    return NOTHING if value is None else money(value, decimals)


def _even(way: Delivery, found: DeliveryComparison) -> str:
    if way is Delivery.STATIC:
        return NOTHING
    tools = found.even.get(way)
    return "never" if tools is None else count(tools, "tool")


def way_facts(found: DeliveryComparison) -> list[Content]:
    """What is compared, on what, and under which cache."""
    basis = "this session's calls" if found.is_recorded else found.plan.basis
    return [
        fact("of", visible(basis, limit=120, newlines=False)),
        fact("prompt cache", found.cache),
        Content.styled("pays from: so many tools make it cheaper than static, both cached", MUTED),
        Content.styled("c other cache   s session or assumed", MUTED),
    ]


def way_detail(found: DeliveryComparison, way: Delivery, lines: int) -> Content:
    """What a way is, and every call that broke its cache, in so many lines."""
    cost = next(cost for cost in found.costs if cost.delivery is way)
    told = [Content.assemble((way.value, "bold"), f": {ABOUT[way]}")]
    breaks = cost.cached.breaks
    if not breaks:
        told.append(Content.styled("✓ Nothing broke the cache.", "$text-success"))
    room = max(lines - 1, 1)
    shown = breaks if len(breaks) <= room else breaks[: room - 1]
    told += [_break(request) for request in shown]
    if len(shown) < len(breaks):
        told.append(Content.styled(f"… and {count(len(breaks) - len(shown), 'call')} more", MUTED))
    return Content("\n").join(told)


def _break(request: RequestCost) -> Content:
    again = f", {tokens(request.again)} tokens again" if request.again else ""
    return Content.assemble(
        ("✂ ", "$text-warning"),
        f"call {request.call}: {visible(request.broke, limit=300, newlines=False)}",
        (again, MUTED),
    )


# Style, and how many dots of every so many are drawn.
_LOOKS: Mapping[Delivery, tuple[str, int, int]] = {
    Delivery.STATIC: ("$foreground 60%", 3, 5),
    Delivery.REWRITE: ("$secondary", 1, 3),
    Delivery.APPEND: ("$primary", 1, 1),
    Delivery.CALL_TOOL: ("$success", 5, 6),
    Delivery.GATE: ("$warning", 1, 2),
}
_AROUND = 3


def way_plot(found: DeliveryComparison, width: int, height: int) -> Content:
    """What each way has cost with a cache by every call, `height` lines in all."""
    priced = found.costs[0].cached.dollars is not None
    sums = {cost.delivery: _sums(cost.cached, len(found.plan.calls), priced) for cost in found.costs}
    top = round_above(max(max(values) for values in sums.values()))
    curves = [
        Curve(way.value[0].upper(), values, _LOOKS[way][0], _LOOKS[way][1], _LOOKS[way][2])
        for way, values in sums.items()
    ]
    last = len(found.plan.calls)
    axis = Axis(1, last, {}, ticks=whole_ticks(1, last), text=lambda value: f"{value:.0f}")
    decimals = money_decimals([top / 2])
    scale = Scale(top, lambda value: money(value, decimals) if priced else tokens(round(value)))
    lines = plot(curves, axis, width, max(height - _AROUND, 3), scale).split("\n")
    return Content("\n").join([_plot_legend(priced, width), *lines[:-2], lines[-1]])


def _sums(cost: SessionCost, calls: int, priced: bool) -> Sequence[float]:
    """What the calls of the plan have come to, one after the other."""
    spent = [0.0] * calls
    for request in cost.requests:
        spent[request.call - 1] += (request.dollars or 0.0) if priced else request.billed
    return list(accumulate(spent))


def _plot_legend(priced: bool, width: int) -> Content:
    names = [
        Content.assemble((way.value[0].upper(), f"bold {_LOOKS[way][0]}"), f" {way.value}")
        for way in Delivery
    ]
    what = f"{'dollars' if priced else 'billed tokens'} so far by model call, with cache"
    return Content("  ").join([*names, Content.styled(what, MUTED)]).truncate(width, ellipsis=True)

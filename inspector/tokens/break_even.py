"""Finds the number of tools from which a delivery costs less than static binding with a prompt cache."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from math import ceil
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.budget import Prices
from inspector.core.prompt_cache import CacheTerms
from inspector.tokens.cost import Delivery, session_cost
from inspector.tokens.plan import Assumptions, Plan, PlannedTool

MOST = 5000
_EXPIRY = CacheTerms().ttl_seconds
_LONG = 120


class BreakEven(Struct, frozen=True):
    """From how many tools on a delivery costs less than cached static binding; None for never, up to `MOST`.

    `usual` holds under the assumptions as they are, `low` and `high` over the range of all of them.
    """

    usual: int | None
    low: int | None
    high: int | None


RANGED: Mapping[str, Callable[[float], tuple[float, float]]] = {
    "calls": lambda value: (max(1, value // 2), max(value, min(value * 2, _LONG))),
    "growth": lambda value: (value // 2, value * 2),
    "searches_per_call": lambda value: (value / 2, value * 2),
    "pause": lambda _: (0.0, 2 * _EXPIRY),
}
"""The assumptions that a break-even ranges over: half to twice the value, and pauses that outlive a cache.

Calls are doubled up to `_LONG`: pricing takes time by their square."""


def ranges(plan: Plan, assumed: Assumptions) -> dict[str, tuple[float, float]]:
    """The range of each assumption that the plan depends on and that is varied."""
    return {name: spread(getattr(assumed, name)) for name, spread in RANGED.items() if name in plan.assumed}


def break_even_range(
    plans: Callable[[Assumptions], Plan],
    assumed: Assumptions,
    terms: CacheTerms,
    prices: Prices | None = None,
    deliveries: Sequence[Delivery] = tuple(Delivery),
) -> dict[Delivery, BreakEven]:
    """The break-even points of deliveries over every combination of the ends of the assumptions' ranges."""
    plan = plans(assumed)
    spread = ranges(plan, assumed)
    usual = break_evens(plan, terms, prices, deliveries=deliveries)
    ends: list[dict[str, Any]] = []
    if spread:
        ends = [dict(zip(spread, values, strict=True)) for values in product(*spread.values())]
    others = (plans(replace(assumed, **values)) for values in ends)
    varied = [break_evens(other, terms, prices, deliveries=deliveries) for other in others]
    found = {}
    for delivery, here in usual.items():
        points = sorted((one[delivery] for one in (usual, *varied)), key=lambda at: (at is None, at or 0))
        found[delivery] = BreakEven(here, points[0], points[-1])
    return found


def break_evens(
    plan: Plan,
    terms: CacheTerms,
    prices: Prices | None = None,
    most: int = MOST,
    deliveries: Sequence[Delivery] = tuple(Delivery),
) -> dict[Delivery, int | None]:
    """The number of tools from which each delivery costs less than cached static binding.

    The same plan is priced over catalogs of other sizes, see `scaled`: in dollars with `prices`, else in
    billed input tokens. Once there are as many tools as the conversation needs, the manifest is at its limit
    and every request reaches the cache's minimum, both costs are linear in the number of tools, so their
    difference changes its sign at most once, where a straight line through two sizes says. In smaller
    catalogs it may do so more often: there the powers of two are tried, from the largest down, and the answer
    is found by binary search below the last of them at which the delivery is cheaper. None if the delivery is
    not cheaper with `most` tools.
    """
    others = (delivery for delivery in deliveries if delivery is not Delivery.STATIC)
    gains = _Gains(plan, terms, prices)
    return {each: _crossing(partial(gains.of, each), gains.linear_from(each), most) for each in others}


class _Gains:
    """What deliveries cost less than cached static binding over catalogs of other sizes; each priced once."""

    def __init__(self, plan: Plan, terms: CacheTerms, prices: Prices | None) -> None:
        self._plan = plan
        self._terms = terms
        self._prices = prices if prices is not None and prices.input else None
        self._scaled = cache(partial(scaled, plan))
        overhead = plan.overhead
        size = (overhead.manifest_in_full or overhead.manifest) / max(len(plan.tools), 1)
        self._full_manifest_from = ceil(overhead.manifest_limit / size) if size else 0
        self._worth = cache(self._priced)

    def linear_from(self, delivery: Delivery) -> int:
        """From how many tools on costs are linear: the needed ones are there and the manifest is full."""
        is_gate = delivery is Delivery.GATE
        needed = {tool.id for tool in self._plan.tools if tool.pinned}
        needed.update(
            id_ for call in self._plan.calls for id_ in (call.gated if is_gate else call.discovered)
        )
        return max(len(needed), self._full_manifest_from, 1)

    def of(self, delivery: Delivery, tools: int) -> float:
        """How much less the delivery costs over that many tools; negative if it costs more."""
        return self._worth(Delivery.STATIC, tools) - self._worth(delivery, tools)

    def _priced(self, delivery: Delivery, tools: int) -> float:
        return session_cost(self._scaled(tools), delivery, self._terms, self._prices).worth


def _crossing(gain: Callable[[int], float], linear_from: int, most: int) -> int | None:
    if gain(most) <= 0:
        return None
    high = most
    if linear_from < most:
        guess = _on_a_line(gain, linear_from, most)
        if guess is not None:
            return guess
        high = linear_from if gain(linear_from) > 0 else most
    sizes = [size for exponent in range(high.bit_length()) if (size := 1 << exponent) < high]
    for low in reversed(sizes):
        if gain(low) <= 0:
            break
        high = low
    else:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if gain(middle) > 0:
            high = middle
        else:
            low = middle
    return high


def _on_a_line(gain: Callable[[int], float], low: int, high: int) -> int | None:
    """The first size above `low` with a gain, where the gain is a straight line from there; else None."""
    first, last = gain(low), gain(high)
    if first > 0:
        return None
    guess = low + ceil((high - low) * first / (first - last))
    near = [size for size in (guess - 1, guess, guess + 1) if low < size <= high]
    return next((size for size in near if gain(size) > 0 >= gain(size - 1)), None)


def scaled(plan: Plan, tools: int) -> Plan:
    """The same conversation over `tools` tools of the plan's mean size.

    The numbers of pinned, found and gated tools stay the same as far as possible. Manifest and summaries grow
    with the catalog, the manifest up to its limit. Tools that are never bound form a single entry.
    """
    known = len(plan.tools)
    if not known or tools < 1:
        return replace(plan, tools=())
    positions = {tool.id: position for position, tool in enumerate(plan.tools)}
    pinned = [position for position, tool in enumerate(plan.tools) if tool.pinned]
    discovered = [positions[id_] for call in plan.calls for id_ in call.discovered if id_ in positions]
    kept = list(dict.fromkeys([*pinned, *discovered]))[:tools]
    moved = _spread(kept, known, tools)
    fixed = {moved[position] for position in pinned if position in moved}
    gates: dict[tuple[str, ...], list[int]] = {}
    for gate in {call.gated for call in plan.calls}:
        bound = [positions[id_] for id_ in gate if id_ in positions][:tools]
        gates[gate] = list(_spread(bound, known, tools).values())
    needed = sorted({*moved.values(), *(position for gate in gates.values() for position in gate)})
    size = plan.tool_tokens / known
    named = [PlannedTool(str(position), round(size), position in fixed) for position in needed]
    rest = max(0, round(size * tools) - sum(tool.tokens for tool in named))
    calls = []
    for call in plan.calls:
        found = [moved[positions[id_]] for id_ in call.discovered if positions.get(id_) in moved]
        gated = tuple(map(str, gates[call.gated]))
        calls.append(replace(call, discovered=tuple(map(str, found)), gated=gated))
    full = plan.overhead.manifest_in_full or plan.overhead.manifest
    manifest = round(full * (tools / known))
    if plan.overhead.manifest_limit:
        manifest = min(manifest, plan.overhead.manifest_limit)
    return replace(
        plan,
        tools=(*named, PlannedTool("rest", rest)) if rest else tuple(named),
        overhead=replace(plan.overhead, manifest=manifest, pool=round(plan.overhead.pool * (tools / known))),
        calls=tuple(calls),
    )


def _spread(positions: Sequence[int], known: int, tools: int) -> dict[int, int]:
    """Map positions among `known` tools to distinct positions among `tools`, in the same order."""
    moved: dict[int, int] = {}
    last = -1
    for index, position in enumerate(sorted(positions)):
        room = tools - (len(positions) - index)
        last = min(max(last + 1, position * tools // known), room)
        moved[position] = last
    return moved

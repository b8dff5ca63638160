"""Finds the number of tools from which a delivery costs less than static binding with a prompt cache."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache

from inspector.domain.price import Prices
from inspector.domain.prompt_cache import CacheTerms
from inspector.engine.tokens.cost.delivery_cost import Delivery, session_cost
from inspector.engine.tokens.cost.plan import Overhead, Plan, PlannedCall, PlannedTool

MOST = 5000


def break_evens(
    plan: Plan, terms: CacheTerms, prices: Prices | None = None, most: int = MOST
) -> dict[Delivery, int | None]:
    """The number of tools from which each delivery costs less than cached static binding.

    The same plan is priced over catalogs of other sizes, see `scaled`: in dollars with `prices`, else in
    billed input tokens. Once there are as many tools as the conversation needs and every request reaches the
    cache's minimum, both costs are linear in the number of tools, so their difference changes its sign at
    most once; in smaller catalogs it may do so more often. The powers of two up to `most`, and `most` itself,
    are tried. The answer lies between the last of them at which the delivery is not cheaper and the next one,
    and is found by binary search. None if the delivery is not cheaper with `most` tools.
    """
    static = _costs(plan, Delivery.STATIC, terms, prices)
    others = (delivery for delivery in Delivery if delivery is not Delivery.STATIC)
    return {each: _crossing(_costs(plan, each, terms, prices), static, most) for each in others}


Costs = Callable[[int], float]


def _costs(plan: Plan, delivery: Delivery, terms: CacheTerms, prices: Prices | None) -> Costs:
    @cache
    def cost(tools: int) -> float:
        total = session_cost(scaled(plan, tools), delivery, terms, prices)
        return total.billed if total.dollars is None or prices is None or not prices.input else total.dollars

    return cost


def _crossing(cost: Costs, static: Costs, most: int) -> int | None:
    def is_cheaper(tools: int) -> bool:
        return cost(tools) < static(tools)

    sizes = [size for exponent in range(most.bit_length()) if (size := 1 << exponent) < most] + [most]
    if not is_cheaper(most):
        return None
    high = most
    for low in reversed(sizes[:-1]):
        if not is_cheaper(low):
            break
        high = low
    else:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if is_cheaper(middle):
            high = middle
        else:
            low = middle
    return high


def scaled(plan: Plan, tools: int) -> Plan:
    """The same conversation over `tools` tools of the plan's mean size.

    The numbers of pinned, found and gated tools stay the same as far as possible. Manifest and summaries grow
    with the catalog. Tools that are never bound form a single entry.
    """
    known = len(plan.tools)
    if not known or tools < 1:
        return replace(plan, tools=())
    positions = {tool.id: position for position, tool in enumerate(plan.tools)}
    pinned = [position for position, tool in enumerate(plan.tools) if tool.pinned]
    found = [positions[id_] for call in plan.calls for id_ in call.discovered if id_ in positions]
    kept = list(dict.fromkeys([*pinned, *found]))[:tools]
    moved = _spread(kept, known, tools)
    fixed = {moved[position] for position in pinned if position in moved}
    gates = {call.gated: _gated(call.gated, positions, known, tools) for call in plan.calls}
    needed = sorted({*moved.values(), *(position for gate in gates.values() for position in gate)})
    size = plan.tool_tokens / known
    named = [PlannedTool(str(position), round(size), position in fixed) for position in needed]
    rest = max(0, round(size * tools) - sum(tool.tokens for tool in named))
    calls = (_moved(call, positions, moved, gates[call.gated]) for call in plan.calls)
    return replace(
        plan,
        tools=(*named, PlannedTool("rest", rest)) if rest else tuple(named),
        overhead=_grown(plan.overhead, tools / known),
        calls=tuple(calls),
    )


def _gated(gated: Iterable[str], positions: dict[str, int], known: int, tools: int) -> tuple[int, ...]:
    kept = [positions[id_] for id_ in gated if id_ in positions][:tools]
    return tuple(_spread(kept, known, tools).values())


def _spread(positions: Sequence[int], known: int, tools: int) -> dict[int, int]:
    """Map positions among `known` tools to distinct positions among `tools`, in the same order."""
    moved: dict[int, int] = {}
    last = -1
    for index, position in enumerate(sorted(positions)):
        room = tools - (len(positions) - index)
        last = min(max(last + 1, position * tools // known), room)
        moved[position] = last
    return moved


def _moved(
    call: PlannedCall, positions: dict[str, int], moved: dict[int, int], gate: Sequence[int]
) -> PlannedCall:
    found = (moved[positions[id_]] for id_ in call.discovered if positions.get(id_) in moved)
    return replace(call, discovered=tuple(map(str, found)), gated=tuple(map(str, gate)))


def _grown(overhead: Overhead, factor: float) -> Overhead:
    return replace(overhead, manifest=round(overhead.manifest * factor), pool=round(overhead.pool * factor))

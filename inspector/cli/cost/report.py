"""A session's costs by delivery, as text and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from inspector.cli.render import say, say_table
from inspector.domain.number import count, money, money_decimals, percent, tokens
from inspector.domain.price import Prices
from inspector.domain.prompt_cache import CacheTerms
from inspector.engine.tokens.cost.break_even import MOST
from inspector.engine.tokens.cost.cache_preset import PRESETS, CachePreset
from inspector.engine.tokens.cost.delivery_cost import (
    Delivery,
    DeliveryCost,
    RequestCost,
    SessionCost,
    session_cost,
)
from inspector.engine.tokens.cost.plan import Assumptions, Plan

_ABOUT: Mapping[Delivery, str] = {
    Delivery.STATIC: "every tool, always",
    Delivery.REWRITE: "loaded tools, in catalog order",
    Delivery.APPEND: "loaded tools, at the end of tools[]",
    Delivery.CALL_TOOL: "tools[] never changes; definitions are in search results",
    Delivery.GATE: "tools[] is chosen for every message; summaries of all tools are in the prompt",
}
_BREAKS = 4
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Priced:
    """A plan, the terms it was priced on, and its costs. `model` is the one that was asked for."""

    plan: Plan
    assumed: Assumptions
    model: str
    prices: Prices | None
    terms: CacheTerms
    tokenizer: str
    costs: Sequence[DeliveryCost]
    break_evens: Mapping[Delivery, int | None]


def say_cost(priced: Priced) -> None:
    """Print the comparison, what broke the caches, other providers' caches, and the assumptions."""
    plan = priced.plan
    say(plan.basis)
    tools = count(len(plan.tools), "tool")
    say(f"definitions of {tools}: {tokens(plan.tool_tokens)} tokens ({priced.tokenizer})")
    say(_whose(priced))
    say(f"prompt cache: {_terms(priced.terms)}")
    say()
    amounts = [one.dollars for cost in priced.costs for one in (cost.cached, cost.uncached)]
    decimals = money_decimals(amount for amount in amounts if amount is not None)
    rows = [_row(priced, cost, decimals) for cost in priced.costs]
    say_table(_HEADERS, rows, right=frozenset(range(1, 8)))
    for delivery, about in _ABOUT.items():
        say(f"  {delivery}: {about}")
    say("billed: as many input tokens at full price would cost the same; dollars include the answers")
    say(f"pays from: how many tools of this size make it cheaper than cached static, up to {MOST}")
    _say_breaks(priced.costs)
    _say_presets(plan)
    _say_assumptions(priced)


_HEADERS = (
    "delivery",
    "sent",
    "billed",
    "hits",
    "breaks",
    "cached",
    "uncached",
    "pays from",
)


def _row(priced: Priced, cost: DeliveryCost, decimals: int) -> tuple[str, ...]:
    return (
        cost.delivery,
        tokens(cost.uncached.raw),
        tokens(round(cost.cached.billed)),
        percent(cost.cached.hit_rate),
        str(len(cost.cached.breaks)),
        _dollars(cost.cached.dollars, decimals),
        _dollars(cost.uncached.dollars, decimals),
        _pays_from(priced, cost.delivery),
    )


def _dollars(amount: float | None, decimals: int) -> str:
    return "-" if amount is None else money(amount, decimals)


def _pays_from(priced: Priced, delivery: Delivery) -> str:
    if delivery not in priced.break_evens:
        return ""
    tools = priced.break_evens[delivery]
    return "never" if tools is None else str(tools)


def _whose(priced: Priced) -> str:
    prices = priced.prices
    if prices is None:
        return f"no prices for {priced.model}: set budget.priced_as to a model that has prices"
    whose = f"prices of {prices.model}"
    if prices.model != priced.model:
        whose += f" ({priced.model} has none)"
    sent, answered = money(prices.input * _MILLION), money(prices.output * _MILLION)
    return (
        f"{whose}: {sent} in and {answered} out per million tokens, "
        f"{prices.source}, {prices.date or 'undated'}"
    )


def _terms(terms: CacheTerms) -> str:
    if terms.read == terms.write == 1.0 and not terms.ttl_seconds:
        return "none"
    return (
        f"writing costs {terms.write:g}x and reading {terms.read:g}x an input token; a prefix lasts "
        f"{terms.ttl_seconds:g} s and needs at least {count(terms.minimum, 'token')}"
    )


def _say_breaks(costs: Sequence[DeliveryCost]) -> None:
    rows = [row for cost in costs for row in _breaks(cost.cached)]
    say()
    if not rows:
        say("Nothing breaks the cache.")
        return
    say_table(("delivery", "call", "what broke the cache", "sent again"), rows, right=frozenset({1, 3}))


def _breaks(cost: SessionCost) -> Iterator[tuple[str, ...]]:
    breaks = cost.breaks
    for request in breaks[:_BREAKS]:
        yield (cost.delivery, str(request.call), request.broke, tokens(request.again))
    rest = breaks[_BREAKS:]
    if rest:
        again = sum(request.again for request in rest)
        yield (cost.delivery, "", f"{len(rest)} more", tokens(again))


def _say_presets(plan: Plan) -> None:
    rows = []
    for preset in PRESETS:
        costs = [session_cost(plan, delivery, preset.terms) for delivery in Delivery]
        rows.append((preset.name, *(tokens(round(cost.billed)) for cost in costs)))
    say()
    say_table(("billed on the terms of", *Delivery), rows, right=frozenset(range(1, 6)))


def _say_assumptions(priced: Priced) -> None:
    rows = [
        (field.name, f"{getattr(priced.assumed, field.name)}", str(field.metadata["about"]))
        for field in fields(priced.assumed)
        if field.name in priced.plan.assumed
    ]
    say()
    say_table(("assumption", "value", "meaning"), rows, right=frozenset({1}))


def json_of(priced: Priced) -> dict[str, Any]:
    """Everything as JSON, including every request."""
    plan = priced.plan
    return {
        "basis": plan.basis,
        "tools": len(plan.tools),
        "tool_tokens": plan.tool_tokens,
        "overhead": asdict(plan.overhead),
        "tokenizer": priced.tokenizer,
        "model": priced.model,
        "prices": None if priced.prices is None else asdict(priced.prices),
        "terms": asdict(priced.terms),
        "assumed": {name: getattr(priced.assumed, name) for name in plan.assumed},
        "deliveries": [_delivery_json(priced, cost) for cost in priced.costs],
        "presets": [_preset_json(plan, preset) for preset in PRESETS],
    }


def _delivery_json(priced: Priced, cost: DeliveryCost) -> dict[str, Any]:
    return {
        "delivery": cost.delivery,
        "cached": _session_json(cost.cached),
        "uncached": {"billed": cost.uncached.billed, "dollars": cost.uncached.dollars},
        "pays_from_tools": priced.break_evens.get(cost.delivery),
    }


def _session_json(cost: SessionCost) -> dict[str, Any]:
    return {
        "raw": cost.raw,
        "read": cost.read,
        "written": cost.written,
        "plain": cost.plain,
        "billed": cost.billed,
        "output": cost.output,
        "dollars": cost.dollars,
        "hit_rate": cost.hit_rate,
        "breaks": len(cost.breaks),
        "requests": [_request_json(request) for request in cost.requests],
    }


def _request_json(request: RequestCost) -> dict[str, Any]:
    charge = request.charge
    return {
        "call": request.call,
        "raw": charge.tokens,
        "read": charge.read,
        "written": charge.written,
        "plain": charge.plain,
        "billed": request.billed,
        "output": request.output,
        "dollars": request.dollars,
        "broke": request.broke,
        "sent_again": request.again,
    }


def _preset_json(plan: Plan, preset: CachePreset) -> dict[str, Any]:
    billed = {each.value: session_cost(plan, each, preset.terms).billed for each in Delivery}
    return {**asdict(preset), "billed": billed}

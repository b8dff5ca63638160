"""A session's costs by delivery, as text and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from inspector.cli.cost.assumption import HEADERS, assumption_rows
from inspector.cli.table import say, say_table
from inspector.core.number import count, money, money_decimals, percent, signed_percent, tokens
from inspector.core.prompt_cache import CacheTerms
from inspector.session.verdict import PricedSession, verdict
from inspector.tokens.break_even import MOST, BreakEven
from inspector.tokens.cost import (
    PRESETS,
    CachePreset,
    Delivery,
    DeliveryCost,
    RequestCost,
    SessionCost,
    session_cost,
)
from inspector.tokens.plan import Plan

NOTHING = "–"
ABOUT: Mapping[Delivery, str] = {
    Delivery.STATIC: "every tool, always",
    Delivery.REWRITE: "loaded tools, in catalog order",
    Delivery.APPEND: "loaded tools, at the end of tools[]",
    Delivery.CALL_TOOL: "tools[] never changes; definitions are in search results",
    Delivery.GATE: "tools[] is chosen for each turn; the prompt has summaries of all tools",
}
_BREAKS = 4
_MILLION = 1_000_000
_MEASURES = (
    "definitions",
    "+ searches",
    "all input",
    "billed",
    "cache hits",
    "price, no cache",
    "price with cache",
    "per solved step",
    "vs static",
)


@dataclass(frozen=True, slots=True)
class Priced:
    """A priced session. `model` is the one that was asked for; `tokenizer` counted its tokens."""

    session: PricedSession
    model: str
    tokenizer: str


def say_cost(priced: Priced) -> None:
    """Print the comparison, what broke the caches, break-evens, other providers' caches, the assumptions."""
    session = priced.session
    plan = session.plan
    say(plan.basis)
    tools = count(len(plan.tools), "tool")
    say(f"definitions of {tools}: {tokens(plan.tool_tokens)} tokens ({priced.tokenizer})")
    say(_whose(priced))
    say(f"prompt cache: {terms_text(session.terms)}")
    found = verdict(session)
    if found is not None:
        say()
        say(found.text)
    say()
    headers, rows = cost_table(session)
    say_table(headers, rows, right=frozenset(range(1, len(headers))))
    for delivery, about in ABOUT.items():
        say(f"  {delivery}: {about}")
    for line in UNITS:
        say(line)
    _say_break_evens(session)
    _say_breaks(session.costs)
    _say_presets(plan)
    say()
    say_table(HEADERS, assumption_rows(plan, session.assumed), right=frozenset({1}))


UNITS = (
    "tokens are summed over all model calls; definitions include the manifest and summaries; + searches adds "
    "searches and their results",
    "billed: the number of full-price input tokens that would cost the same; prices include answers; vs "
    "static compares prices with cache",
    "per solved step: price with cache per tool call that succeeds and does not repeat another",
)


def cost_table(
    session: PricedSession, deliveries: Sequence[Delivery] = tuple(Delivery)
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headers and rows: a column for each of the deliveries, a row for each measure."""
    costs = [session.of(delivery) for delivery in deliveries]
    amounts = [one.dollars for cost in costs for one in (cost.cached, cost.uncached)]
    decimals = money_decimals(amount for amount in amounts if amount is not None)
    steps = [session.per_step(cost.cached) for cost in costs]
    step_decimals = money_decimals(step for step in steps if step is not None)
    columns = [
        (
            tokens(cost.cached.definitions),
            tokens(cost.cached.discovery_tokens),
            tokens(cost.cached.raw),
            tokens(round(cost.cached.billed)),
            percent(cost.cached.hit_rate),
            _dollars(cost.uncached.dollars, decimals),
            _dollars(cost.cached.dollars, decimals),
            _dollars(step, step_decimals),
            _against_static(session, cost.delivery),
        )
        for cost, step in zip(costs, steps, strict=True)
    ]
    return ("", *deliveries), list(zip(_MEASURES, *columns, strict=True))


def _against_static(session: PricedSession, delivery: Delivery) -> str:
    saved = session.saved_by(delivery)
    return "" if delivery is Delivery.STATIC else NOTHING if saved is None else signed_percent(-saved)


def _dollars(amount: float | None, decimals: int) -> str:
    return NOTHING if amount is None else money(amount, decimals)


def _say_break_evens(session: PricedSession) -> None:
    """From how many tools of this size each delivery is cheaper than cached static."""
    if not session.break_evens:
        return
    rows = [(delivery, *break_even_cells(found)) for delivery, found in session.break_evens.items()]
    say()
    say_table(("cheaper from", "as assumed", "at least", "at most"), rows, right=frozenset({1, 2, 3}))
    say(
        f"cheaper from: how many tools of this size it takes to be cheaper than cached static, up to "
        f"{MOST:,}; the range varies all assumptions below at once"
    )


def break_even_cells(found: BreakEven) -> tuple[str, str, str]:
    """The usual point and both ends of the range."""
    usual, low, high = (
        "never" if tools is None else f"{tools:,}" for tools in (found.usual, found.low, found.high)
    )
    return usual, low, high


def _whose(priced: Priced) -> str:
    prices = priced.session.prices
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


def terms_text(terms: CacheTerms) -> str:
    """What a prompt cache charges, in words."""
    if terms.read == terms.write == 1.0 and not terms.ttl_seconds:
        return "none"
    return (
        f"writing costs {terms.write:g}x and reading {terms.read:g}x an input token; a prefix lasts "
        f"{terms.ttl_seconds:g} s and needs at least {count(terms.minimum, 'token')}"
        f"{'; only marked prefixes are cached' if terms.marked else ''}"
    )


def _say_breaks(costs: Sequence[DeliveryCost]) -> None:
    rows = [row for cost in costs for row in _breaks(cost.cached)]
    say()
    if not rows:
        say("Nothing breaks the cache.")
        return
    say_table(("delivery", "call", "what broke the cache", "resent"), rows, right=frozenset({1, 3}))


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
    say_table(("billed by", *Delivery), rows, right=frozenset(range(1, 6)))


def priced_json(priced: Priced) -> dict[str, Any]:
    """Everything, including every request."""
    session = priced.session
    return {
        **session_json(session),
        "tokenizer": priced.tokenizer,
        "model": priced.model,
        "prices": None if session.prices is None else asdict(session.prices),
        "presets": [_preset_json(session.plan, preset) for preset in PRESETS],
    }


def session_json(session: PricedSession, *, requests: bool = True) -> dict[str, Any]:
    """A session's plan, its assumptions, and each delivery; `requests` lists each delivery's."""
    plan, found = session.plan, verdict(session)
    return {
        "basis": plan.basis,
        "tools": len(plan.tools),
        "tool_tokens": plan.tool_tokens,
        "overhead": asdict(plan.overhead),
        "steps": plan.steps,
        "terms": asdict(session.terms),
        "assumed": {name: getattr(session.assumed, name) for name in plan.assumed},
        "discovery": session.discovery,
        "saved": session.saved,
        "verdict": None if found is None else {"answer": found.answer, "text": found.text},
        "deliveries": [_delivery_json(session, cost, requests=requests) for cost in session.costs],
    }


def _delivery_json(session: PricedSession, cost: DeliveryCost, *, requests: bool) -> dict[str, Any]:
    found = (session.break_evens or {}).get(cost.delivery)
    return {
        "delivery": cost.delivery,
        "definitions": cost.cached.definitions,
        "definitions_and_searches": cost.cached.discovery_tokens,
        "input": cost.cached.raw,
        "cached": _cost_json(session, cost.cached, requests=requests),
        "uncached": _cost_json(session, cost.uncached, requests=False),
        "saved": session.saved_by(cost.delivery),
        "pays_from_tools": None if found is None else asdict(found),
    }


def _cost_json(session: PricedSession, cost: SessionCost, *, requests: bool) -> dict[str, Any]:
    listed = {"requests": [_request_json(request) for request in cost.requests]} if requests else {}
    return {
        "raw": cost.raw,
        "read": cost.read,
        "written": cost.written,
        "plain": cost.plain,
        "billed": cost.billed,
        "output": cost.output,
        "dollars": cost.dollars,
        "dollars_per_step": session.per_step(cost),
        "hit_rate": cost.hit_rate,
        "breaks": len(cost.breaks),
        **listed,
    }


def _request_json(request: RequestCost) -> dict[str, Any]:
    charge = request.charge
    return {
        "call": request.call,
        "definitions": request.definitions,
        "searches": request.searches,
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

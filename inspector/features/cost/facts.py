"""What a session costs under each way to deliver tools, said once for the page and the commands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from inspector.config.setting import knobs_of, render_value
from inspector.core.number import count, money, money_decimals, percent, saving, tokens
from inspector.core.prompt_cache import CacheTerms
from inspector.core.report import NOTHING, Table
from inspector.session.verdict import PricedSession, verdict
from inspector.tokens.break_even import MOST, BreakEven, ranges
from inspector.tokens.cost import (
    PRESETS,
    CachePreset,
    Delivery,
    DeliveryCost,
    RequestCost,
    SessionCost,
    session_cost,
)
from inspector.tokens.plan import Assumptions, Plan

ABOUT: Mapping[Delivery, str] = {
    Delivery.STATIC: "every tool in every call",
    Delivery.REWRITE: "found tools in catalog order; a new tool shifts the rest",
    Delivery.APPEND: "found tools at the end of tools[]",
    Delivery.CALL_TOOL: "tools[] never changes; search results carry the definitions",
    Delivery.CODE: "search results carry declarations; a script makes several calls",
    Delivery.GATE: "tools chosen for each turn; all summaries in the prompt",
}
MEASURES = (
    "definitions",
    "+ searches",
    "all input",
    "no cache",
    "billed",
    "cached",
    "with cache",
    "per step",
    "vs static",
)
ASSUMPTIONS = ("assumption", "value", "break-even over", "meaning")
_BREAKS = 4
_MILLION = 1_000_000


class SkillCost(Struct, frozen=True):
    """What a client's list of skills adds to each request, to a session, and to its price with the cache."""

    client: str
    version: str
    tokens: int
    session_tokens: int
    dollars: float | None


class Priced(Struct, frozen=True):
    """A priced session. `model` is the one that was asked for; `tokenizer` counted its tokens."""

    session: PricedSession
    model: str
    tokenizer: str
    skills: Sequence[SkillCost] = ()


def skill_costs(session: PricedSession, lists: Iterable[Any]) -> tuple[SkillCost, ...]:
    """What these lists (`ListCost`) cost a session, the shortest first: each stands before its messages."""

    def with_system(more: int) -> SessionCost:
        overhead = session.plan.overhead
        plan = replace(session.plan, overhead=replace(overhead, system=overhead.system + more))
        return session_cost(plan, Delivery.STATIC, session.terms, session.prices)

    def cost(one: Any) -> SkillCost:
        whole = with_system(one.tokens)
        dollars = None if whole.dollars is None else whole.dollars - (bare.dollars or 0)
        return SkillCost(one.rule.client, one.rule.version, one.tokens, whole.raw - bare.raw, dollars)

    bare = with_system(0)
    return tuple(map(cost, sorted(lists, key=lambda one: one.tokens)))


def skills_text(skills: Sequence[SkillCost]) -> str:
    """What the shortest and the longest of these lists take, in a request and in a session."""
    ends = (skills[0], skills[-1]) if len(skills) > 1 else skills
    amounts = [one.dollars for one in ends if one.dollars is not None]
    told = [
        " to ".join(f"{tokens(one.tokens)} ({one.client})" for one in ends),
        " to ".join(tokens(one.session_tokens) for one in ends),
        " to ".join(money(one, money_decimals(amounts)) for one in amounts),
    ]
    return f"{told[0]} tokens in each request, {told[1]} in a session{told[2] and f', {told[2]} with cache'}"


def priced_report(priced: Priced) -> Iterator[str | Table]:
    """The comparison, what broke the caches, break-evens, other providers' caches, the assumptions."""
    session = priced.session
    plan = session.plan
    yield plan.basis
    tools = count(len(plan.tools), "tool")
    yield f"definitions of {tools}: {tokens(plan.tool_tokens)} tokens ({priced.tokenizer})"
    if priced.skills:
        yield f"lists of skills: {skills_text(priced.skills)}; `toolsight skills` shows each client's"
    yield _whose(priced)
    yield f"prompt cache: {terms_text(session.terms)}"
    found = verdict(session)
    if found is not None:
        yield f"\n{found.text}"
    yield ""
    yield cost_table(session)
    yield from (f"  {delivery}: {about}" for delivery, about in ABOUT.items())
    yield from UNITS
    if session.break_evens:
        rows = tuple((delivery, *break_even_cells(found)) for delivery, found in session.break_evens.items())
        yield ""
        yield Table("", ("cheaper from", "as assumed", "at least", "at most"), rows, frozenset({1, 2, 3}))
        yield (
            f"cheaper from: how many tools of this size it takes to be cheaper than cached static, up to "
            f"{MOST:,}; the range varies all assumptions below at once"
        )
    yield ""
    broken = tuple(row for cost in session.costs for row in _breaks(cost.cached))
    headers = ("delivery", "call", "what broke the cache", "resent")
    yield Table("", headers, broken, frozenset({1, 3})) if broken else "Nothing breaks the cache."
    yield ""
    yield Table("", ("billed by", *Delivery), tuple(_presets(plan)), frozenset(range(1, len(Delivery) + 1)))
    yield ""
    yield Table("", ASSUMPTIONS, tuple(_assumptions(plan, session.assumed)), frozenset({1}))


UNITS = (
    "tokens are summed over all model calls; definitions include the manifest and summaries; + searches adds "
    "searches and their results",
    "billed: the number of full-price input tokens that would cost the same; prices include answers; vs "
    "static compares prices with cache",
    "per step: price with cache per tool call that succeeds and does not repeat another",
)


def cost_table(session: PricedSession, deliveries: Sequence[Delivery] = tuple(Delivery)) -> Table:
    """A column for each of the deliveries, a row for each measure."""
    columns = [tuple(measures(session, session.of(delivery)).values()) for delivery in deliveries]
    rows = tuple(zip(MEASURES, *columns, strict=True))
    return Table("", ("", *deliveries), rows, frozenset(range(1, len(deliveries) + 1)))


def measures(session: PricedSession, cost: DeliveryCost) -> dict[str, str]:
    """What a delivery costs, as it is written; amounts have as many decimals as those of the others."""
    cached = cost.cached
    amounts = [one.dollars for each in session.costs for one in (each.cached, each.uncached)]
    decimals = money_decimals(amount for amount in amounts if amount is not None)
    steps = (session.per_step(each.cached) for each in session.costs)
    step_decimals = money_decimals(step for step in steps if step is not None)
    saved = session.saved_by(cost.delivery)
    against = "" if cost.delivery is Delivery.STATIC else NOTHING if saved is None else saving(saved)
    values = (
        tokens(cached.definitions),
        tokens(cached.discovery_tokens),
        tokens(cached.raw),
        _dollars(cost.uncached.dollars, decimals),
        tokens(round(cached.billed)),
        percent(cached.hit_rate),
        _dollars(cached.dollars, decimals),
        _dollars(session.per_step(cached), step_decimals),
        against,
    )
    return dict(zip(MEASURES, values, strict=True))


def _dollars(amount: float | None, decimals: int) -> str:
    return NOTHING if amount is None else money(amount, decimals)


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


def _breaks(cost: SessionCost) -> Iterator[tuple[str, ...]]:
    breaks = cost.breaks
    for request in breaks[:_BREAKS]:
        yield (cost.delivery, str(request.call), request.broke, tokens(request.again))
    rest = breaks[_BREAKS:]
    if rest:
        again = sum(request.again for request in rest)
        yield (cost.delivery, "", f"{len(rest)} more", tokens(again))


def _presets(plan: Plan) -> Iterator[tuple[str, ...]]:
    for preset in PRESETS:
        costs = (session_cost(plan, delivery, preset.terms) for delivery in Delivery)
        yield (preset.name, *(tokens(round(cost.billed)) for cost in costs))


def _assumptions(plan: Plan, assumptions: Assumptions) -> list[tuple[str, str, str, str]]:
    """Each assumption of a plan, the range that break-even points are looked for over, and its meaning."""
    spread = ranges(plan, assumptions)
    return [
        (
            knob.path,
            render_value(getattr(assumptions, knob.path)),
            " to ".join(f"{end:g}" for end in spread.get(knob.path, ())),
            knob.about,
        )
        for knob in knobs_of(Assumptions)
        if knob.path in plan.assumed
    ]


def priced_json(priced: Priced) -> dict[str, Any]:
    """Everything, including every request."""
    session = priced.session
    return {
        **session_json(session),
        "tokenizer": priced.tokenizer,
        "skills": to_builtins(priced.skills),
        "model": priced.model,
        "prices": None if session.prices is None else to_builtins(session.prices),
        "presets": [_preset_json(session.plan, preset) for preset in PRESETS],
    }


def session_json(session: PricedSession, *, requests: bool = True) -> dict[str, Any]:
    """A session's plan, its assumptions, and each delivery; `requests` lists each delivery's."""
    plan, found = session.plan, verdict(session)
    return {
        "basis": plan.basis,
        "tool_tokens": plan.tool_tokens,
        "overhead": to_builtins(plan.overhead),
        "steps": plan.steps,
        "tools": len(plan.tools),
        "terms": to_builtins(session.terms),
        "discovery": session.discovery,
        "saved": session.saved,
        "assumed": {name: getattr(session.assumed, name) for name in plan.assumed},
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
        "pays_from_tools": None if found is None else to_builtins(found),
    }


def _cost_json(session: PricedSession, cost: SessionCost, *, requests: bool) -> dict[str, Any]:
    return {
        "raw": cost.raw,
        "read": cost.read,
        "written": cost.written,
        "plain": cost.plain,
        "billed": cost.billed,
        "output": cost.output,
        "dollars": cost.dollars,
        "hit_rate": cost.hit_rate,
        **({"requests": [_request_json(one) for one in cost.requests]} if requests else {}),
        "dollars_per_step": session.per_step(cost),
        "breaks": len(cost.breaks),
    }


def _request_json(one: RequestCost) -> dict[str, Any]:
    charge = one.charge
    return {
        "call": one.call,
        "definitions": one.definitions,
        "searches": one.searches,
        "raw": charge.tokens,
        "read": charge.read,
        "written": charge.written,
        "plain": charge.plain,
        "billed": one.billed,
        "output": one.output,
        "dollars": one.dollars,
        "broke": one.broke,
        "sent_again": one.again,
    }


def _preset_json(plan: Plan, preset: CachePreset) -> dict[str, Any]:
    return {
        **to_builtins(preset),
        "billed": {each.value: session_cost(plan, each, preset.terms).billed for each in Delivery},
    }

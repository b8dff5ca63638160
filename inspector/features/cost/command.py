"""`toolsight cost`: what each way to deliver tools costs over a session."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from inspector.cli.composition import counter_for, features_for, open_store, require_sessions
from inspector.cli.launch import run_headless
from inspector.cli.options import COMMON, DEMO_MODEL, Options, as_json, require_nobody, session_command
from inspector.cli.table import show
from inspector.core.budget import Prices
from inspector.core.error import ConfigError
from inspector.core.events import CatalogBuilt, Record
from inspector.core.fold import fold
from inspector.core.number import count, money, money_decimals, percent, saving, tokens
from inspector.core.prompt_cache import CacheTerms, Ttl
from inspector.core.report import NOTHING, Table, selected
from inspector.core.settings import BudgetSettings
from inspector.features.cost.assumption import HEADERS, Assumed, assumed, assuming, assumption_rows
from inspector.session.setup import Planner, catalog_planner
from inspector.session.verdict import PricedSession, discovery_delivery, price_session, verdict
from inspector.session.workbench import Workbench
from inspector.tokens.accounting import LitellmPrices
from inspector.tokens.break_even import MOST, BreakEven
from inspector.tokens.cost import PRESETS, CachePreset, Delivery, DeliveryCost, SessionCost, session_cost
from inspector.tokens.plan import Assumptions, Plan, plan_of

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


def _report(priced: Priced) -> Iterator[str | Table]:
    """The comparison, what broke the caches, break-evens, other providers' caches, the assumptions."""
    session = priced.session
    plan = session.plan
    yield plan.basis
    tools = count(len(plan.tools), "tool")
    yield f"definitions of {tools}: {tokens(plan.tool_tokens)} tokens ({priced.tokenizer})"
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
    yield Table("", ("billed by", *Delivery), tuple(_presets(plan)), frozenset(range(1, 6)))
    yield ""
    yield Table("", HEADERS, tuple(assumption_rows(plan, session.assumed)), frozenset({1}))


UNITS = (
    "tokens are summed over all model calls; definitions include the manifest and summaries; + searches adds "
    "searches and their results",
    "billed: the number of full-price input tokens that would cost the same; prices include answers; vs "
    "static compares prices with cache",
    "per solved step: price with cache per tool call that succeeds and does not repeat another",
)


def cost_table(session: PricedSession, deliveries: Sequence[Delivery] = tuple(Delivery)) -> Table:
    """A column for each of the deliveries, a row for each measure."""
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
    rows = tuple(zip(_MEASURES, *columns, strict=True))
    return Table("", ("", *deliveries), rows, frozenset(range(1, len(deliveries) + 1)))


def _against_static(session: PricedSession, delivery: Delivery) -> str:
    saved = session.saved_by(delivery)
    return "" if delivery is Delivery.STATIC else NOTHING if saved is None else saving(saved)


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


_TERMS = "{write read ttl_seconds minimum marked}"
_COST = "raw read written plain billed output dollars hit_rate"
_REQUEST = (
    "call definitions searches raw:charge.tokens read:charge.read written:charge.written plain:charge.plain "
    "billed output dollars broke sent_again:again"
)


def _priced_json(priced: Priced) -> dict[str, Any]:
    """Everything, including every request."""
    prices = "{model input output cache_read cache_write cache_write_hour cache_minimum source date}"
    return {
        **session_json(priced.session),
        **selected(priced, f"tokenizer model prices:session.prices{prices}"),
        "presets": [_preset_json(priced.session.plan, preset) for preset in PRESETS],
    }


def session_json(session: PricedSession, *, requests: bool = True) -> dict[str, Any]:
    """A session's plan, its assumptions, and each delivery; `requests` lists each delivery's."""
    plan = session.plan
    overhead = "{system meta manifest call_tool pool manifest_limit manifest_in_full}"
    return {
        **selected(plan, f"basis tool_tokens overhead{overhead} steps"),
        "tools": len(plan.tools),
        **selected(session, f"terms{_TERMS} discovery saved"),
        "assumed": {name: getattr(session.assumed, name) for name in plan.assumed},
        "verdict": selected(verdict(session), "answer text"),
        "deliveries": [_delivery_json(session, cost, requests=requests) for cost in session.costs],
    }


def _delivery_json(session: PricedSession, cost: DeliveryCost, *, requests: bool) -> dict[str, Any]:
    found = (session.break_evens or {}).get(cost.delivery)
    sums = "definitions:cached.definitions definitions_and_searches:cached.discovery_tokens input:cached.raw"
    return {
        **selected(cost, f"delivery {sums}"),
        "cached": _cost_json(session, cost.cached, requests=requests),
        "uncached": _cost_json(session, cost.uncached, requests=False),
        "saved": session.saved_by(cost.delivery),
        "pays_from_tools": selected(found, "usual low high"),
    }


def _cost_json(session: PricedSession, cost: SessionCost, *, requests: bool) -> dict[str, Any]:
    steps = {"dollars_per_step": session.per_step(cost), "breaks": len(cost.breaks)}
    return selected(cost, f"{_COST} requests{{{_REQUEST}}}" if requests else _COST) | steps  # type: ignore[no-any-return]  # A dict.


def _preset_json(plan: Plan, preset: CachePreset) -> dict[str, Any]:
    billed = {each.value: session_cost(plan, each, preset.terms).billed for each in Delivery}
    return {**selected(preset, f"name terms{_TERMS} source note"), "billed": billed}


_OF_A_RECORD = frozenset({"calls", "calls_per_turn", "growth", "searches_per_call", "pause", "seconds"})


@session_command(takes=COMMON)
@click.option("--session", default="", help="Price this recorded session instead of an assumed one.")
@assuming
@as_json
def cost(session: str, assume: dict[str, Any], ttl: Ttl, chosen: Options) -> None:
    """Price a session under each tool loading strategy.

    \b
    toolsight cost --config .mcp.json
    toolsight cost --session SESSION
    """
    terms = assumed(assume, ttl)
    if session:
        require_nobody(chosen)
        recorded = [name for name in terms.given if name in _OF_A_RECORD]
        if recorded:
            raise click.UsageError(f"{recorded[0]} applies only to an assumed session, not with --session")
        _show(_recorded(session, chosen, terms))
        return

    async def work(bench: Workbench) -> None:
        _show(_assumed(bench, terms, chosen.model))

    run_headless(chosen, work, listing=True)


def _show(priced: Priced | None) -> None:
    if priced is None:
        show(None, ["Nothing to price: there are no tools or no model calls."])
    else:
        show(_priced_json(priced), _report(priced))


def _assumed(bench: Workbench, terms: Assumed, model: str) -> Priced | None:
    if not bench.catalog.tools:
        return None
    setup, meter, prices = bench.setup, bench.accounting.meter, bench.accounting.prices()
    session = price_session(
        catalog_planner(setup, meter),
        terms.assumptions,
        prices,
        terms=terms.terms(prices, model, meter.features),
        discovery=discovery_delivery(setup.settings, meter.features),
        ranges=tuple(Delivery),
    )
    return Priced(session, model, meter.tokenizer.label)


def _recorded(session: str, chosen: Options, terms: Assumed) -> Priced | None:
    """The session at the prices of `--model`, or else of its own model."""
    records = _records(session, chosen)
    _require_sizes(records)
    state = fold(records)
    model = state.model if chosen.model == DEMO_MODEL else chosen.model
    plans = _planner(session, records, counter_for(state.model).count)
    if plans is None:
        return None
    prices = _prices(model, chosen, state.settings)
    label = state.budget.tokenizer.label if state.budget is not None else "unknown"
    cache = terms.terms(prices, model, features_for(model))
    priced = price_session(plans, terms.assumptions, prices, terms=cache, ranges=tuple(Delivery))
    return Priced(priced, model, label)


def _require_sizes(records: Sequence[Record]) -> None:
    """Raise ConfigError if a transcript does not hold what would have to be priced."""
    catalogs = (record.event for record in reversed(records) if isinstance(record.event, CatalogBuilt))
    unknown = next((catalog.uncounted for catalog in catalogs), 0)
    if unknown:
        raise ConfigError(
            f"the transcript lacks the definitions of {count(unknown, 'tool')}, "
            "so their cost under another strategy is unknown",
            hint="`toolsight sessions agents` shows what the provider reported and what it costs.",
        )


def _planner(session: str, records: Sequence[Record], count: Callable[[str], int]) -> Planner | None:
    """Plans the session under other assumptions; None for one without a model call."""
    if plan_of(records, tokens=count) is None:
        return None

    def plan(assumptions: Assumptions) -> Plan:
        found = plan_of(records, assumptions, count)
        assert found is not None
        return replace(found, basis=f"{session}: {found.basis}")

    return plan


def _prices(model: str, chosen: Options, settings: Any) -> Prices | None:
    """The model's prices, or those of the model that stands in for it."""
    stand_in = chosen.values.get("budget.priced_as") or _priced_as(settings)
    listed = LitellmPrices()
    return listed.prices(model) or listed.prices(stand_in)


def _records(session: str, chosen: Options) -> Sequence[Record]:
    store = open_store(chosen)
    require_sessions(store, [session])
    return store.read(session)


def _priced_as(settings: Any) -> str:
    """A recorded session's `budget.priced_as`; the default if the session is older than the setting."""
    budget = settings.get("budget", {})
    return str(budget.get("priced_as") or BudgetSettings().priced_as)

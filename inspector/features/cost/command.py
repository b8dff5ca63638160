"""`toolsight cost`: what each way to deliver tools costs over a session."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from inspector.cli.composition import counter_for, features_for, lent
from inspector.cli.launch import run_headless
from inspector.cli.options import (
    COMMON,
    DEMO_MODEL,
    Options,
    as_json,
    checked_values,
    require_nobody,
    session_command,
)
from inspector.cli.stores import open_store, require_sessions
from inspector.cli.table import show
from inspector.config.setting import Knob, knobs_of
from inspector.core.budget import Prices, cache_terms
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events import CatalogBuilt, Record
from inspector.core.fold import fold
from inspector.core.number import count
from inspector.core.prompt_cache import FIVE_MINUTES, HOUR, CacheTerms, Ttl
from inspector.core.settings import BudgetSettings
from inspector.core.text import closest
from inspector.features.cost.facts import Priced, priced_json, priced_report, skill_costs
from inspector.schema.schema import ModelFeatures
from inspector.session.setup import Planner, catalog_planner
from inspector.session.verdict import discovery_delivery, price_session
from inspector.session.workbench import Workbench
from inspector.tokens.accounting import LitellmPrices
from inspector.tokens.cost import Delivery
from inspector.tokens.plan import Assumptions, Plan, plan_of

_KNOBS = {knob.path: knob for knob in knobs_of(Assumptions)}


class Assumed(Struct, frozen=True):
    """What a person chose: the assumptions, the names of those that were given, and the cache's lifetime."""

    assumptions: Assumptions
    given: tuple[str, ...]
    ttl: Ttl = FIVE_MINUTES

    def terms(self, prices: Prices | None, model: str, features: ModelFeatures) -> CacheTerms:
        """The terms of the prompt cache. Raises ToolsightError if the model has no price for an hour."""
        if self.ttl == HOUR and (prices is None or prices.hour_terms is None):
            priced = model if prices is None else prices.model
            raise ToolsightError(
                f"'{priced}' has no price for a one-hour cache",
                hint="Anthropic models have one, such as --model anthropic/claude-sonnet-4-5.",
            )
        return cache_terms(prices, features, self.ttl)


def assumed(given: Mapping[str, Any], chosen: Options) -> Assumed:
    """What the options say. Raises ConfigError."""
    checked = {name: _KNOBS[name].check(value) for name, value in given.items()}
    is_hour = chosen.settings.get("budget.prompt_cache") == HOUR
    return Assumed(Assumptions(**checked), tuple(checked), HOUR if is_hour else FIVE_MINUTES)


def _found(name: str) -> Knob:
    if name not in _KNOBS:
        near = closest(name, list(_KNOBS), limit=1) or list(_KNOBS)
        raise ConfigError(f"there is no assumption '{name}'", hint=f"Did you mean {', '.join(near)}?")
    return _KNOBS[name]


assuming = click.option(
    "--assume",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda _context, _parameter, pairs: checked_values("--assume", pairs, _found),
    help="Change an assumption that `toolsight cost` lists, such as calls=12 or growth=300. May be repeated.",
)
"""Adds the option `--assume`; see `assumed`."""


_OF_A_RECORD = frozenset({"calls", "calls_per_turn", "growth", "searches_per_call", "pause", "seconds"})


@session_command(takes=COMMON)
@click.option("--session", default="", help="Price this recorded session instead of an assumed one.")
@assuming
@as_json
def cost(session: str, assume: dict[str, Any], chosen: Options) -> None:
    """Price a session under each tool loading strategy.

    \b
    toolsight cost --config .mcp.json
    toolsight cost --session SESSION --set budget.prompt_cache=1h
    """
    terms = assumed(assume, chosen)
    if session:
        require_nobody(chosen)
        recorded = [name for name in terms.given if name in _OF_A_RECORD]
        if recorded:
            raise click.UsageError(f"{recorded[0]} applies only to an assumed session, not with --session")
        _show(_recorded(session, chosen, terms))
        return

    async def work(bench: Workbench) -> None:
        _show(_assumed(bench, terms, chosen))

    run_headless(chosen, work, listing=True)


def _show(priced: Priced | None) -> None:
    if priced is None:
        show(None, ["Nothing to price: there are no tools or no model calls."])
    else:
        show(priced_json(priced), priced_report(priced))


def _assumed(bench: Workbench, terms: Assumed, chosen: Options) -> Priced | None:
    if not bench.catalog.tools:
        return None
    setup, meter, prices = bench.setup, bench.accounting.meter, bench.accounting.prices()
    model, lists = chosen.model, lent("skill lists")(bench.configuration, chosen.window, meter.text)
    session = price_session(
        catalog_planner(setup, meter),
        terms.assumptions,
        prices,
        terms=terms.terms(prices, model, meter.features),
        discovery=discovery_delivery(setup.settings, meter.features),
        ranges=tuple(Delivery),
    )
    return Priced(session, model, meter.tokenizer.label, skill_costs(session, lists))


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

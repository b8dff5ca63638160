"""What tools cost over a session, by delivery."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from inspector.cli.composition import make_prices, open_store
from inspector.cli.cost.report import Priced, json_of, say_cost
from inspector.cli.launch import run_headless
from inspector.cli.models import counter_for
from inspector.cli.options import DEMO_MODEL, Options, as_json, options, shared
from inspector.cli.render import say, say_json
from inspector.domain.error import StoreError, ToolsightError
from inspector.domain.events import Record
from inspector.domain.fold import fold
from inspector.domain.price import Prices
from inspector.domain.prompt_cache import UNCACHED, CacheTerms
from inspector.domain.settings import BudgetSettings
from inspector.engine.tokens.cost.break_even import break_evens
from inspector.engine.tokens.cost.catalog_plan import catalog_plan
from inspector.engine.tokens.cost.delivery_cost import compare
from inspector.engine.tokens.cost.plan import Assumptions, Plan
from inspector.engine.tokens.cost.recorded_plan import plan_of
from inspector.engine.tokens.cost.setup_change import Setup
from inspector.engine.workbench import Workbench

_FIVE_MINUTES, _HOUR = "5m", "1h"


@click.command()
@click.option("--session", default="", help="Price this recorded session instead of an assumed one.")
@click.option("--turns", type=click.IntRange(1, 1000), help="Model calls in the assumed session.")
@click.option(
    "--ttl",
    type=click.Choice([_FIVE_MINUTES, _HOUR]),
    default=_FIVE_MINUTES,
    show_default=True,
    help="How long the prompt cache keeps a prefix; 1h needs a model with a price for it.",
)
@shared
@as_json
def cost(session: str, turns: int | None, ttl: str, as_json: bool, **values: Any) -> None:
    """Show what a session costs with every tool bound, and with each other delivery."""
    chosen = options(**values)
    if session:
        if turns is not None:
            raise click.UsageError("--turns is for an assumed session; a recorded one has its own")
        _tell(_recorded(session, chosen, ttl), as_json=as_json)
        return
    assumed = Assumptions() if turns is None else Assumptions(calls=turns)

    async def work(bench: Workbench) -> None:
        _tell(_assumed(bench, assumed, chosen.model, ttl), as_json=as_json)

    run_headless(chosen, work, listing=True)


def _tell(priced: Priced | None, *, as_json: bool) -> None:
    if priced is None:
        say_json(None) if as_json else say("There is nothing to price: no tools or no model calls.")
    elif as_json:
        say_json(json_of(priced))
    else:
        say_cost(priced)


def _assumed(bench: Workbench, assumed: Assumptions, model: str, ttl: str) -> Priced | None:
    if not bench.catalog.tools:
        return None
    summaries = {server.name: server.info.summary for server in bench.state.servers.values()}
    setup = Setup(bench.catalog.tools, bench.configuration, bench.settings, bench.state.toolset, summaries)
    meter = bench.accounting.meter
    plan = catalog_plan(setup, meter, assumed)
    return _priced(
        plan, assumed, model=model, prices=bench.accounting.prices(), tokenizer=meter.tokenizer.label, ttl=ttl
    )


def _recorded(session: str, chosen: Options, ttl: str) -> Priced | None:
    """The session at the prices of `--model`, or else of its own model."""
    records = _records(session, chosen)
    state, assumed = fold(records), Assumptions()
    model = state.model if chosen.model == DEMO_MODEL else chosen.model
    plan = plan_of(records, assumed, counter_for(state.model).count)
    if plan is None:
        return None
    plan = replace(plan, basis=f"{session}: {plan.basis}")
    stand_in = chosen.values.get("budget.priced_as") or _priced_as(state.settings)
    listed = make_prices()
    prices = listed.prices(model) or listed.prices(stand_in)
    label = state.budget.tokenizer.label if state.budget is not None else "unknown"
    return _priced(plan, assumed, model=model, prices=prices, tokenizer=label, ttl=ttl)


def _records(session: str, chosen: Options) -> Sequence[Record]:
    store = open_store(chosen)
    if session not in {known.id for known in store.sessions()}:
        raise StoreError(f"there is no session '{session}'", hint="`toolsight sessions` lists them.")
    return store.read(session)


def _priced_as(settings: Any) -> str:
    """A recorded session's `budget.priced_as`; the default if the session is older than the setting."""
    budget = settings.get("budget", {})
    return str(budget.get("priced_as") or BudgetSettings().priced_as)


def _priced(
    plan: Plan, assumed: Assumptions, *, model: str, prices: Prices | None, tokenizer: str, ttl: str
) -> Priced:
    terms = _terms(model, prices, ttl)
    return Priced(
        plan=plan,
        assumed=assumed,
        model=model,
        prices=prices,
        terms=terms,
        tokenizer=tokenizer,
        costs=compare(plan, terms, prices),
        break_evens=break_evens(plan, terms, prices),
    )


def _terms(model: str, prices: Prices | None, ttl: str) -> CacheTerms:
    if ttl == _FIVE_MINUTES:
        return UNCACHED if prices is None else prices.terms
    terms = None if prices is None else prices.hour_terms
    if terms is None:
        priced = model if prices is None else prices.model
        raise ToolsightError(
            f"'{priced}' has no price for a one-hour cache",
            hint="Anthropic's models have one, for example --model anthropic/claude-sonnet-4-5.",
        )
    return terms

"""Compares the five ways to deliver tools over the session's calls, in a thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.domain.events import Record
from inspector.domain.price import Prices
from inspector.domain.prompt_cache import CacheTerms
from inspector.engine.tokens.cost.break_even import break_evens
from inspector.engine.tokens.cost.cache_preset import PRESETS, CachePreset
from inspector.engine.tokens.cost.catalog_plan import catalog_plan
from inspector.engine.tokens.cost.delivery_cost import Delivery, DeliveryCost, compare
from inspector.engine.tokens.cost.plan import Plan
from inspector.engine.tokens.cost.recorded_plan import own_delivery, plan_of
from inspector.engine.tokens.cost.setup_change import Setup
from inspector.engine.tokens.count.measure import BudgetMeter

OWN = "the model's own"
CACHES: tuple[CachePreset | None, ...] = (
    None,
    *(preset for preset in PRESETS if preset.terms.minimum < 1 << 62),
)
"""The prompt caches to choose from; None is the one of the session's model."""


@dataclass(frozen=True, slots=True)
class DeliveryComparison:
    """The costs of the five ways.

    `even` is the number of tools from which each is cheaper than static; `own` is the way in use.
    """

    plan: Plan
    cache: str
    costs: tuple[DeliveryCost, ...]
    even: Mapping[Delivery, int | None]
    own: Delivery
    is_recorded: bool


@dataclass(frozen=True, slots=True)
class Question:
    """What to compare: the `records` of a session, or none for an assumed session over the setup's tools."""

    setup: Setup
    meter: BudgetMeter
    prices: Prices | None
    terms: CacheTerms
    records: Sequence[Record] = ()
    cache: CachePreset | None = None

    def answer(self) -> DeliveryComparison:
        """Price the plan under every way; a few hundred milliseconds for a large catalog, in any thread."""
        recorded = plan_of(self.records, count=self.meter.text) if self.records else None
        plan = recorded or catalog_plan(self.setup, self.meter)
        terms = self.terms if self.cache is None else self.cache.terms
        return DeliveryComparison(
            plan,
            OWN if self.cache is None else self.cache.name,
            compare(plan, terms, self.prices),
            break_evens(plan, terms, self.prices),
            own_delivery(self.setup.settings),
            recorded is not None,
        )

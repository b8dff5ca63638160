"""Compares the five ways to deliver tools over the session's calls, in a thread."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.core.budget import Prices
from inspector.core.events import Record
from inspector.core.prompt_cache import CacheTerms
from inspector.session.setup import Setup, catalog_planner
from inspector.session.verdict import PricedSession, discovery_delivery, own_delivery, price_session
from inspector.tokens.cost import PRESETS, CachePreset, Delivery
from inspector.tokens.measure import BudgetMeter
from inspector.tokens.plan import Assumptions, Plan, plan_of

OWN = "the model's own"
CACHES: tuple[CachePreset | None, ...] = (
    None,
    *(preset for preset in PRESETS if preset.terms.minimum < 1 << 62),
)
"""The prompt caches to choose from; None is the one of the session's model."""


@dataclass(frozen=True, slots=True)
class DeliveryComparison:
    """The costs of the five ways; `own` is the way in use, `cache` names the prompt cache."""

    priced: PricedSession
    cache: str
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
        """Price the plan under every way, with its break-even ranges: a second or two, in any thread."""
        name = OWN if self.cache is None else self.cache.name
        own = own_delivery(self.setup.settings, self.meter.features)
        is_recorded = plan_of(self.records) is not None
        return DeliveryComparison(self._priced(is_recorded), name, own, is_recorded)

    def _priced(self, is_recorded: bool) -> PricedSession:
        future = catalog_planner(self.setup, self.meter)

        def plans(assumed: Assumptions) -> Plan:
            recorded = plan_of(self.records, assumed, self.meter.text) if is_recorded else None
            return recorded or future(assumed)

        return price_session(
            plans,
            Assumptions(),
            self.prices,
            terms=self.terms if self.cache is None else self.cache.terms,
            discovery=discovery_delivery(self.setup.settings, self.meter.features),
            ranges=tuple(Delivery),
        )

"""A session's price by delivery: the one calculation behind every screen and command that shows money."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.core.price import Prices, cache_terms
from inspector.core.prompt_cache import CacheTerms
from inspector.core.settings import Settings
from inspector.schema.model_feature import ModelFeatures
from inspector.session.setup.catalog_plan import Planner, catalog_planner
from inspector.session.setup.change import FirstCall, Setup
from inspector.tokens.cost.break_even import BreakEven, break_even_range
from inspector.tokens.cost.delivery import effective_delivery, has_proxy, is_native
from inspector.tokens.cost.delivery_cost import Delivery, DeliveryCost, SessionCost, compare, session_cost
from inspector.tokens.cost.plan import Assumptions, Plan
from inspector.tokens.count.measure import BudgetMeter


@dataclass(frozen=True, slots=True)
class PricedSession:
    """A session under every delivery, on the terms of one prompt cache.

    `discovery` is the delivery that stands for discovery. `break_evens` is empty unless it was asked for.
    """

    plan: Plan
    assumed: Assumptions
    prices: Prices | None
    terms: CacheTerms
    costs: tuple[DeliveryCost, ...]
    discovery: Delivery = Delivery.APPEND
    break_evens: Mapping[Delivery, BreakEven] | None = None

    def of(self, delivery: Delivery) -> DeliveryCost:
        """The session's cost under one delivery."""
        return next(cost for cost in self.costs if cost.delivery is delivery)

    @property
    def saved(self) -> float | None:
        """The share of static binding's price that discovery saves; see `saved_by`."""
        return self.saved_by(self.discovery)

    def saved_by(self, delivery: Delivery) -> float | None:
        """The share of static binding's price, both with the cache, that a delivery saves.

        Dollars, or billed input tokens without prices. Negative if it costs more; None if static is free.
        """
        static, other = worth(self.of(Delivery.STATIC).cached), worth(self.of(delivery).cached)
        return 1 - other / static if static else None

    def per_step(self, cost: SessionCost) -> float | None:
        """US dollars for each solved step; None without prices or steps."""
        return cost.dollars / self.plan.steps if cost.dollars is not None and self.plan.steps else None


def worth(cost: SessionCost) -> float:
    """What deliveries are ordered by: US dollars, or billed input tokens without prices."""
    return cost.billed if cost.dollars is None else cost.dollars


def price_session(
    plans: Planner,
    assumed: Assumptions,
    prices: Prices | None,
    *,
    terms: CacheTerms,
    discovery: Delivery = Delivery.APPEND,
    ranges: Sequence[Delivery] = (),
) -> PricedSession:
    """Price a session under every delivery, on the `terms` of a prompt cache.

    The break-even points of the deliveries in `ranges` are found too, over the range of each assumption: a
    second or so for all of them.
    """
    plan = plans(assumed)
    return PricedSession(
        plan,
        assumed,
        prices,
        terms,
        compare(plan, terms, prices),
        discovery,
        break_even_range(plans, assumed, terms, prices, deliveries=ranges) if ranges else None,
    )


def own_delivery(settings: Settings, features: ModelFeatures) -> Delivery:
    """Which delivery a session with these settings uses with a model; deferral stands as CALL_TOOL."""
    binding = settings.binding
    if not settings.discovery.enabled or binding.policy == "all":
        return Delivery.STATIC
    if binding.policy == "gate":
        return Delivery.GATE
    sent = effective_delivery(binding, features)
    if has_proxy(sent) or is_native(sent):
        return Delivery.CALL_TOOL
    return Delivery.APPEND if sent == "append" else Delivery.REWRITE


def discovery_delivery(settings: Settings, features: ModelFeatures) -> Delivery:
    """The delivery that stands for discovery: the settings' own, or `append` where they bind every tool."""
    own = own_delivery(settings, features)
    return Delivery.APPEND if own is Delivery.STATIC else own


def setup_dollars(setup: Setup, first: FirstCall, meter: BudgetMeter, prices: Prices | None) -> float | None:
    """What an assumed session of the setup costs, with its own delivery and cache; None if unknown.

    `first` is the setup's first call: if it defers no tool, every tool is bound throughout.
    """
    if prices is None or not first.catalog.tools:
        return None
    own = own_delivery(setup.settings, meter.features) if first.catalog.deferred_ids else Delivery.STATIC
    plan = catalog_planner(setup, meter)(Assumptions())
    return session_cost(plan, own, cache_terms(prices, meter.features), prices).dollars

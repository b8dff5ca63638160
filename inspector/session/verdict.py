"""The one verdict on discovery: does it pay for these servers, and from how many tools on."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from threading import Lock

from msgspec import Struct

from inspector.core.budget import Prices, cache_terms
from inspector.core.number import count, money, money_decimals
from inspector.core.prompt_cache import CacheTerms
from inspector.core.settings import Settings
from inspector.schema.schema import ModelFeatures
from inspector.session.setup import FirstCall, Planner, Setup, catalog_planner
from inspector.session.view import SessionView
from inspector.tokens.break_even import MOST, BreakEven, break_even_range
from inspector.tokens.cost import Delivery, DeliveryCost, SessionCost, compare, session_cost
from inspector.tokens.delivery import effective_delivery, is_native
from inspector.tokens.measure import BudgetMeter
from inspector.tokens.plan import Assumptions, Plan
from inspector.tokens.synthetic import CODE, has_proxy


class PricedSession(Struct, frozen=True):
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
        static, other = self.of(Delivery.STATIC).cached.worth, self.of(delivery).cached.worth
        return 1 - other / static if static else None

    def per_step(self, cost: SessionCost) -> float | None:
        """US dollars for each solved step; None without prices or steps."""
        return cost.dollars / self.plan.steps if cost.dollars is not None and self.plan.steps else None


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
    if sent == CODE:
        return Delivery.CODE
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


class Answer(StrEnum):
    """Whether discovery costs less than binding every tool, both with a prompt cache."""

    PAYS = "pays"
    DEPENDS = "depends"
    COSTS = "costs"


class Verdict(Struct, frozen=True):
    """What holds for so many tools; dollars are of the session with its prompt cache, None without prices.

    A session that was recorded needs no assumption: it cost what it cost.
    """

    tools: int
    even: BreakEven
    static: float | None
    discovery: float | None
    is_recorded: bool = False

    @property
    def answer(self) -> Answer:
        """`pays` and `costs` hold over the whole range of the assumptions, `depends` in part of it."""
        if self.is_recorded and self.static is not None and self.discovery is not None:
            return Answer.PAYS if self.discovery < self.static else Answer.COSTS
        if self.even.high is not None and self.tools >= self.even.high:
            return Answer.PAYS
        if self.even.low is None or self.tools < self.even.low:
            return Answer.COSTS
        return Answer.DEPENDS

    @property
    def short(self) -> str:
        """The verdict as one sentence."""
        tools = count(self.tools, "tool")
        these = "this tool" if self.tools == 1 else f"these {tools}"
        few = "is too few" if self.tools == 1 else "are too few"
        return {
            Answer.PAYS: f"Assumed: discovery is cheaper for {these}.",
            Answer.COSTS: f"Assumed: {tools} {few} for discovery to save anything.",
            Answer.DEPENDS: f"Assumed: discovery is cheaper for {these} in some sessions but not all.",
        }[self.answer]

    @property
    def text(self) -> str:
        """The verdict, from how many tools on it is another, and what a session costs."""
        if self.is_recorded and self._dollars:
            return f"This session: {self._dollars}"
        dollars = f" An assumed session costs {self._dollars}" if self._dollars else ""
        return f"{self.short} {self._since}{dollars}"

    @property
    def _since(self) -> str:
        usual, low, high = self.even.usual, self.even.low, self.even.high
        if low is None:
            return f"It would not be cheaper with {MOST:,} tools of this size either."
        if usual is None:
            others = f"under others, cheaper with {low:,} or more tools of this size"
            return f"Never cheaper under these assumptions; {others}."
        since = f"Cheaper with {usual:,} or more tools of this size"
        if high is None:
            return f"{since} ({low:,} or more in some sessions, never in others)."
        return f"{since}." if low == high else f"{since} ({low:,} to {high:,}, depending on the session)."

    @property
    def _dollars(self) -> str:
        if self.static is None or self.discovery is None:
            return ""
        decimals = money_decimals([self.static, self.discovery])
        discovery, static = money(self.discovery, decimals), money(self.static, decimals)
        return f"{discovery} with discovery, {static} with every tool bound."


def verdict(session: PricedSession) -> Verdict | None:
    """Return the verdict of a session that was priced with its ranges; None without ranges or tools."""
    even = (session.break_evens or {}).get(session.discovery)
    if even is None or not session.plan.tools:
        return None
    static, discovery = (session.of(each).cached.dollars for each in (Delivery.STATIC, session.discovery))
    return Verdict(len(session.plan.tools), even, static, discovery, session.plan.is_recorded)


def judge(session: SessionView, stopped: Callable[[], bool] = lambda: False) -> Verdict | None:
    """Return whether discovery pays for the connected tools: a second or two, in any thread.

    None without tools, and soon after `stopped` is true.
    """
    setup, accounting = session.setup, session.accounting
    if not setup.connected:
        return None
    planner = catalog_planner(setup, accounting.meter)

    def plan(assumed: Assumptions) -> Plan:
        if stopped():
            raise _Stopped
        return planner(assumed)

    delivery = discovery_delivery(setup.settings, accounting.meter.features)
    prices, terms = accounting.prices(), accounting.terms
    try:
        priced = price_session(
            plan, Assumptions(), prices, terms=terms, discovery=delivery, ranges=(delivery,)
        )
    except _Stopped:
        return None
    return verdict(priced)


class _Stopped(Exception):
    """Nobody waits for the verdict any more."""


class Verdicts:
    """The newest verdict. Pages ask in their threads; who asks the same meanwhile waits for the answer."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._question: tuple[object, ...] = ()
        self._answer: Verdict | None = None

    def of(self, session: SessionView, stopped: Callable[[], bool]) -> Verdict | None:
        """Return whether discovery pays; None without tools, and soon after `stopped` is true."""
        accounting = session.accounting
        question = (session.setup, accounting.meter, accounting.prices(), accounting.terms)
        with self._lock:
            if question != self._question:
                answer = judge(session, stopped)
                if stopped():
                    return None
                self._question, self._answer = question, answer
            return self._answer

"""The one verdict on discovery: does it pay for these servers, and from how many tools on."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from inspector.core.number import count, money, money_decimals
from inspector.session.setup.catalog_plan import catalog_planner
from inspector.session.setup.priced_session import PricedSession, discovery_delivery, price_session
from inspector.session.view import SessionView
from inspector.tokens.cost.break_even import MOST, BreakEven
from inspector.tokens.cost.delivery_cost import Delivery
from inspector.tokens.cost.plan import Assumptions, Plan


class Answer(StrEnum):
    """Whether discovery costs less than binding every tool, both with a prompt cache."""

    PAYS = "pays"
    DEPENDS = "depends"
    COSTS = "costs"


@dataclass(frozen=True, slots=True)
class Verdict:
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

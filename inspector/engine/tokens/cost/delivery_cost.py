"""What tools cost over a session by the way in which they reach the model: tokens, cache and money.

Each way makes of a plan a row of requests (`planned_request`); the requests go through a prompt cache, and
what it charges is added up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from inspector.domain.price import Prices
from inspector.domain.prompt_cache import EXPIRED, UNCACHED, CacheTerms, Charge, PromptCache
from inspector.engine.tokens.cost.plan import Plan
from inspector.engine.tokens.cost.planned_request import (
    Delivery as Delivery,
    PlannedRequest,
    planned_requests,
)

_NAMED = 3


@dataclass(frozen=True, slots=True)
class RequestCost:
    """What a request costs. `billed` are input tokens at full price, `dollars` None without prices.

    `broke` says what the cache could not use of the request before, and why; `again` are the tokens that the
    request before had cached and that had to be sent at full price, or written, again.
    """

    call: int
    charge: Charge
    billed: float
    output: int
    dollars: float | None = None
    broke: str = ""
    again: int = 0


@dataclass(frozen=True, slots=True)
class SessionCost:
    """A session under one delivery and the terms of one cache."""

    delivery: Delivery
    terms: CacheTerms
    requests: tuple[RequestCost, ...]

    @property
    def raw(self) -> int:
        """Input tokens that are sent."""
        return sum(request.charge.tokens for request in self.requests)

    @property
    def read(self) -> int:
        return sum(request.charge.read for request in self.requests)

    @property
    def written(self) -> int:
        return sum(request.charge.written for request in self.requests)

    @property
    def plain(self) -> int:
        return sum(request.charge.plain for request in self.requests)

    @property
    def billed(self) -> float:
        """What they cost, in input tokens at full price."""
        return sum(request.billed for request in self.requests)

    @property
    def output(self) -> int:
        return sum(request.output for request in self.requests)

    @property
    def dollars(self) -> float | None:
        """Input and output; None without prices."""
        costs = [request.dollars for request in self.requests if request.dollars is not None]
        return sum(costs) if len(costs) == len(self.requests) and costs else None

    @property
    def hit_rate(self) -> float:
        """The share of the input that came out of the cache (0 to 1)."""
        return self.read / self.raw if self.raw else 0.0

    @property
    def breaks(self) -> tuple[RequestCost, ...]:
        """The requests that could not use all that was cached."""
        return tuple(request for request in self.requests if request.broke)


@dataclass(frozen=True, slots=True)
class DeliveryCost:
    """A plan under one delivery, with a prompt cache and without any."""

    delivery: Delivery
    cached: SessionCost
    uncached: SessionCost


def compare(plan: Plan, terms: CacheTerms, prices: Prices | None = None) -> tuple[DeliveryCost, ...]:
    """The plan under every delivery, in the order of `Delivery`."""
    costs = []
    for delivery in Delivery:
        rows = planned_requests(plan, delivery)
        cached, uncached = (_cost(delivery, rows, each, prices) for each in (terms, UNCACHED))
        costs.append(DeliveryCost(delivery, cached, uncached))
    return tuple(costs)


def session_cost(
    plan: Plan, delivery: Delivery, terms: CacheTerms, prices: Prices | None = None
) -> SessionCost:
    """The plan under one delivery. `prices` only say what a token costs; the cache goes by `terms`."""
    return _cost(delivery, planned_requests(plan, delivery), terms, prices)


def _cost(
    delivery: Delivery, rows: Sequence[PlannedRequest], terms: CacheTerms, prices: Prices | None
) -> SessionCost:
    cache = PromptCache(terms)
    costs: list[RequestCost] = []
    before: PlannedRequest | None = None
    for row in rows:
        charge = cache.send(row.blocks, row.at)
        cost = RequestCost(
            call=row.call,
            charge=charge,
            billed=charge.billed(terms),
            output=row.output,
            dollars=None if prices is None else prices.cost(charge, terms, row.output),
        )
        if charge.broke and before is not None:
            cost = replace(cost, broke=_why(charge, before, row), again=_again(charge, before, row))
        costs.append(cost)
        before = row
    return SessionCost(delivery, terms, tuple(costs))


def _why(charge: Charge, before: PlannedRequest, row: PlannedRequest) -> str:
    """What broke the cache, in a line."""
    if charge.broke.startswith(EXPIRED):
        return charge.broke
    if before.bound == row.bound:
        return "the conversation was cut down" if row.anew else charge.broke
    added = [id_ for id_ in row.bound if id_ not in before.bound]
    removed = [id_ for id_ in before.bound if id_ not in row.bound]
    if added and removed and len(added) + len(removed) > 2 * _NAMED:
        return f"tools[]: +{len(added)} and -{len(removed)} tools"
    return "tools[]: " + ", ".join(_named("+", added) + _named("-", removed))


def _named(sign: str, ids: Sequence[str]) -> list[str]:
    more = len(ids) - _NAMED
    named = [f"{sign}{id_}" for id_ in ids[:_NAMED]]
    return [*named, f"{sign}{more} more"] if more > 0 else named


def _again(charge: Charge, before: PlannedRequest, row: PlannedRequest) -> int:
    """The tokens of what was in the request before and was not read from the cache."""
    had = {block.text for block in before.blocks}
    ends = accumulate(block.tokens for block in row.blocks)
    return sum(
        block.tokens
        for block, end in zip(row.blocks, ends, strict=True)
        if end > charge.read and block.text in had
    )

"""The cost of tools over a session by delivery, in tokens, cache charges and dollars.

Each delivery turns a plan into requests (`planned_request`); the requests go through a prompt cache, and its
charges are added up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from inspector.core.price import Prices
from inspector.core.prompt_cache import EXPIRED, UNCACHED, CacheTerms, Charge, PromptCache
from inspector.tokens.cost.plan import Plan
from inspector.tokens.cost.planned_request import Delivery as Delivery, PlannedRequest, planned_requests

_NAMED = 3


@dataclass(frozen=True, slots=True)
class RequestCost:
    """The cost of one request. `billed` is in input tokens at full price; `dollars` is None without prices.

    `definitions` and `searches` are the tokens that tools take of its input, see `PlannedRequest`.
    `broke` says which part of the previous request the cache could not reuse, and why; `again` counts the
    tokens cached by the previous request that had to be sent at full price, or written, again.
    """

    call: int
    charge: Charge
    billed: float
    output: int
    dollars: float | None = None
    broke: str = ""
    again: int = 0
    definitions: int = 0
    searches: int = 0


@dataclass(frozen=True, slots=True)
class SessionCost:
    """The cost of a session under one delivery and the terms of one cache."""

    delivery: Delivery
    terms: CacheTerms
    requests: tuple[RequestCost, ...]

    @property
    def definitions(self) -> int:
        """Tokens of definitions, manifest and summaries over all requests."""
        return sum(request.definitions for request in self.requests)

    @property
    def discovery_tokens(self) -> int:
        """The same with the searches and their results: all input because of tools."""
        return self.definitions + sum(request.searches for request in self.requests)

    @property
    def raw(self) -> int:
        """All input tokens sent."""
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
        """The cost of the input in input tokens at full price."""
        return sum(request.billed for request in self.requests)

    @property
    def output(self) -> int:
        return sum(request.output for request in self.requests)

    @property
    def dollars(self) -> float | None:
        """US dollars for input and output; None without prices."""
        costs = [request.dollars for request in self.requests if request.dollars is not None]
        return sum(costs) if len(costs) == len(self.requests) and costs else None

    @property
    def hit_rate(self) -> float:
        """The share of the input read from the cache (0 to 1)."""
        return self.read / self.raw if self.raw else 0.0

    @property
    def breaks(self) -> tuple[RequestCost, ...]:
        """The requests that could not reuse everything cached."""
        return tuple(request for request in self.requests if request.broke)


@dataclass(frozen=True, slots=True)
class DeliveryCost:
    """The cost of a plan under one delivery, with and without a prompt cache."""

    delivery: Delivery
    cached: SessionCost
    uncached: SessionCost


def compare(plan: Plan, terms: CacheTerms, prices: Prices | None = None) -> tuple[DeliveryCost, ...]:
    """The cost of the plan under every delivery, in the order of `Delivery`."""
    costs = []
    for delivery in Delivery:
        rows = planned_requests(plan, delivery)
        cached, uncached = (_cost(delivery, rows, each, prices) for each in (terms, UNCACHED))
        costs.append(DeliveryCost(delivery, cached, uncached))
    return tuple(costs)


def session_cost(
    plan: Plan, delivery: Delivery, terms: CacheTerms, prices: Prices | None = None
) -> SessionCost:
    """The cost of the plan under one delivery. `prices` give the price of a token; the cache uses `terms`."""
    return _cost(delivery, planned_requests(plan, delivery), terms, prices)


def _cost(
    delivery: Delivery, rows: Sequence[PlannedRequest], terms: CacheTerms, prices: Prices | None
) -> SessionCost:
    cache = PromptCache(terms)
    costs: list[RequestCost] = []
    before: PlannedRequest | None = None
    for row in rows:
        charge = cache.send(row.blocks, row.at, row.marks if terms.marked else None)
        cost = RequestCost(
            call=row.call,
            charge=charge,
            billed=charge.billed(terms),
            output=row.output,
            dollars=None if prices is None else prices.cost(charge, terms, row.output),
            definitions=row.definitions,
            searches=row.searches,
        )
        if charge.broke and before is not None:
            cost = replace(cost, broke=_why(charge, before, row), again=_again(charge, before, row))
        costs.append(cost)
        before = row
    return SessionCost(delivery, terms, tuple(costs))


def _why(charge: Charge, before: PlannedRequest, row: PlannedRequest) -> str:
    """What broke the cache, on one line."""
    if charge.broke.startswith(EXPIRED):
        return charge.broke
    if before.bound == row.bound:
        return "the conversation was shortened" if row.anew else charge.broke
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
    """Tokens that were in the previous request but not read from the cache."""
    had = {block.text for block in before.blocks}
    ends = accumulate(block.tokens for block in row.blocks)
    return sum(
        block.tokens
        for block, end in zip(row.blocks, ends, strict=True)
        if end > charge.read and block.text in had
    )

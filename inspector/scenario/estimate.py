"""What a race of a question will probably cost, from what the question cost in the session."""

from dataclasses import dataclass

from inspector.core.events import ModelRequested
from inspector.core.price import Prices
from inspector.session.view import SessionView


@dataclass(frozen=True, slots=True)
class Estimate:
    """Both sides together: model calls, tokens of input, and their price without answers and cache.

    `dollars` is None if the model has no price.
    """

    calls: int
    tokens: int
    dollars: float | None = None
    prices: Prices | None = None


def estimate(session: SessionView) -> Estimate | None:
    """As many calls a side as the last message took in the session; None if it took none.

    They carry the whole conversation there, and the question alone in a race: the estimate is an upper one.
    """
    calls = 0
    for record in reversed(session.records(("user", "request"))):
        if not isinstance(record.event, ModelRequested):
            break
        calls += 1
    costs = session.state.costs[-calls:] if calls else ()
    if not costs:
        return None
    found = sum(cost.parts.input for cost in costs)
    bound = sum(cost.parts.system + cost.parts.history + cost.static_tools for cost in costs)
    prices = session.accounting.prices()
    dollars = prices.input * (found + bound) if prices is not None else None
    return Estimate(2 * len(costs), found + bound, dollars, prices)

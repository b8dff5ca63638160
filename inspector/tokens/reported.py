"""What a provider reports of a model call, beside what was computed.

Until it reports there is only the computed side, and texts say so.
"""

from collections.abc import Sequence

from inspector.core.budget import Prices
from inspector.core.number import count, money
from inspector.core.prompt_cache import Charge
from inspector.core.session import CallCost


def reported_hit_rate(cost: CallCost) -> float | None:
    """The share of the reported input that was read from the cache (0 to 1); None if it is not reported."""
    if not cost.reported_input or cost.reported_read is None:
        return None
    return cost.reported_read / cost.reported_input


def reported_dollars(cost: CallCost, prices: Prices) -> float | None:
    """US dollars for the reported tokens; None until the input is reported.

    Tokens written for an hour have their own price. What the cache did counts as 0 if it is not reported.
    """
    if cost.reported_input is None:
        return None
    read, written = cost.reported_read or 0, cost.reported_written or 0
    hour = min(cost.reported_written_hour or 0, written)
    plain = max(cost.reported_input - read - written, 0)
    spent = prices.cost(Charge(read, written - hour, plain), prices.terms, cost.reported_output or 0)
    return spent + prices.cost(Charge(written=hour), prices.hour_terms or prices.terms)


def computed_dollars(cost: CallCost, prices: Prices) -> float:
    """US dollars for a call as computed, with its answer as reported or else as counted."""
    output = cost.answer if cost.reported_output is None else cost.reported_output
    return prices.cost(cost.charge, cost.terms, output)


def spent(costs: Sequence[CallCost], prices: Prices) -> tuple[str, str]:
    """What calls cost together as computed, and beside it their number and what is reported."""
    amounts = [reported_dollars(cost, prices) for cost in costs]
    told = [amount for amount in amounts if amount is not None]
    reported = f", {money(sum(told))} reported for {count(len(told), 'call')}" if told else ""
    computed = sum(computed_dollars(cost, prices) for cost in costs)
    return money(computed), f"{count(len(costs), 'call')}, computed{reported}"


def input_line(cost: CallCost) -> str:
    """The input as computed and as reported, on one line."""
    charge = cost.charge
    computed = f"computed {_input(cost.parts.input, charge.read, charge.written)}"
    if cost.reported_input is None:
        return f"{computed}; the provider reports nothing"
    return f"{computed}; reported {_input(cost.reported_input, cost.reported_read, cost.reported_written)}"


def answer_line(cost: CallCost) -> str:
    """The answer as reported; empty until it is."""
    if cost.reported_output is None:
        return ""
    thought = f", {cost.reported_reasoning:,} of them reasoning" if cost.reported_reasoning else ""
    return f"answer: {count(cost.reported_output, 'token')} reported{thought}"


def _input(tokens: int, read: int | None, written: int | None) -> str:
    cached = [
        f"{number:,} {what}" for number, what in ((read, "read"), (written, "written")) if number is not None
    ]
    return f"{tokens:,} ({', '.join(cached)})" if cached else f"{tokens:,}"

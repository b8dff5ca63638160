"""Rows and texts for the cost of each model call, and their sum."""

from collections.abc import Sequence
from dataclasses import asdict

from textual.content import Content

from inspector.app.draw.budget import fact
from inspector.app.draw.style import MUTED
from inspector.app.pages.cost.budget.money import NOTHING, price_facts
from inspector.domain.number import count, money, money_decimals, percent, signed, signed_percent, tokens
from inspector.domain.price import Prices
from inspector.domain.session import CallCost, SessionState
from widgets import Column, Record, plain

COLUMNS = (
    Column("turn", "#", align="right", weight=9),
    Column("tools", "tools", align="right", weight=9),
    Column("static", "static", align="right", weight=7),
    Column("input", "input", align="right", weight=9),
    Column("billed", "billed", align="right", weight=8),
    Column("cache", "cached", align="right", weight=6),
    Column("dollars", "cost", align="right", weight=8),
    Column("reported", "reported", align="right", weight=5),
    Column("broke", "broken by", weight=1, min_width=9),
)
EMPTY = "No model call yet. Send a message (f7): every call gets a row here."


def call_rows(costs: Sequence[CallCost], prices: Prices | None) -> tuple[Record, ...]:
    """Return one row per call, the newest first."""
    spent = [NOTHING] * len(costs)
    if prices is not None:
        amounts = [call_price(cost, prices) for cost in costs]
        decimals = money_decimals(amounts)
        spent = [money(amount, decimals) for amount in amounts]
    return tuple(_row(cost, told) for cost, told in reversed(list(zip(costs, spent, strict=True))))


def _row(cost: CallCost, spent: str) -> Record:
    cells = (
        str(cost.turn),
        tokens(cost.parts.discovery_tokens),
        tokens(cost.static_tools),
        tokens(cost.parts.input),
        tokens(round(cost.charge.billed(cost.terms))),
        percent(cost.charge.hit_rate),
        spent,
        _reported(cost),
        _broke(cost),
    )
    return Record(str(cost.turn), cells)


def call_price(cost: CallCost, prices: Prices) -> float:
    """Return a call's cost in US dollars; the answer counts only if the provider reported its tokens."""
    return prices.cost(cost.charge, cost.terms, cost.reported_output or 0)


def _reported(cost: CallCost) -> str:
    """Return the provider's input tokens, and how far they are from our count."""
    if cost.reported_input is None:
        return NOTHING
    counted = cost.parts.input
    difference = f" {signed_percent(cost.reported_input / counted - 1, 1)}" if counted else ""
    return f"{tokens(cost.reported_input)}{difference}"


def _broke(cost: CallCost) -> Content:
    if cost.charge.broke:
        return Content.assemble(("✂ ", "$text-warning"), plain(cost.charge.broke, newlines=False))
    if cost.charge.plain and not cost.charge.read and not cost.charge.written:
        return Content.styled("no cache", MUTED)
    return Content.styled("kept" if cost.charge.read else "written", MUTED)


def call_data(cost: CallCost, prices: Prices | None) -> dict[str, object]:
    """Return everything known about a call, to browse as a tree."""
    data: dict[str, object] = {
        **asdict(cost),
        "input": cost.parts.input,
        "billed": cost.charge.billed(cost.terms),
        "hit_rate": cost.charge.hit_rate,
    }
    return data if prices is None else {**data, "dollars": call_price(cost, prices)}


def call_text(cost: CallCost) -> str:
    """Return the same in words, for the top of the detail dialog."""
    lines = [
        f"{cost.parts.input:,} tokens sent, {cost.parts.discovery_tokens:,} of them for tools;"
        f" binding every tool would have taken {cost.static_tools:,}.",
        f"Read from the cache {cost.charge.read:,}, written to it {cost.charge.written:,},"
        f" neither {cost.charge.plain:,}: billed as {cost.charge.billed(cost.terms):,.0f} tokens.",
    ]
    if cost.charge.broke:
        lines.append(f"What broke the prompt cache: {cost.charge.broke}.")
    if cost.reported_input is not None:
        difference = cost.reported_input - cost.parts.input
        lines.append(f"The provider reports {cost.reported_input:,} input tokens ({signed(difference)}).")
    return "\n".join(lines)


def session_cost(session: SessionState, prices: Prices | None) -> list[Content]:
    """Return what the session has cost so far, if there are calls and prices."""
    costs = session.costs
    if not costs or prices is None:
        return []
    calls = count(len(costs), "call")
    return [fact("session", money(sum(call_price(cost, prices) for cost in costs)), calls)]


def session_money(session: SessionState, prices: Prices | None) -> list[Content]:
    """Return the totals of the calls: dollars, raw and billed tokens, hit rate, and the prices used."""
    costs = session.costs
    if not costs:
        return price_facts(prices, session.model)
    raw = sum(cost.charge.tokens for cost in costs)
    billed = sum(cost.charge.billed(cost.terms) for cost in costs)
    read = sum(cost.charge.read for cost in costs)
    return [
        *session_cost(session, prices),
        fact("raw", tokens(raw)),
        fact("billed", tokens(round(billed)), f"{percent(read / raw if raw else 0.0)} from the cache"),
        *price_facts(prices, session.model),
    ]

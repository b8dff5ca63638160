"""Rows and texts for the cost of each model call, and their sum."""

from collections.abc import Sequence
from dataclasses import asdict

from textual.content import Content

from inspector.app.draw.budget import fact
from inspector.app.draw.line import MUTED
from inspector.app.pages.cost.budget.plots import NOTHING, price_facts
from inspector.clients.finding import answer_line, input_line, reported_dollars, reported_hit_rate
from inspector.core.budget import Prices
from inspector.core.number import count, money, money_decimals, percent, signed, signed_percent, tokens
from inspector.core.session import CallCost, SessionState
from widgets import Column, Record, plain

COLUMNS = (
    Column("call", "#", align="right", weight=9),
    Column("tools", "tools", align="right", weight=9),
    Column("static", "static", align="right", weight=7),
    Column("input", "input", align="right", weight=9),
    Column("billed", "billed", align="right", weight=8),
    Column("cache", "cached", align="right", weight=6),
    Column("dollars", "cost", align="right", weight=8),
    Column("reported", "reported", align="right", weight=5),
    Column("broke", "cache lost", weight=1, min_width=9),
)
COMPUTED = "computed"
EMPTY = "No model calls yet. Send a message in Chat; each call gets a row here."


def call_rows(costs: Sequence[CallCost], prices: Prices | None) -> tuple[Record, ...]:
    """Return one row per call, the newest first."""
    spent = [NOTHING] * len(costs)
    if prices is not None:
        amounts = [call_price(cost, prices) for cost in costs]
        decimals = money_decimals(amounts)
        spent = [money(amount, decimals) for amount in amounts]
    rows = [
        _row(cost, told, None if prices is None else reported_dollars(cost, prices))
        for cost, told in zip(costs, spent, strict=True)
    ]
    return tuple(reversed(rows))


def _row(cost: CallCost, spent: str, reported: float | None) -> Record:
    cells = (
        str(cost.call),
        tokens(cost.parts.discovery_tokens),
        tokens(cost.static_tools),
        tokens(cost.parts.input),
        tokens(round(cost.charge.billed(cost.terms))),
        percent(cost.charge.hit_rate),
        spent,
        _reported(cost, reported),
        _broke(cost),
    )
    return Record(str(cost.call), cells)


def call_price(cost: CallCost, prices: Prices) -> float:
    """Return a call's computed cost in US dollars, with its answer as reported or else as counted."""
    output = cost.answer if cost.reported_output is None else cost.reported_output
    return prices.cost(cost.charge, cost.terms, output)


def _reported(cost: CallCost, dollars: float | None) -> str:
    """Return what the provider reports beside what we computed: its input, cache and cost.

    A call of which it reports nothing is labelled as computed.
    """
    if cost.reported_input is None:
        return COMPUTED
    counted = cost.parts.input
    parts = [tokens(cost.reported_input)]
    parts += [signed_percent(cost.reported_input / counted - 1, 1)] if counted else []
    rate = reported_hit_rate(cost)
    parts += [] if rate is None else [f"{percent(rate)} cached"]
    parts += [] if dollars is None else [money(dollars)]
    return " ".join(parts)


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
    if prices is None:
        return data
    return {**data, "dollars": call_price(cost, prices), "reported_dollars": reported_dollars(cost, prices)}


def call_text(cost: CallCost) -> str:
    """Return the same in words, for the top of the detail dialog."""
    lines = [
        f"{cost.parts.input:,} tokens sent, {cost.parts.discovery_tokens:,} of them for tools;"
        f" binding every tool would have taken {cost.static_tools:,}.",
        f"{_sentence(input_line(cost))} Computed bill: {cost.charge.billed(cost.terms):,.0f} tokens.",
    ]
    if cost.breakpoints is not None:
        lines.append(f"Marked for the prompt cache: {cost.breakpoints.label}.")
    lines += [_sentence(answer_line(cost))] if answer_line(cost) else []
    if cost.charge.broke:
        lines.append(f"Prompt cache lost: {cost.charge.broke}.")
    if cost.reported_input is not None:
        difference = cost.reported_input - cost.parts.input
        lines.append(f"The provider reports {cost.reported_input:,} input tokens ({signed(difference)}).")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def session_cost(session: SessionState, prices: Prices | None) -> list[Content]:
    """Return what the session has cost so far, if there are calls and prices."""
    costs = session.costs
    if not costs or prices is None:
        return []
    amounts = [reported_dollars(cost, prices) for cost in costs]
    told = [amount for amount in amounts if amount is not None]
    reported = f", {money(sum(told))} reported for {count(len(told), 'call')}" if told else ""
    calls = f"{count(len(costs), 'call')}, {COMPUTED}{reported}"
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

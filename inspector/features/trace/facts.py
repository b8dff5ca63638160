"""What model calls cost, as computed and as the provider reports it, and what a session did so far."""

from collections.abc import Iterator, Sequence

from inspector.core.budget import Prices
from inspector.core.number import count, money, percent, plural, signed, signed_percent, tokens
from inspector.core.report import NOTHING, NUMBER, SHARE, Block, Column, Fact, Facts, Table
from inspector.core.session import Binding, CallCost
from inspector.session.timeline import Lane, ModelCall, Tally, Timeline
from inspector.tokens.accounting import (
    answer_line,
    computed_dollars,
    input_line,
    reported_dollars,
    reported_hit_rate,
    spent,
)

_MILLION = 1_000_000
# The most calls that are drawn.
_DRAWN = 60
MOVED = "›"


def call_facts(cost: CallCost, prices: Prices | None) -> Facts:
    """What one model call sent, what of it came from the prompt cache, and what that cost."""
    charge, tools = cost.charge, cost.parts.discovery_tokens
    sent = f"{cost.parts.input:,} tokens, {tools:,} of them for tools"
    return Facts(
        (
            Fact("sent", f"{sent}; binding every tool would have taken {cost.static_tools:,}"),
            Fact("input", input_line(cost)),
            Fact("billed", f"{charge.billed(cost.terms):,.0f} tokens{_cached(charge.hit_rate)}"),
            *_cache(cost),
            *_reported(cost),
            *([] if prices is None else [Fact("price", _price(cost, prices))]),
        ),
        "What it cost",
    )


def _cache(cost: CallCost) -> Iterator[Fact]:
    if cost.breakpoints is not None:
        yield Fact("marked for the cache", cost.breakpoints.label)
    if cost.charge.broke:
        yield Fact("cache lost", cost.charge.broke, warns=True)


def _reported(cost: CallCost) -> Iterator[Fact]:
    """What the provider reports beside what was computed."""
    if answer := answer_line(cost):
        yield Fact("answer", answer.removeprefix("answer: "))
    if cost.reported_input is not None:
        difference = cost.reported_input - cost.parts.input
        share = f", {signed_percent(difference / cost.parts.input, 1)}" if cost.parts.input else ""
        text = f"{cost.reported_input:,} tokens of input ({signed(difference)}{share})"
        yield Fact("reported", text + _cached(reported_hit_rate(cost)))


def _cached(share: float | None) -> str:
    return "" if share is None else f", {percent(share)} from the cache"


def _price(cost: CallCost, prices: Prices) -> str:
    reported = reported_dollars(cost, prices)
    told = "" if reported is None else f", {money(reported)} as reported"
    return f"{money(computed_dollars(cost, prices))} computed{told}"


def session_facts(costs: Sequence[CallCost], prices: Prices | None, model: str) -> Facts:
    """What all model calls of a session cost, and whose prices that is by."""
    raw = sum(cost.charge.tokens for cost in costs)
    billed = sum(cost.charge.billed(cost.terms) for cost in costs)
    read = sum(cost.charge.read for cost in costs)
    known = [] if prices is None else [Fact("session", "{} ({})".format(*spent(costs, prices)))]
    return Facts(
        (
            *known,
            Fact("input", f"{tokens(raw)} tokens"),
            Fact("billed", f"{tokens(round(billed))} tokens{_cached(read / raw if raw else 0.0)}"),
            Fact("prices", price_text(prices, model)),
        ),
        "What the calls cost",
    )


def price_text(prices: Prices | None, model: str) -> str:
    """The model whose prices are used, the prices per million tokens, their source and date."""
    if prices is None:
        return "none for this model; set budget.priced_as (ctrl+o)"
    stand_in = "" if prices.model == model else "as "
    each = f"{money(prices.input * _MILLION)} in, {money(prices.output * _MILLION)} out per 1M"
    return ", ".join(filter(None, (f"{stand_in}{prices.model}: {each}", prices.source, prices.date)))


def tally_facts(tally: Tally) -> Iterator[tuple[str, str]]:
    """The counts up to a moment, by name; what is seldom stands there only if it is not zero."""
    yield "accuracy", NOTHING if tally.accuracy is None else percent(tally.accuracy)
    yield "searches", f"{tally.searches}"
    yield "loads", f"{tally.loads}"
    yield "evictions", f"{tally.evictions}"
    yield "rejections", f"{tally.rejections}"
    yield "recoveries", f"{tally.recoveries}"
    if tally.refusals:
        yield "refused by you", f"{tally.refusals}"


# A session's timeline: what each model call did, and which tools were bound when, and why.

_CALLS = (
    Column("call", "number", NUMBER),
    Column("message", kind=NUMBER),
    Column("tool tokens", "tool_tokens", NUMBER),
    Column("same", kind=NUMBER),
    Column("resent", kind=NUMBER),
    Column("accuracy", "tally.accuracy", SHARE),
    Column("what it did", lambda call: _did(call)),
)
_MOVES = (
    Column("before call", "call", NUMBER),
    Column("#", "seq", NUMBER),
    Column("tool"),
    Column("from", "binding_from"),
    Column("to", lambda move: move.binding_to or "gone"),
    Column("why", lambda move: move.reason or move.cause),
)


def timeline_report(session: str, shown: Timeline, *, drawn: bool = False) -> Iterator[Block]:
    """Which tools were bound in each model call of a session, and every change.

    It is `drawn` where there is room: a row a tool, a column a call.
    """
    yield f"session {session}   {count(len(shown.calls), shown.kind)}"
    if shown.calls:
        yield ""
        yield Table.of(_CALLS, shown.calls)
    if drawn and (asked := {call.message: call.said for call in shown.calls if call.said}):
        yield Facts(tuple(Fact(f"message {number}", said) for number, said in asked.items()), "Messages")
    if drawn and shown.calls and shown.lanes:
        yield _drawn(shown)
    yield ""
    for binding, tools in shown.rest(shown.now).items():
        if tools:
            yield f"{tools:,} {plural(tools, 'tool was', 'tools were')} {binding} throughout"
    moves = [move for column in range(1, shown.now + 1) for move in shown.moves_at(column)]
    if not moves:
        yield "No tool was bound or unbound."
        return
    yield ""
    yield Table.of(_MOVES, moves)
    yield ", ".join(f"{name} {text}" for name, text in tally_facts(shown.tally(shown.now)))


def _drawn(shown: Timeline) -> Table:
    """A sign for the binding of each tool in each of the newest calls, and at the end."""
    first = max(shown.now - _DRAWN, 1)
    columns = range(first, shown.now + 1)
    heads = ("tool", *(str(column) if column < shown.now else "end" for column in columns))

    def cells(lane: Lane) -> Iterator[str]:
        for binding, moved in lane.states(first, len(columns)):
            sign = binding.sign if binding is not None else ""
            yield f"{sign}{MOVED}" if moved else sign

    rows = tuple((lane.tool, *cells(lane)) for lane in shown.lanes)
    signs = "  ".join(f"{binding.sign} {binding}" for binding in Binding)
    note = f"{signs}  {MOVED} moved before that call"
    return Table(f"Tools by {shown.kind}", heads, rows, notes=(note,))


def _did(call: ModelCall) -> str:
    did = (filter(None, (action.kind, action.text, action.arguments)) for action in call.actions)
    return "\n".join(map("  ".join, did)) or ("thought" if call.think else "")

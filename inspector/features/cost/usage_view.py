"""What every model call of the session cost: a row each, their sum, and a plot against static binding."""

from collections.abc import Sequence
from dataclasses import asdict

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from inspector.app.dialogs.detail import DetailScreen
from inspector.app.draw.budget import fact, flow
from inspector.app.draw.header import Canvas
from inspector.app.draw.line import MUTED
from inspector.app.draw.plot import Curve, Scale, plot, round_above
from inspector.core.budget import Prices
from inspector.core.number import count, money, money_decimals, percent, signed, signed_percent, tokens
from inspector.core.report import NOTHING
from inspector.core.session import CallCost, SessionState
from inspector.tokens.reported import answer_line, input_line, reported_dollars, reported_hit_rate
from widgets import Column, Record, RecordList, plain, visible

_MILLION = 1_000_000


def price_facts(prices: Prices | None, model: str) -> list[Content]:
    """Return the model whose prices are used, the prices per million tokens, their source and date."""
    if prices is None:
        return [Content.styled("no prices for this model; set budget.priced_as (ctrl+o)", MUTED)]
    stand_in = "" if prices.model == model else "as "
    name = visible(prices.model, limit=60, newlines=False)
    source = visible(" ".join(filter(None, (prices.source, prices.date))), limit=90, newlines=False)
    each = f"{money(prices.input * _MILLION)} in, {money(prices.output * _MILLION)} out per 1M"
    told = [f"priced {stand_in}{name}: {each}", *([source] if source else [])]
    return [Content.styled(text, MUTED) for text in told]


_DISCOVERY, _STATIC = "$success", "$foreground 60%"
# The legend, and the axis with its numbers.
_AROUND = 3
_LEAST = 3
_LEAST_TOP = 10.0
NO_PLOT = "No model calls yet. Send a message in Chat; each call is plotted here next to static binding."


def call_plot(costs: Sequence[CallCost], width: int, height: int) -> Content:
    """Return the plot with its legend in `height` lines, or what to do if there is nothing to plot."""
    if not costs:
        return Content.styled(NO_PLOT, MUTED)
    spent = [float(cost.parts.discovery_tokens) for cost in costs]
    static = [float(cost.static_tools) for cost in costs]
    scale = Scale(round_above(max(*spent, *static, _LEAST_TOP)), lambda value: tokens(round(value)))
    curves = (Curve("D", spent, _DISCOVERY), Curve("S", static, _STATIC, drawn=3, period=5))
    lines = max(height - _AROUND, _LEAST)
    drawn = plot(curves, costs[0].call, costs[-1].call, width, lines, scale)
    legend = Content.assemble(
        ("D", f"bold {_DISCOVERY}"),
        f" with discovery {tokens(costs[-1].parts.discovery_tokens)}   ",
        ("S", f"bold {_STATIC}"),
        f" static {tokens(costs[-1].static_tools)}   ",
        ("tool tokens per model call", MUTED),
    )
    return Content("\n").join([legend.truncate(width, ellipsis=True), *drawn])


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
NO_CALLS = "No model calls yet. Send a message in Chat; each call gets a row here."


def call_rows(costs: Sequence[CallCost], prices: Prices | None) -> tuple[Record, ...]:
    """Return one row per call, the newest first."""
    spent = [NOTHING] * len(costs)
    if prices is not None:
        amounts = [call_price(cost, prices) for cost in costs]
        decimals = money_decimals(amounts)
        spent = [money(amount, decimals) for amount in amounts]
    rows = [_row(cost, told, prices) for cost, told in zip(costs, spent, strict=True)]
    return tuple(reversed(rows))


def _row(cost: CallCost, spent: str, prices: Prices | None) -> Record:
    cells = (
        str(cost.call),
        tokens(cost.parts.discovery_tokens),
        tokens(cost.static_tools),
        tokens(cost.parts.input),
        tokens(round(cost.charge.billed(cost.terms))),
        percent(cost.charge.hit_rate),
        spent,
        _reported(cost, None if prices is None else reported_dollars(cost, prices)),
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
    answer = answer_line(cost)
    lines += [_sentence(answer)] if answer else []
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


class CallsView(Vertical):
    """Draws what every call cost."""

    _session = SessionState()
    _prices: Prices | None = None

    def compose(self) -> ComposeResult:
        yield Canvas(
            lambda width, _: flow(session_money(self._session, self._prices), width), id="calls-money"
        )
        yield Canvas(lambda *size: call_plot(self._session.costs, *size), id="calls-plot")
        yield RecordList(COLUMNS, header=True, empty=NO_CALLS, id="calls-table")

    def show(self, session: SessionState, prices: Prices | None) -> None:
        """Draw the session at this moment."""
        self._session, self._prices = session, prices
        self.set_class(not session.costs, "-empty")
        self.query_one("#calls-table", RecordList).records = call_rows(session.costs, prices)
        for canvas in self.query(Canvas):
            canvas.redraw()

    @on(RecordList.Selected, "#calls-table")
    def _open_call(self, event: RecordList.Selected) -> None:
        event.stop()
        cost = next((cost for cost in self._session.costs if str(cost.call) == event.key), None)
        if cost is not None:
            data = call_data(cost, self._prices)
            self.app.push_screen(DetailScreen(f"Model call {cost.call}", call_text(cost), data))

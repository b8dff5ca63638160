"""The six ways to deliver tools, compared in a thread: tokens, cache, money, and what broke the cache."""

from collections.abc import Sequence

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from inspector.app.base_screen import verdict_text
from inspector.app.context import InContext
from inspector.app.draw.budget import fact, flow
from inspector.app.draw.header import Canvas
from inspector.app.draw.line import MUTED, failure_text
from inspector.cli.composition import lent
from inspector.core.budget import Prices
from inspector.core.events import Record as EventRecord
from inspector.core.number import bar, count, tokens
from inspector.core.prompt_cache import CacheTerms
from inspector.core.report import NOTHING
from inspector.features.cost.facts import (
    ABOUT,
    MEASURES,
    SkillCost,
    break_even_cells,
    measures,
    skill_costs,
    skills_text,
)
from inspector.session.setup import Setup, catalog_planner
from inspector.session.verdict import PricedSession, discovery_delivery, own_delivery, price_session, verdict
from inspector.tokens.cost import Delivery, DeliveryCost, RequestCost
from inspector.tokens.measure import BudgetMeter
from inspector.tokens.plan import Assumptions, Plan, plan_of
from widgets import Column, Record, RecordList, visible


class DeliveryComparison(Struct, frozen=True):
    """The costs of the six ways; `own` is the way in use. `skills` are the lists of clients."""

    priced: PricedSession
    own: Delivery
    is_recorded: bool
    skills: Sequence[SkillCost] = ()


class Question(Struct, frozen=True):
    """What to compare: the `records` of a session, or none for an assumed session over the setup's tools."""

    setup: Setup
    meter: BudgetMeter
    prices: Prices | None
    terms: CacheTerms
    records: Sequence[EventRecord] = ()

    def answer(self) -> DeliveryComparison | None:
        """Price the plan under every way, with its break-even ranges: a second or two, in any thread.

        None without tools.
        """
        if not self.setup.connected:
            return None
        own = own_delivery(self.setup.settings, self.meter.features)
        is_recorded = plan_of(self.records) is not None
        priced = self._priced(is_recorded)
        lists = lent("skill lists")(self.setup.configuration, None, self.meter.text)
        return DeliveryComparison(priced, own, is_recorded, skill_costs(priced, lists))

    def _priced(self, is_recorded: bool) -> PricedSession:
        future = catalog_planner(self.setup, self.meter)

        def plans(assumed: Assumptions) -> Plan:
            recorded = plan_of(self.records, assumed, self.meter.text) if is_recorded else None
            return recorded or future(assumed)

        return price_session(
            plans,
            Assumptions(),
            self.prices,
            terms=self.terms,
            discovery=discovery_delivery(self.setup.settings, self.meter.features),
            ranges=tuple(Delivery),
        )


_BAR = 16
# The measures as columns: their weight, and the width of a terminal below which they are hidden.
_MEASURES = (
    ("definitions", 6, 112),
    ("tools", 6, 112),
    ("raw", 8, None),
    ("plain", 8, None),
    ("billed", 7, None),
    ("hit", 7, None),
    ("money", 9, None),
    ("step", 6, 112),
)
COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("way", "strategy", width=15, weight=9),
    Column("about", "sends", weight=3, hide_below=150),
    *(
        Column(key, header, align="right", weight=weight, hide_below=least)
        for (key, weight, least), header in zip(_MEASURES, MEASURES, strict=False)
    ),
    Column("even", "cheaper from", align="right", weight=8),
    Column("bar", "cost with cache", width=_BAR, hide_below=150),
    Column("breaks", "breaks", align="right", weight=5, hide_below=96),
)
WAITING = "Comparing six strategies …"
EMPTY = "No tools to load yet: no server is ready (see Tools)."


def way_rows(comparison: DeliveryComparison) -> tuple[Record, ...]:
    """Return one row per way; ★ is the cheapest with a cache, ● the one in use."""
    session = comparison.priced
    costs = {cost.delivery: cost.cached.worth for cost in session.costs}
    best = min(costs, key=lambda delivery: costs[delivery])
    most = max(costs.values())
    return tuple(
        _row(cost, comparison, best, costs[cost.delivery] / most if most else 0.0) for cost in session.costs
    )


def _row(cost: DeliveryCost, comparison: DeliveryComparison, best: Delivery, share: float) -> Record:
    way = cost.delivery
    marks = {comparison.own: Content.styled("●", "$text-success"), best: Content.styled("★", "$text-accent")}
    cells = (
        marks.get(way, ""),
        f"{way.value}{' (in use)' if way is comparison.own else ''}",
        Content.styled(ABOUT[way], MUTED),
        *list(measures(comparison.priced, cost).values())[:-1],
        _even(way, comparison),
        Content.styled(bar(share, _BAR), "$success" if way is best else "$primary"),
        str(len(cost.cached.breaks)),
    )
    return Record(way.value, cells, search=f"{way.value} {ABOUT[way]}", copy=f"{way.value}: {ABOUT[way]}")


def _even(way: Delivery, comparison: DeliveryComparison) -> str:
    found = (comparison.priced.break_evens or {}).get(way)
    if way is Delivery.STATIC or found is None:
        return NOTHING
    usual, low, high = break_even_cells(found)
    return usual if low == high else f"{usual} ({low}–{high})"


def way_facts(comparison: DeliveryComparison) -> list[Content]:
    """Return what is compared, over which calls and with which cache."""
    basis = "this session's calls" if comparison.is_recorded else comparison.priced.plan.basis
    found = verdict(comparison.priced)
    return [
        *([] if found is None else [verdict_text(found.answer, found.text)]),
        fact("over", visible(basis, limit=120, newlines=False)),
        *([] if comparison.is_recorded else [fact("with", comparison.priced.assumed.text)]),
        *([fact("lists of skills", skills_text(comparison.skills))] if comparison.skills else []),
        Content.styled(
            "cheaper from: how many tools a strategy needs to beat static, both cached (range)", MUTED
        ),
    ]


def way_detail(comparison: DeliveryComparison, way: Delivery, lines: int) -> Content:
    """Return what a way is and every call that broke its cache, in at most that many lines."""
    cost = comparison.priced.of(way)
    detail = [Content.assemble((way.value, "bold"), f": {ABOUT[way]}")]
    breaks = cost.cached.breaks
    if not breaks:
        detail.append(Content.styled("✓ The cache was never lost.", "$text-success"))
    room = max(lines - 1, 1)
    shown = breaks if len(breaks) <= room else breaks[: room - 1]
    detail += [_break(request) for request in shown]
    if len(shown) < len(breaks):
        detail.append(Content.styled(f"… and {count(len(breaks) - len(shown), 'more call')}", MUTED))
    return Content("\n").join(detail)


def _break(request: RequestCost) -> Content:
    again = f", {tokens(request.again)} tokens resent" if request.again else ""
    return Content.assemble(
        ("✂ ", "$text-warning"),
        f"call {request.call}: {visible(request.broke, limit=300, newlines=False)}",
        (again, MUTED),
    )


class WaysView(InContext, Vertical):
    """Compares in a thread; an answer to an older question is dropped."""

    _question: Question | None = None
    _found: DeliveryComparison | None = None

    def compose(self) -> ComposeResult:
        yield Canvas(self._facts, id="ways-facts")
        yield RecordList(COLUMNS, header=True, empty=WAITING, id="ways-table")
        yield Canvas(self._detail, id="ways-detail")

    def _facts(self, width: int, _height: int) -> Content:
        return flow(way_facts(self._found), width) if self._found is not None else Content("")

    def ask(self, question: Question) -> None:
        """Compare, unless this question was the last one asked."""
        if question == self._question:
            return
        self._question = question

        def failed(error: Exception) -> None:
            self._show(None, failure_text(error)[1])

        self.run_job("ways", lambda _: question.answer(), self._show, failed=failed)

    def _show(self, found: DeliveryComparison | None, empty: str = EMPTY) -> None:
        self._found, table = found, self.query_one("#ways-table", RecordList)
        table.empty = empty
        table.records = way_rows(found) if found is not None else ()
        if found is not None:
            table.move_to(found.own.value)
        self._redraw()

    @on(RecordList.Highlighted, "#ways-table")
    def _redraw(self) -> None:
        for canvas in self.query(Canvas):
            canvas.redraw()

    def _detail(self, _width: int, height: int) -> Content:
        current = self.query_one("#ways-table", RecordList).current
        if self._found is None or current is None:
            return Content("")
        return way_detail(self._found, Delivery(current.key), height)

"""The budget page: what the servers cost, what discovery saves, and the alternatives."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import ContentSwitcher

from inspector.app.base_screen import HeaderLine
from inspector.app.context import InContext
from inspector.app.dialogs.detail import DetailScreen
from inspector.app.draw.budget import flow
from inspector.app.draw.header import Canvas
from inspector.app.draw.line import failure_text
from inspector.app.job import Job
from inspector.app.pages.cost.budget import calls, ways
from inspector.app.pages.cost.budget.delivery_comparison import CACHES, DeliveryComparison, Question
from inspector.app.pages.cost.budget.now_view import NowView
from inspector.app.pages.cost.budget.plots import call_plot
from inspector.app.pages.cost.budget.trial_screen import TrialScreen
from inspector.app.place import other_view
from inspector.app.stream import View
from inspector.core.budget import Prices, ToolCost
from inspector.core.session import SessionState
from inspector.tokens.cost import Delivery
from widgets import KeyBar, RecordList

# The ways to deliver tools, each with the cost of the session's calls.


class WaysView(InContext, Vertical):
    """Compares in a thread; an answer to an older question is dropped."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._question: Question | None = None
        self._found: DeliveryComparison | None = None

    def compose(self) -> ComposeResult:
        yield Canvas(self._facts, id="ways-facts")
        yield RecordList(ways.COLUMNS, header=True, empty=ways.WAITING, id="ways-table")
        with Container(id="ways-below"):
            yield Canvas(self._detail, id="ways-detail")
            yield Canvas(self._plot, id="ways-plot")

    def ask(self, question: Question) -> None:
        """Compare, unless this question was the last one asked."""
        if question == self._question:
            return
        self._question = question
        self.run_job("ways", lambda _: _answered(question), self._compared, failed=self._not_compared)

    def _compared(self, found: DeliveryComparison | None) -> None:
        self._found = found
        self._show("")

    def _not_compared(self, error: Exception) -> None:
        self._found = None
        self._show(failure_text(error)[1])

    def _show(self, problem: str) -> None:
        table = self.query_one("#ways-table", RecordList)
        table.empty = problem or ways.EMPTY
        table.records = ways.way_rows(self._found) if self._found is not None else ()
        if self._found is not None:
            table.move_to(self._found.own.value)
        self._redraw()

    @on(RecordList.Highlighted, "#ways-table")
    def _redraw(self) -> None:
        for canvas in self.query(Canvas):
            canvas.redraw()

    def _facts(self, width: int, _height: int) -> Content:
        return flow(ways.way_facts(self._found), width) if self._found is not None else Content("")

    def _detail(self, _width: int, height: int) -> Content:
        current = self.query_one("#ways-table", RecordList).current
        if self._found is None or current is None:
            return Content("")
        return ways.way_detail(self._found, Delivery(current.key), height)

    def _plot(self, width: int, height: int) -> Content:
        return ways.way_plot(self._found, width, height) if self._found is not None else Content("")


def _answered(question: Question) -> DeliveryComparison | None:
    """Return the comparison, or None without tools."""
    return question.answer() if question.setup.connected else None


# The model calls of the session: totals, a plot against static binding, and a row for each.


class CallsView(Vertical):
    """Draws what every call cost."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._session = SessionState()
        self._prices: Prices | None = None

    def compose(self) -> ComposeResult:
        yield Canvas(self._money, id="calls-money")
        yield Canvas(lambda *size: call_plot(self._session.costs, *size), id="calls-plot")
        yield RecordList(calls.COLUMNS, header=True, empty=calls.EMPTY, id="calls-table")

    def show(self, session: SessionState, prices: Prices | None) -> None:
        """Draw the session at this moment."""
        self._session, self._prices = session, prices
        self.set_class(not session.costs, "-empty")
        self.query_one("#calls-table", RecordList).records = calls.call_rows(session.costs, prices)
        for canvas in self.query(Canvas):
            canvas.redraw()

    def _money(self, width: int, _height: int) -> Content:
        return flow(calls.session_money(self._session, self._prices), width)

    @on(RecordList.Selected, "#calls-table")
    def _open_call(self, event: RecordList.Selected) -> None:
        event.stop()
        cost = next((cost for cost in self._session.costs if str(cost.call) == event.key), None)
        if cost is not None:
            data = calls.call_data(cost, self._prices)
            self.app.push_screen(DetailScreen(f"Model call {cost.call}", calls.call_text(cost), data))


_NOW, _WAYS = "budget", "ways"
_VIEW_OF = {
    **dict.fromkeys(("defer", "pin", "other_model", "other_toolset", "reset", "apply", "open_all"), _NOW),
    **dict.fromkeys(("why", "edit_tool", "load"), _NOW),
    **dict.fromkeys(("other_cache", "other_plan"), _WAYS),
}


class BudgetScreen(TrialScreen):
    """Three views: the next request, the model calls so far, and the ways to deliver tools."""

    page = "budget"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#budget-table RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "usage/budget", id="page.view"),
        Binding("o", "open_all", "open all", id="budget.open"),
        Binding("c", "other_cache", "other cache", id="budget.cache"),
        Binding("b", "other_plan", "session/assumed", id="budget.plan"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Budget: how much of the window the next request fills, tight beyond ┊. Static binds every tool.",
        "ρ: the share of the request that is the task itself (history), not system prompt or tools.",
        "Tool tokens so far: the tokens spent on tools in all calls, next to those of static binding.",
        "The table lists servers and tools by cost. enter opens a server or a tool, o opens all servers.",
        "chars/4 is the usual estimate; error is how far it is from the real count.",
        "What if: d defers or binds a server, P pins a tool, m changes the model, u the toolset. The line",
        "shows the first call and a session, before → after. Nothing changes until you press a; 0 resets.",
        "v shows usage: tokens, cache and cost per call; enter opens a call. ✂: why the cache was lost.",
        "Strategies: the same calls under all five. c changes the cache, b toggles an assumed session.",
        "Dollar amounts include searches and use prompt cache prices.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._counted: tuple[object, ...] = ()
        self._cache = 0
        self._assumed = False

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        with ContentSwitcher(initial=_view(_NOW), id="budget-views"):
            yield NowView(id=_view(_NOW))
            yield CallsView(id=_view("calls"))
            yield WaysView(id=_view(_WAYS))
        yield KeyBar()

    def show_view(self, view: View) -> None:
        self.query_one(NowView).show(view.state, self.prices)
        self.query_one(CallsView).show(view.state, self.prices)
        self._count_again()
        self.show_effect()
        self._compare()

    def _count_again(self) -> None:
        """Count every tool's parts again if catalog, tokenizer or model changed."""
        key = (self.session.accounting.meter, self.session.catalog, self.session.state.model)
        if key != self._counted:
            self._counted = key
            self.run_job("budget", self._count, self.query_one(NowView).show_costs)

    def _count(self, job: Job) -> Mapping[str, ToolCost]:
        """Runs in a thread; prices come first, because they are known at once."""
        accounting, tools = self.session.accounting, self.session.catalog.tools
        job.tell(partial(self._priced, accounting.prices()))
        costs: dict[str, ToolCost] = {}
        for tool in tools:
            if job.stopped():
                break
            costs[tool.id] = accounting.cost(tool)
        return costs

    def _priced(self, prices: Prices | None) -> None:
        if prices != self.prices:
            self.prices = prices
            self.show_view(self.view)

    def _compare(self) -> None:
        """Compare the ways, if their view is open."""
        if self.page != _WAYS:
            return
        accounting = self.session.accounting
        has_calls = bool(self.session.state.costs) and not self._assumed
        question = Question(
            self.session.setup,
            accounting.meter,
            self.prices,
            accounting.terms,
            tuple(self.session.records()) if has_calls else (),
            CACHES[self._cache],
        )
        self.query_one(WaysView).ask(question)

    def action_other_cache(self) -> None:
        """Compare under the terms of another prompt cache."""
        self._cache = (self._cache + 1) % len(CACHES)
        self._compare()

    def action_other_plan(self) -> None:
        """Switch between an assumed session and this session's calls."""
        if not self.session.state.costs:
            self.notify("No model calls yet, so only an assumed session can be compared.", markup=False)
            return
        self._assumed = not self._assumed
        self._compare()

    def action_open_all(self) -> None:
        """Expand every server, or collapse them all."""
        self.query_one(NowView).toggle_all()

    def show_page(self, page: str) -> None:
        """Switch to another view and focus its list."""
        if page == self.page:
            return
        self.page = page
        self.query_one(ContentSwitcher).current = _view(page)
        self.query_one(f"#{_view(page)} RecordRows").focus()
        self.redraw_header()
        self.refresh_bindings()
        self._compare()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the keys of the open view."""
        if action in _VIEW_OF and self.is_mounted:
            if self.page != _VIEW_OF[action]:
                return False
            if action in ("apply", "reset"):
                return self.is_trying
        if action == "other_view":
            return bool(other_view(self.page))
        return super().check_action(action, parameters)

    @on(RecordList.Selected, "#budget-table")
    def _open_tool(self, event: RecordList.Selected) -> None:
        self.open_tool(event.key)


def _view(page: str) -> str:
    """Return the id of the view that shows a page."""
    return f"view-{page}"

"""The budget now: a headline, the window, the what-if, and the table of costs."""

from collections.abc import Callable, Mapping

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from inspector.app.draw import budget as present
from inspector.app.draw.header import Canvas
from inspector.app.pages.cost.budget import table
from inspector.app.pages.cost.budget.calls import session_cost
from inspector.app.pages.cost.budget.change import headline, hint
from inspector.app.pages.cost.budget.plots import call_plot
from inspector.app.verdict_line import VerdictLine
from inspector.core.budget import Prices, ToolCost
from inspector.core.session import Binding, SessionState
from widgets import Meter, Record, RecordList

# Lines of the page in a small terminal that are not table rows.
_ABOVE = 18
_NO_TOOLS = "No tools yet: no server is ready (see Tools)."


class NowView(Vertical):
    """Draws a session's budget and the costs of its tools, as far as they are counted."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._session = SessionState()
        self._prices: Prices | None = None
        self._opened: frozenset[str] | None = None
        self._costs: Mapping[str, ToolCost] = {}
        self._then: Mapping[str, Binding | None] | None = None
        self._effect: Callable[[int], Content] = hint

    def compose(self) -> ComposeResult:
        yield Canvas(lambda width, _: headline(self._session, width), id="budget-headline")
        yield VerdictLine(id="budget-verdict")
        with Horizontal(id="budget-top"):
            with Vertical(id="budget-window"):
                yield Meter(tick=0.7, id="budget-meter")
                yield Canvas(self._legend, id="budget-legend")
                yield Canvas(self._facts, id="budget-facts")
            yield Canvas(lambda *size: call_plot(self._session.costs, *size), id="now-plot")
        yield Canvas(lambda width, _: self._effect(width), id="budget-effect")
        yield RecordList(table.COLUMNS, header=True, empty=_NO_TOOLS, id="budget-table")

    def on_mount(self) -> None:
        self.query_one("#budget-table").border_title = "If every tool were bound"
        self.watch(self.query_one("#budget-table"), "filter_text", self._show_rows, init=False)

    def show(self, session: SessionState, prices: Prices | None) -> None:
        """Draw the session at this moment."""
        self._session, self._prices = session, prices
        if self._opened is None and session.tools:
            self._opened = table.opened_at_first(session, self.app.size.height - _ABOVE)
        self.query_one(VerdictLine).look()
        self._show()
        self._show_rows()

    def show_costs(self, costs: Mapping[str, ToolCost]) -> None:
        """Fill in the costs by part."""
        self._costs = costs
        self._show_rows()

    def show_effect(
        self, effect: Callable[[int], Content], then: Mapping[str, Binding | None] | None
    ) -> None:
        """Show the what-if, in words (for a given width) and in the rows."""
        self._effect = effect
        self.query_one("#budget-effect", Canvas).redraw()
        self.set_class(then is not None, "-trying")
        if then != self._then:
            self._then = then
            self._show_rows()

    @property
    def current(self) -> Record | None:
        """The row under the cursor."""
        return self.query_one("#budget-table", RecordList).current

    def toggle(self, server: str) -> None:
        """Expand or collapse a server; the cursor goes to its row."""
        self._opened = (self._opened or frozenset()) ^ {server}
        self._show_rows()
        self.query_one("#budget-table", RecordList).move_to(table.server_key(server))

    def toggle_all(self) -> None:
        """Expand every server, or collapse all if all are expanded."""
        every = table.servers_of(self._session.tools.values())
        self._opened = frozenset() if self._opened == every else every
        self._show_rows()

    def _show(self) -> None:
        budget = self._session.budget
        if budget is not None:
            meter = self.query_one(Meter)
            meter.segments, meter.total = present.segments(budget.parts), float(budget.window)
            meter.tick, meter.label = budget.warn_at, present.window_label(budget)
        for canvas in self.query(Canvas):
            canvas.redraw()

    def _legend(self, width: int, _height: int) -> Content:
        budget = self._session.budget
        return present.flowing_legend(present.segments(budget.parts), width) if budget else Content("")

    def _facts(self, width: int, _height: int) -> Content:
        session, budget = self._session, self._session.budget
        counted = [present.counted_by(budget)] if budget is not None else []
        facts = [*counted, *present.facts(session), *session_cost(session, self._prices)]
        return present.flow(facts, width)

    def _show_rows(self) -> None:
        records = self.query_one("#budget-table", RecordList)
        opened = self._opened or frozenset()
        if records.filter_text:
            opened = table.servers_of(self._session.tools.values())
        shown = table.Shown(opened, self._costs, self._then)
        records.records = table.budget_rows(self._session, shown)

    @on(RecordList.Selected, "#budget-table")
    def _open_server(self, event: RecordList.Selected) -> None:
        if table.is_server(event.key):
            event.stop()
            self.toggle(table.server_of(event.key))

"""The model calls of the session: totals, a plot against static binding, and a row for each."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from inspector.app.dialogs.detail import DetailScreen
from inspector.app.draw.budget import flow
from inspector.app.draw.canvas import Canvas
from inspector.app.pages.cost.budget import calls
from inspector.app.pages.cost.budget.plots import call_plot
from inspector.domain.price import Prices
from inspector.domain.session import SessionState
from widgets import RecordList


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

"""The ways to deliver tools, each with the cost of the session's calls."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from inspector.app.context import InContext
from inspector.app.draw.budget import flow
from inspector.app.draw.canvas import Canvas
from inspector.app.draw.failure import failure_text
from inspector.app.pages.cost.budget import ways
from inspector.app.pages.cost.budget.delivery_comparison import DeliveryComparison, Question
from inspector.engine.tokens.cost.delivery_cost import Delivery
from widgets import RecordList


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

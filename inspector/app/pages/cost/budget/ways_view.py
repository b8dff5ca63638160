"""The ways to deliver tools, each with what the session's calls would cost."""

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message

from inspector.app.draw.budget import flow
from inspector.app.draw.canvas import Canvas
from inspector.app.pages.cost.budget import ways
from inspector.app.pages.cost.budget.comparison import Comparison, Question
from inspector.domain.error import ToolsightError
from inspector.engine.tokens.cost.delivery_cost import Delivery
from widgets import RecordList


class WaysView(Vertical):
    """Compares in a thread; an answer to an older question is dropped."""

    class Compared(Message):
        """From the thread: the answer, or what is wrong."""

        def __init__(self, number: int, found: Comparison | None, problem: str) -> None:
            super().__init__()
            self.number = number
            self.found = found
            self.problem = problem

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._question: Question | None = None
        self._found: Comparison | None = None
        self._number = 0

    def compose(self) -> ComposeResult:
        yield Canvas(self._facts, id="ways-facts")
        yield RecordList(ways.COLUMNS, header=True, empty=ways.WAITING, id="ways-table")
        with Container(id="ways-below"):
            yield Canvas(self._detail, id="ways-detail")
            yield Canvas(self._plot, id="ways-plot")

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)

    def ask(self, question: Question) -> None:
        """Compare, unless that is what was compared last."""
        if question == self._question:
            return
        self._question = question
        self._number += 1
        self._compare(self._number, question)

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _compare(self, number: int, question: Question) -> None:
        found, problem = None, ""
        if question.setup.connected:
            try:
                found = question.answer()
            except ToolsightError as error:
                problem = error.message
        self.post_message(self.Compared(number, found, problem))

    @on(Compared)
    def _compared(self, event: Compared) -> None:
        event.stop()
        if event.number == self._number:
            self._found = event.found
            self._show(event.problem)

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

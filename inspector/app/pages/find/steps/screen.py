"""A request of several steps: one search for all of it beside one search per step."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from inspector.app.base_screen import HeaderLine
from inspector.app.draw.failure import failure_line
from inspector.app.pages.find.query_screen import QueryScreen
from inspector.app.pages.find.steps import content
from inspector.engine.discovery.explanation.steps import Steps, by_step
from widgets import KeyBar, RecordList

_EMPTY = "No search returns a tool. esc goes back, to rephrase the query."


class StepsScreen(QueryScreen):
    """The results of the whole request and of its steps, as columns."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#results RecordRows"
    own_action = "steps"
    help_lines: ClassVar[tuple[str, ...]] = (
        "The query is split into steps at sentence ends, at `then`, and at `and` before a verb.",
        "A cell is the tool's rank in that search, or – if it is not among the results.",
        "▲ found only by the steps: what a model misses when it searches for everything at once.",
        "▼ found only by the whole: what is lost when each step is searched on its own.",
        "w explains the tool's rank in the whole request, e edits the tool, enter opens it.",
    )

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(content.waiting(self.request.query), id="searches")
        yield RecordList(content.columns(1), header=True, empty="searching …", id="results")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#results").border_title = "Results"
        self._search()

    @property
    def tool_id(self) -> str:
        current = self.query_one("#results", RecordList).current
        return current.key if current is not None else ""

    def _search(self) -> None:
        rankers, ranker, rules = self.retrieval.rankers, self.retrieval.ranker_name, self.retrieval.rules
        query = self.request.query

        def show(found: Steps) -> None:
            facts = content.searches(found, ranker, rules.limit, rules.threshold)
            self.query_one("#searches", Static).update(facts)
            self._show(found)

        self.run_job("steps", lambda _: by_step(rankers, ranker, query, rules), show, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self.query_one("#searches", Static).update(failure_line(error))

    def _show(self, found: Steps) -> None:
        results = self.query_one("#results", RecordList)
        results.empty = _EMPTY
        results.columns = content.columns(len(found.steps))
        results.records = content.rows(found)

    @on(RecordList.Selected, "#results")
    def _open(self, event: RecordList.Selected) -> None:
        self.open_tool(event.key)

"""A request of several steps: one search for all of it beside one search per step."""

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.line import failure_line
from inspector.app.pages.find.pane import Pane, Topic
from inspector.app.pages.find.steps import content
from inspector.search.explanation.standing import Steps, by_step
from widgets import RecordList

_EMPTY = "No search returned a tool. Press i to rephrase the query."
_NO_QUERY = "Search first: press i, type a query and press enter."


class StepsPane(Pane):
    """The results of the whole request and of its steps, as columns."""

    first = ("#step-results RecordRows",)

    def __init__(self) -> None:
        super().__init__(id="steps")
        self._shown: object = None

    def compose(self) -> ComposeResult:
        yield Static(id="searches")
        yield RecordList(content.columns(1), header=True, empty=_NO_QUERY, id="step-results")

    @property
    def tool_id(self) -> str:
        current = self.query_one("#step-results", RecordList).current
        return current.key if current is not None else ""

    def show(self, topic: Topic) -> None:
        retrieval, query = self.retrieval, topic.request.query
        rankers, ranker, rules = retrieval.rankers, retrieval.ranker_name, retrieval.rules
        asked = (query, retrieval.settings, rankers.index)
        if asked == self._shown:
            return
        self._shown = asked
        results = self.query_one("#step-results", RecordList)
        results.records, results.empty = (), "searching …" if query.strip() else _NO_QUERY
        self.query_one("#searches", Static).update(content.waiting(query) if query.strip() else "")
        if not query.strip():
            self.drop_job("steps")
            return

        def tell(found: Steps) -> None:
            self._found(found, content.searches(found, ranker, rules.limit, rules.threshold))

        self.run_job("steps", lambda _: by_step(rankers, ranker, query, rules), tell, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self.query_one("#searches", Static).update(failure_line(error))

    def _found(self, found: Steps, facts: Content) -> None:
        self.query_one("#searches", Static).update(facts)
        results = self.query_one("#step-results", RecordList)
        results.empty = _EMPTY
        results.columns = content.columns(len(found.steps))
        results.records = content.rows(found)

    @on(RecordList.Selected, "#step-results")
    def _open(self, event: RecordList.Selected) -> None:
        self.open_tool(event.key)

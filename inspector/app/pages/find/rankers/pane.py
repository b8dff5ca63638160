"""Every ranker with the rank that it gives to one tool."""

from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from inspector.app.dialogs.detail import DetailScreen
from inspector.app.draw.line import failure_line
from inspector.app.job import Job
from inspector.app.pages.find.pane import Pane, Topic
from inspector.app.pages.find.rankers import content
from inspector.search.explanation.standing import standings_under
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.ranker_list import INFO, RANKERS
from widgets import RecordList

_JOB = "rankers"
_NO_QUERY = "Search first: press i, type a query and press enter."


class RankersPane(Pane):
    """Follows the person's tool, or the cursor of the list where there is none."""

    first = ("#rankers-list RecordRows",)

    def __init__(self) -> None:
        super().__init__(id="rankers")
        self._shown: object = None
        self._topic = Topic()
        self._names: tuple[str, ...] = RANKERS
        self._found: dict[str, content.Ranked] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="rankers-facts")
        yield RecordList(content.COLUMNS, header=True, empty=_NO_QUERY, id="rankers-list")
        yield Static(id="rankers-notes")

    @property
    def tool_id(self) -> str:
        hit = self._topic.hit
        return self._topic.tool_id or (hit.tool_id if hit is not None else "")

    @property
    def ranker(self) -> str:
        """The ranker under the cursor."""
        current = self.query_one("#rankers-list", RecordList).current
        return current.key if current is not None else ""

    def show(self, topic: Topic) -> None:
        self._topic = topic
        rankers, query = self.retrieval.rankers, topic.request.query
        asked = (query, self.retrieval.settings, rankers.index)
        if asked != self._shown:
            self._shown = asked
            self._found = {}
            self._names = content.order(self.retrieval.ranker_name)
            self._rank(rankers, query)
        self._draw()

    def _rank(self, rankers: CatalogRankers, query: str) -> None:
        if not query.strip():
            self.drop_job(_JOB)
            return
        tool_ids = tuple(tool.id for tool in rankers.index.tools)
        names = sorted(self._names, key=lambda name: INFO[name].slow)

        def rank(job: Job) -> None:
            for name in names:
                if job.stopped():
                    return
                ranked = content.Ranked(standings_under(rankers, query, name), tool_ids)
                job.tell(partial(self._ranked, name, ranked))

        self.run_job(_JOB, rank, lambda _: None, failed=self._failed)

    def _ranked(self, name: str, ranked: content.Ranked) -> None:
        self._found[name] = ranked
        self._draw()

    def _failed(self, error: Exception) -> None:
        self.query_one("#rankers-facts", Static).update(failure_line(error))

    def _draw(self) -> None:
        query = self._topic.request.query
        listed = self.query_one("#rankers-list", RecordList)
        if not query.strip():
            listed.records = ()
            self.query_one("#rankers-facts", Static).update("")
            return
        listed.records = content.rows(self._names, self._found, self.tool_id, self.retrieval.ranker_name)
        facts = content.facts(query, self.tool_id, self._names, self._found)
        self.query_one("#rankers-facts", Static).update(facts)
        self.query_one("#rankers-notes", Static).update(content.notes(self._found))

    @on(RecordList.Selected, "#rankers-list")
    def _detail(self, event: RecordList.Selected) -> None:
        text = content.detail(event.key, self._found.get(event.key))
        self.app.push_screen(DetailScreen(INFO[event.key].stands_for, text))

"""The list of results and misses, with a last line for the person's own tool."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.app.draw.line import failure_text
from inspector.app.job import Job
from inspector.app.pages.find.results import content
from inspector.app.pages.find.results.content import NO_RANKS
from inspector.app.pages.find.results.own import NO_TOOL, Own, own_line
from inspector.app.place import MarketplacePage
from inspector.core.marketplace import Suggestion, why_further
from inspector.core.ranking import Hit, SearchReport, SearchRequest
from inspector.search.explanation.standing import hit_of
from widgets import RecordList

_JOB = "own"
# The border and the header of the list.
_EDGE = 2
_EMPTY = "Ranked tools appear here."
_NOT_SEARCHED = "not searchable"
_NOT_NAMED = "not requested"


class ResultList(InContext, Vertical):
    """Shows one report. The person's own tool has its line at any rank, also below what a report holds."""

    class Moved(Message):
        """The cursor is on another row."""

    class Chosen(Message):
        """A tool was opened."""

        def __init__(self, tool_id: str) -> None:
            super().__init__()
            self.tool_id = tool_id

    def __init__(self) -> None:
        super().__init__(id="results")
        self._report: SearchReport | None = None
        self._before: Mapping[str, int] = NO_RANKS
        self._own = NO_TOOL
        self._placed = ""

    def compose(self) -> ComposeResult:
        yield RecordList(content.COLUMNS, empty=_EMPTY, header=True, id="found")
        yield Static(id="own")

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_own)

    @property
    def found(self) -> RecordList:
        return self.query_one("#found", RecordList)

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        current = self.found.current
        if current is None or self._report is None:
            return None
        if self._own.hit is not None and current.key == self._own.tool_id:
            return self._own.hit
        return next((hit for hit in self._report.hits if hit.tool_id == current.key), None)

    def show(self, report: SearchReport | None, before: Mapping[str, int], tool_id: str) -> None:
        """Show a report and where the tool stands in it; `before` are earlier ranks."""
        self._report, self._before = report, before
        self._find_own(tool_id)
        self._draw()

    def move_to_best(self) -> None:
        """Put the cursor on the person's own tool if the list shows it from its top, else on the best one."""
        if self._report is None or not self._report.hits:
            return
        best = (self._report.results or self._report.hits)[0].tool_id
        shown = [record.key for record in self.found.records[: max(self.found.size.height - _EDGE, 0)]]
        self.found.move_to(self._own.tool_id if self._own.tool_id in shown else best)
        self._placed = self._key

    @property
    def _key(self) -> str:
        current = self.found.current
        return current.key if current is not None else ""

    @property
    def _is_placed(self) -> bool:
        """Whether the cursor is where a search put it, and not on a tool that the person chose."""
        return bool(self._placed) and self._placed == self._key != self._own.tool_id

    def _find_own(self, tool_id: str) -> None:
        report = self._report
        hits = report.hits if report is not None else ()
        hit = next((hit for hit in hits if hit.tool_id == tool_id), None)
        of = report.scored or len(hits) if report is not None else 0
        self._own = replace(NO_TOOL, tool_id=tool_id, hit=hit, of=of)
        if not tool_id or report is None or hit is not None:
            self.drop_job(_JOB)
        elif tool_id not in self.session.retrieval.index.position:
            self._own = replace(self._own, problem=_NOT_SEARCHED)
        elif report.request.tool_names or not report.request.query.strip():
            self._own = replace(self._own, problem=_NOT_NAMED)
        else:
            self._look(tool_id, report.request)

    def _look(self, tool_id: str, request: SearchRequest) -> None:
        retrieval, state = self.session.retrieval, self.session.state
        rankers, ranker = retrieval.rankers, retrieval.ranker_name
        rules = replace(retrieval.rules, pinned=frozenset(state.pinned))

        def find(_: Job) -> Hit:
            return hit_of(rankers, ranker, request, tool_id, rules)

        def failed(error: Exception) -> None:
            self._tell(replace(self._own, problem=failure_text(error)[1]))

        of = len(rankers.index.tools)
        self.run_job(_JOB, find, lambda hit: self._tell(Own(tool_id, hit, of)), failed=failed)

    def _tell(self, own: Own) -> None:
        self._own = own
        self._draw()

    def _draw(self) -> None:
        report, is_placed = self._report, self._is_placed
        before = content.moved(report, self._before) if report is not None else NO_RANKS
        self.found.records = (
            content.rows(
                *(report, self._bound, before),
                own=self._own,
                suggested=self._suggested,
            )
            if report is not None
            else ()
        )
        if is_placed:
            self.move_to_best()
        self._show_own()

    def _show_own(self) -> None:
        line = self.query_one("#own", Static)
        line.update(own_line(self._own, self._bound, line.content_size.width))

    @property
    def _suggested(self) -> Collection[Suggestion]:
        """What the marketplace had for this search, if it was the last that went on there."""
        last = self.session.state.marketplace
        is_this = last is not None and self._report is not None and last.query == self._report.request.query
        return last.suggestions if last is not None and is_this and not self._report_is_enough else ()

    @property
    def _report_is_enough(self) -> bool:
        return self._report is None or not why_further(self._report)

    @property
    def _bound(self) -> Collection[str]:
        return frozenset(self.session.state.bound_ids)

    @on(events.Click, "#own")
    def _go_to_own(self) -> None:
        self.found.move_to(self._own.tool_id)
        self.found.focus()

    @on(RecordList.Highlighted, "#found")
    def _moved(self) -> None:
        if self._key != self._placed:
            self._placed = ""
        self.post_message(self.Moved())

    @on(RecordList.Selected, "#found")
    def _chosen(self) -> None:
        current = self.found.current
        if self.hit is not None:
            self.post_message(self.Chosen(self.hit.tool_id))
        elif current is not None and current.key.startswith(content.PLUGIN) and self._report is not None:
            name = current.key.removeprefix(content.PLUGIN)
            self.open(MarketplacePage(name, self._report.request.query))

"""The rankers side by side: one query, and every tool's rank under each ranker."""

from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from inspector.app.base_screen import HeaderLine
from inspector.app.draw.failure import failure_line
from inspector.app.job import Job
from inspector.app.pages.find.compare import content
from inspector.app.pages.find.query_screen import QueryScreen
from inspector.domain.ranking import SearchRequest
from inspector.engine.discovery.explanation.ranker_comparison import (
    ComparedTool,
    RankerComparison,
    compare_rankers,
    ranks_of,
)
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.rankers.ranker_list import INFO, RANKERS
from widgets import KeyBar, RecordList

# How many of each ranker's best tools get a row.
_ROWS = 15


class CompareScreen(QueryScreen):
    """Rankers as columns; the arrow keys bring those that do not fit."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#ranks RecordRows"
    own_action = "compare"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "shift(-1)", "left", show=False, id="compare.left"),
        Binding("right", "shift(1)", "more rankers", key_display="← →", id="compare.right"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        f"Every tool in the top {_ROWS} of any ranker, ordered by the ranker in use (first column).",
        "A cell is the tool's rank, or – if the ranker does not return it. A tool's best rank is bold.",
        "← → show more rankers; the one in use stays.",
        "w explains the tool's rank under the ranker in use, e edits the tool, enter opens it.",
        "2stage and 2prod choose servers first, expert and system match keywords, prd is plain BM25Okapi,",
        "fuzzy+ is fuzzy with its bugs fixed. Slow rankers come last.",
    )

    def __init__(self, request: SearchRequest, pinned: str = "") -> None:
        super().__init__(request)
        self._pinned = pinned
        self._comparison: RankerComparison | None = None
        self._names: tuple[str, ...] = RANKERS
        self._offset = 0

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="facts")
        yield RecordList(content.columns(()), header=True, empty="ranking …", id="ranks")
        yield Static(id="legend")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self._names = content.order(self.retrieval.ranker_name)
        self._show()
        self._compare()

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._show)

    @property
    def tool_id(self) -> str:
        current = self.query_one("#ranks", RecordList).current
        return current.key if current is not None else ""

    def _compare(self) -> None:
        rankers, names = self.retrieval.rankers, self._names
        quick = tuple(name for name in names if not INFO[name].slow)

        def compare_all(job: Job) -> RankerComparison:
            job.tell(partial(self._compared, self._measured(rankers, quick), move=True))
            return self._measured(rankers, names)

        self.run_job("compare", compare_all, self._compared, failed=self._failed)

    def _compared(self, comparison: RankerComparison, *, move: bool = False) -> None:
        self._comparison = comparison
        self._show(move=move)

    def _failed(self, error: Exception) -> None:
        self.query_one("#facts", Static).update(failure_line(error))

    def _measured(self, rankers: CatalogRankers, names: tuple[str, ...]) -> RankerComparison:
        """Return the comparison, with a row for the pinned tool at any rank."""
        found = compare_rankers(rankers, self.request.query, names, rows=_ROWS)
        known = {row.tool_id for row in found.rows}
        if self._pinned in known or self._pinned not in rankers.index.position:
            return found
        standings = ranks_of(rankers, self.request.query, self._pinned, names)
        row = ComparedTool(self._pinned, tuple(standings[name] for name in found.names))
        return replace(found, rows=(*found.rows, row))

    def _show(self, *, move: bool = False) -> None:
        if not self.is_attached:
            return
        ranks = self.query_one("#ranks", RecordList)
        shown = content.window(self._names, self._offset, content.room(ranks.size.width))
        ranks.columns = content.columns(shown)
        if self._comparison is not None:
            ranks.empty = "No ranker returns any tool for this query."
            ranks.records = content.rows(self._comparison, shown, self._pinned)
        if move and self._pinned:
            ranks.move_to(self._pinned)
        facts = content.facts(self.request.query, self._comparison, self._names, shown)
        self.query_one("#facts", Static).update(facts)
        self.query_one("#legend", Static).update(content.legend(self._comparison, shown, self._pinned))

    def action_shift(self, step: int) -> None:
        """Show other rankers."""
        count = content.room(self.query_one("#ranks", RecordList).size.width)
        self._offset = min(max(self._offset + step, 0), content.furthest(self._names, count))
        self._show()

    @on(RecordList.Selected, "#ranks")
    def _open(self, event: RecordList.Selected) -> None:
        self.open_tool(event.key)

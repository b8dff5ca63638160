"""The requests behind one ranker's numbers."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.navigation import SearchPage
from inspector.app.pages.lab.bench.request import page
from inspector.domain.ranking import SearchRequest
from inspector.engine.measure.ranker_bench import Measured
from widgets import KeyBar, RecordList


class BenchRequestScreen(BaseScreen):
    """The worst requests of a ranker, or those where it differs most from `first`."""

    CSS_PATH = "request_screen.tcss"
    AUTO_FOCUS = "#requests RecordRows"
    help_lines: ClassVar[tuple[str, ...]] = (
        "The first ranker shows its worst requests, any other how each request differs from the first.",
        "nDCG@10 is 1 if the right tools rank first, and 0 if none is in the top ten.",
        "false yes: answered “found” although no tool fits. false no: returned nothing although a tool fits.",
        "If the interval after the mean change includes 0, the difference may be chance.",
        "enter opens the request on the search page with every score. y copies it, / filters.",
    )

    def __init__(self, measured: Measured, first: Measured | None) -> None:
        super().__init__()
        self._page = page(measured, first)

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(self._page.title, id="requests-title")
        yield RecordList(
            self._page.columns,
            self._page.rows,
            header=True,
            empty="No requests to improve or compare. esc goes back.",
            id="requests",
        )
        yield Static(self._page.detail(None), id="request-detail")
        yield KeyBar()

    @on(RecordList.Highlighted, "#requests")
    def _show_detail(self, event: RecordList.Highlighted) -> None:
        self.query_one("#request-detail", Static).update(self._page.detail(event.key))

    @on(RecordList.Selected, "#requests")
    def _ask(self, event: RecordList.Selected) -> None:
        self.open(SearchPage(SearchRequest(self._page.cases[event.key].query)))

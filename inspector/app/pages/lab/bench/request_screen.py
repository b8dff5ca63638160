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
    """The worst requests of a ranker, or with `first` those on which it differs most from that one."""

    CSS_PATH = "request_screen.tcss"
    AUTO_FOCUS = "#requests RecordRows"
    help_lines: ClassVar[tuple[str, ...]] = (
        "The first ranker's worst requests; for any other, how each request changed against the first.",
        "nDCG@10 is 1 where the right tools stand first and 0 where none is among the first ten.",
        "false yes: answered, though no tool fits. false no: refused, though one does.",
        "Where the interval after the mean change has 0 in it, the difference may be chance.",
        "enter asks the request on the search page, which shows every score. y copies it, / filters.",
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
            empty="Nothing to look into here: every request was served alike and well. esc goes back.",
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

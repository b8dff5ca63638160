"""The score of the tool under the cursor, itemized like a bill."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.style import MUTED
from inspector.app.pages.find.pane import Pane
from inspector.app.pages.find.score.content import bill
from inspector.app.pages.find.topic import Topic
from inspector.app.pages.find.wording import outcome

_NO_SEARCH = "A tool's score appears here."
_NO_TOOL = "Choose a tool to see how its score adds up."


class ScorePane(Pane):
    """Follows the cursor of the list."""

    takes_focus = False
    first = ("#bill",)

    def __init__(self) -> None:
        super().__init__(id="score")
        self._hit_id = ""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="bill"):
            yield Static(id="bill-text")

    @property
    def tool_id(self) -> str:
        return self._hit_id

    def show(self, topic: Topic) -> None:
        report, hit = topic.report, topic.hit
        text = self.query_one("#bill-text", Static)
        self._hit_id = hit.tool_id if hit is not None else ""
        if report is None or hit is None:
            scored = report is not None and bool(report.hits)
            text.update(Content.styled(_NO_TOOL if scored else _NO_SEARCH, MUTED))
            return
        bound = hit.tool_id in self.session.state.bound_ids
        text.update(bill(report, hit, outcome(hit, bound)))

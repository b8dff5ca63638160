"""Why a search does not return a tool, or not first: its bill beside its rival's, and advice."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import HeaderLine
from inspector.app.draw.failure import failure_line
from inspector.app.job import Job
from inspector.app.pages.find.query_screen import QueryScreen
from inspector.app.pages.find.why_not import content
from inspector.app.pages.find.why_not.missing_tool import missing_tool
from inspector.domain.ranking import SearchRequest
from inspector.engine.discovery.explanation.ranker_comparison import ranks_of
from inspector.engine.discovery.explanation.standing import Standing
from inspector.engine.discovery.explanation.why_not import WhyNot, why_not
from inspector.engine.discovery.rankers.ranker_list import RANKERS
from inspector.engine.discovery.rules import SearchRules
from widgets import KeyBar, RecordList

_TITLE = "Ledger, the biggest loss first"


_LOOK = "why-not"


class WhyNotScreen(QueryScreen):
    """One tool beside the one it has to beat."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#ledger RecordRows"
    own_action = "why_not"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("p", "pin", "another tool", id="why_not.pin")]
    help_lines: ClassVar[tuple[str, ...]] = (
        "The tool beside its rival: the last result or, for a result, the tool ranked just above it.",
        "Each row is a term or a signal: what it adds to either score, and the difference.",
        "The differences add up to the difference of the scores; ✓ says that they do.",
        "The advice names the change that would help most; e edits the tool to try it.",
        "Below the advice: its rank under every ranker, slow ones last. – means not returned.",
        "p asks for another tool by any name; the page also says why a tool cannot be found.",
        "c compares the rankers for all tools, enter opens this one, esc goes back.",
    )

    def __init__(self, tool_id: str, request: SearchRequest) -> None:
        super().__init__(request)
        self._tool_id = tool_id
        self._found: WhyNot | None = None
        self._standings: dict[str, Standing] = {}

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="verdict")
        with Container(id="body"):
            yield RecordList(content.columns(None), header=True, empty="", id="ledger")
            with VerticalScroll(id="reasons"):
                yield Static(id="advice")
                yield Static(id="ranks")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#ledger").border_title = _TITLE
        self._pin(self._tool_id)

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._show_ranks)

    @property
    def tool_id(self) -> str:
        return self._tool_id

    def _pin(self, name: str | None) -> None:
        """Explain this tool, given by its id or by a name that only one tool has."""
        if not name:
            return
        named = self.session.catalog.named(name)
        self._tool_id = named[0].id if len(named) == 1 else name
        self._found, self._standings = None, {}
        for part in ("#advice", "#ranks"):
            self.query_one(part, Static).update("")
        self.query_one("#ledger", RecordList).records = ()
        if self._tool_id in self.retrieval.index.position:
            self._look()
        else:
            self._tell_missing()

    def _tell_missing(self) -> None:
        self.drop_job(_LOOK)
        toolset = self.session.configuration.toolset(self.session.state.toolset)
        reason = missing_tool(self._tool_id, self.session.catalog, self.session.state, toolset)
        self._show_verdict(content.missing(self._tool_id, self.request.query, reason))
        self.query_one("#ledger", RecordList).empty = "It has no score in any search."

    def _look(self) -> None:
        """Explain the tool under the ranker in use, then show its rank under each ranker as it arrives."""
        tool_id, request, retrieval = self._tool_id, self.request, self.retrieval
        rankers, ranker = retrieval.rankers, retrieval.ranker_name
        rules = replace(retrieval.rules, pinned=frozenset(self.session.state.pinned))
        self._show_verdict(content.waiting(tool_id, request.query))
        self.query_one("#ledger", RecordList).empty = "scoring …"

        def explain(job: Job) -> None:
            found = why_not(rankers, ranker, request, tool_id, rules)
            job.tell(partial(self._show_found, found, rules, len(rankers.index.tools)))
            for name in RANKERS:
                if job.stopped():
                    return
                job.tell(partial(self._show_rank, ranks_of(rankers, request.query, tool_id, (name,))))

        self.run_job(_LOOK, explain, lambda _: None, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self._show_verdict(failure_line(error))

    def _show_rank(self, ranks: Mapping[str, Standing]) -> None:
        self._standings.update(ranks)
        self._show_ranks()

    def _show_found(self, found: WhyNot, rules: SearchRules, tools: int) -> None:
        self._found = found
        self._show_verdict(content.verdict(found, limit=rules.limit, threshold=rules.threshold, tools=tools))
        ledger = self.query_one("#ledger", RecordList)
        ledger.empty = content.no_ledger(found)
        ledger.columns = content.columns(found)
        ledger.records = content.ledger_rows(found)
        self.query_one("#advice", Static).update(content.reasons(found))
        self._show_ranks()

    def _show_verdict(self, text: Content) -> None:
        self.query_one("#verdict", Static).update(text)

    def _show_ranks(self) -> None:
        if self._found is None:
            return
        text = self.query_one("#ranks", Static)
        text.update(content.ranks(self._standings, RANKERS, self._found.ranker, text.size.width))

    @on(RecordList.Selected, "#ledger")
    def _open(self) -> None:
        self.open_tool(self._tool_id)

    def action_pin(self) -> None:
        """Explain another tool."""
        self.pick_tool()

    def explain(self, tool_id: str | None) -> None:
        self._pin(tool_id)

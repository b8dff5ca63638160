"""The search page: one query, and every score itemized like a bill."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, Static

from inspector.app.base_screen import HeaderLine
from inspector.app.bridge import View
from inspector.app.draw.style import MUTED
from inspector.app.pages.find.query_screen import QueryScreen
from inspector.app.pages.find.ranker_dialog import RankerDialog
from inspector.app.pages.find.score_bar import BAR_WIDTH, LETTERS
from inspector.app.pages.find.search import content
from inspector.app.pages.find.search.bill import bill
from inspector.app.pages.find.search.content import NO_RANKS
from inspector.domain.error import ToolsightError
from inspector.domain.ranking import Hit, SearchReport, SearchRequest
from inspector.domain.tool import Tool
from inspector.engine.discovery.index import ToolIndex
from widgets import Column, KeyBar, PlainInput, RecordList, visible

_COLUMNS = (
    Column("rank", "#", align="right", width=3, weight=5),
    Column("tool", "tool", shorten="middle", min_width=14, weight=4),
    Column("bar", "signals", width=BAR_WIDTH, weight=2, hide_below=48),
    Column("score", "score", align="right", width=6, weight=6),
    Column("outcome", "outcome", min_width=15, weight=1),
)
_INTRO = Content(
    f"Describe a tool and press enter. Every tool is scored, none is loaded.\nSignals: {LETTERS}."
)
_NOTHING_SCORED = "No tool was scored. i goes back to the query."
_NO_TOOLS = "No server has a tool to find yet (f2 shows why). The search runs again when tools arrive."
_NOTHING_ASKED = "Nothing to search for: type a query, a server or tool names, then press enter."


class SearchScreen(QueryScreen):
    """Searches as a person, and shows why each tool was found or missed."""

    page = "search"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#query"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "ranker", "ranker", id="search.ranker"),
        Binding("i,ctrl+n", "ask", "query", id="search.ask"),
        Binding("l", "load", "load", id="search.load"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Type what a tool should do and press enter. This search loads nothing, and the model never sees it.",
        "`server` searches one server only; `names` looks up tools by name, separated by commas.",
        "The bar shows the signals: N name, D description, P parameters, V server, S meaning, T tier.",
        "The bill subtracts the score of an average tool (A). ✓ means that the lines add up.",
        "Tools below a line are not among the results; each says why.",
        "w: the tool beside the one it has to beat. c: its rank under every ranker. s: one search per step.",
        "k changes the ranker, for the model too. e edits the tool and shows what that would change.",
        "x lists confusable tools. / filters the list, y copies a tool's id.",
        "i or ctrl+n goes back to the query, enter opens the tool, l loads it for the model.",
    )

    def __init__(self, request: SearchRequest | None = None, report: SearchReport | None = None) -> None:
        super().__init__(request or (report.request if report else SearchRequest()))
        self._report = report
        self._intro = _INTRO
        self._searched: ToolIndex | None = None
        self._searched_with = ""
        # The tools when the question was asked; once they differ, the ranks until then.
        self._asked_of: tuple[Tool, ...] = ()
        self._asked_ranks = NO_RANKS

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        with Horizontal(id="ask"):
            yield Label("search")
            yield PlainInput(self._typed(self.request.query), placeholder="what should it do?", id="query")
            yield Label("server")
            yield PlainInput(self._typed(self.request.server_name), placeholder="any", id="server")
            yield Label("names")
            yield PlainInput(self._typed(" ".join(self.request.tool_names)), placeholder="any", id="names")
        yield Static(_INTRO, id="facts")
        with Container(id="body"):
            yield RecordList(_COLUMNS, empty="The tools appear here, ranked.", header=True, id="found")
            with VerticalScroll(id="bill"):
                yield Static(id="bill-text")
        yield KeyBar()

    @staticmethod
    def _typed(text: str) -> str:
        return visible(text, limit=2000, newlines=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#found").border_title = "Tools"
        self.query_one("#bill").border_title = "Bill"
        if self._report is not None:
            self._show_report()
        elif not self.request.is_empty:
            self._search(self.request)
        else:
            self._show_bill()

    def on_resize(self) -> None:
        super().on_resize()
        self._show_facts()

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the state
        self._search_again()
        self._show_facts()
        if self._report is not None:
            self._show_rows()
            self._show_bill()

    @on(Input.Submitted, "#ask PlainInput")
    def _asked(self) -> None:
        texts = (self.query_one(f"#{name}", PlainInput).value for name in ("query", "server", "names"))
        request = content.request_of(*texts)
        if request.is_empty:
            self._searched = None
            self._report, self._intro = None, Content.styled(_NOTHING_ASKED, "$text-warning")
            self.request = request
            self.query_one("#found", RecordList).records = ()
            self._show_facts()
            return
        self._search(request)

    def _search(self, request: SearchRequest) -> None:
        try:
            self._report = self.commands.search(request)
        except ToolsightError as error:
            self.fail(error)
            return
        self.request, self._searched = request, self.retrieval.index
        self._asked_of, self._asked_ranks = self._searched.tools, NO_RANKS
        self._searched_with = self.retrieval.ranker_name
        self._show_report()

    def _search_again(self) -> None:
        """Repeat the search if tools or vectors have arrived since; an older report stays unchanged."""
        if self._searched is None or self._searched is self.retrieval.index:
            return
        self._searched = self.retrieval.index
        state, earlier = self.session.state, self._report
        self._report = self.retrieval.look(self.request, bound=state.bound_ids, pinned=state.pinned).report
        if self._searched.tools == self._asked_of:
            self._asked_ranks = NO_RANKS
        elif earlier is not None and not self._asked_ranks:
            self._asked_ranks = {hit.tool_id: hit.rank for hit in earlier.hits}

    def _show_report(self) -> None:
        assert self._report is not None
        self._show_facts()
        found = self.query_one("#found", RecordList)
        found.empty = _NOTHING_SCORED if self.retrieval.index.tools else _NO_TOOLS
        self._show_rows()
        if self._report.hits:
            found.move_to((self._report.results or self._report.hits)[0].tool_id)
            found.focus()
        self._show_bill()

    def _show_facts(self) -> None:
        index = self.session.state.index
        text = (
            content.introduction(self._intro, index)
            if self._report is None
            else content.facts(self._report, index, self.size.width - 2)
        )
        self.query_one("#facts", Static).update(text)

    def _show_rows(self) -> None:
        assert self._report is not None
        self.query_one("#found", RecordList).records = content.rows(
            self._report, self._bound, self._asked_ranks
        )

    @property
    def _bound(self) -> frozenset[str]:
        return frozenset(self.session.state.bound_ids)

    @on(RecordList.Highlighted, "#found")
    def _show_bill(self) -> None:
        hit = self._hit
        text = self.query_one("#bill-text", Static)
        if self._report is None or hit is None:
            text.update(Content.styled(self._no_bill(), MUTED))
            return
        text.update(bill(self._report, hit, content.outcome(hit, hit.tool_id in self._bound)))

    def _no_bill(self) -> str:
        scored = self._report is not None and bool(self._report.hits)
        return "Choose a tool to see how its score adds up." if scored else "The bill of a tool appears here."

    @property
    def tool_id(self) -> str:
        return self._hit.tool_id if self._hit is not None else ""

    @property
    def _hit(self) -> Hit | None:
        current = self.query_one("#found", RecordList).current
        hits = self._report.hits if self._report else ()
        return next((hit for hit in hits if current is not None and hit.tool_id == current.key), None)

    @on(RecordList.Selected, "#found")
    def _open(self) -> None:
        if self.tool_id:
            self.open_tool(self.tool_id)

    def action_ask(self) -> None:
        """Go back to the query."""
        self.query_one("#query", PlainInput).focus()

    def action_ranker(self) -> None:
        """Change the ranker of this session."""
        self.app.push_screen(RankerDialog(self.context), self._ranked)

    def _ranked(self, _: None) -> None:
        """Search again if the ranker changed."""
        if self._searched is not None and self._searched_with != self.retrieval.ranker_name:
            self._search(self.request)

    def action_load(self) -> None:
        """Load the tool under the cursor."""
        if not self.tool_id:
            return
        known = self.session.state.tools.get(self.tool_id)
        if known is not None and known.binding.is_bound:
            self.notify("The model already sees this tool.", markup=False)
            return
        self._load(self.tool_id)

    def _load(self, tool_id: str) -> None:
        try:
            self.commands.load(tool_id)
        except ToolsightError as error:
            self.fail(error)
            return
        self.query_one("#found", RecordList).flash(tool_id)
        name = visible(tool_id, limit=80, newlines=False)
        self.notify(f"{name}: the model sees it in its next call.", title="Loaded", markup=False)

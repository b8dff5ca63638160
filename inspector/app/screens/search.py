"""Search: one query, and every score read like a bill."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Footer, Input, Label, Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.presenters import search as present
from inspector.app.presenters.failure import failure_text
from inspector.app.presenters.style import MUTED
from inspector.domain.error import ToolsightError
from inspector.domain.ranking import Hit, SearchReport, SearchRequest
from widgets import Column, PlainInput, RecordList, visible

_COLUMNS = (
    Column("rank", "#", align="right", width=3, weight=5),
    Column("tool", "tool", shorten="middle", min_width=14, weight=4),
    Column("bar", "signals", width=present.BAR_WIDTH, weight=2, hide_below=48),
    Column("score", "", align="right", width=6, weight=6),
    Column("outcome", "outcome", min_width=8, weight=1),
)
_INTRO = Content(
    "Describe a tool, then press enter: all are scored, none is loaded.\n"
    "Bars: N name, D description, P parameters, S semantic, F fuzzy, X by name."
)
_NOTHING_ASKED = "Nothing to search for yet: type words, a server, or tool names, then press enter."


class SearchScreen(BaseScreen):
    """Asks for tools as a person, and shows why each was found or missed."""

    CSS_PATH = "search.tcss"
    AUTO_FOCUS = "#query"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i,ctrl+n", "ask", "query", id="search.ask"),
        Binding("l", "load", "load", id="search.load"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Type what a tool should do, then enter. A search here loads nothing and the model does not see it.",
        "`server` keeps to one server; `names` looks tools up by name, several with a comma.",
        "The bar is the score: N from the name, D from the description, X asked for by name.",
        "Below the line stand the tools that missed, each with the reason.",
        "In a bill, tf is how often a term is in the tool, df how many tools have it, idf how rare it is.",
        "The lines of a bill add up to the score; the check mark says that they do.",
        "i or ctrl+n goes back to the query, / filters the list, y copies a tool's id.",
        "enter opens the tool, l loads it for the model.",
    )

    def __init__(self, request: SearchRequest | None = None, report: SearchReport | None = None) -> None:
        super().__init__()
        self._report = report
        self._request = request or (report.request if report else SearchRequest())

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        with Horizontal(id="ask"):
            yield Label("search")
            yield PlainInput(self._typed(self._request.query), placeholder="what should it do?", id="query")
            yield Label("server")
            yield PlainInput(self._typed(self._request.server_name), placeholder="any", id="server")
            yield Label("names")
            yield PlainInput(self._typed(" ".join(self._request.tool_names)), placeholder="any", id="names")
        yield Static(_INTRO, id="facts")
        with Container(id="body"):
            yield RecordList(_COLUMNS, empty="A search lists the tools here.", header=True, id="found")
            with VerticalScroll(id="bill"):
                yield Static(id="bill-text")
        yield Footer(show_command_palette=False, compact=True)

    @staticmethod
    def _typed(text: str) -> str:
        return visible(text, limit=2000, newlines=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#found").border_title = "Tools"
        self.query_one("#bill").border_title = "Bill"
        if self._report is not None:
            self._show_report()
        elif not self._request.is_empty:
            self._search(self._request)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the state
        if self._report is not None:
            self._show_rows()
            self._show_bill()

    @on(Input.Submitted, "#ask PlainInput")
    def _asked(self) -> None:
        texts = (self.query_one(f"#{name}", PlainInput).value for name in ("query", "server", "names"))
        request = present.request_of(*texts)
        if request.is_empty:
            self.query_one("#facts", Static).update(Content.styled(_NOTHING_ASKED, "$text-warning"))
            return
        self._search(request)

    def _search(self, request: SearchRequest) -> None:
        self._report = self.bench.search(request)
        self._show_report()

    def _show_report(self) -> None:
        assert self._report is not None
        self.query_one("#facts", Static).update(present.facts(self._report))
        found = self.query_one("#found", RecordList)
        found.empty = "Nothing was scored. i goes back to the query."
        self._show_rows()
        if self._report.hits:
            found.move_to(self._report.results[0].tool_id if self._report.results else "")
            found.focus()
        self._show_bill()

    def _show_rows(self) -> None:
        assert self._report is not None
        self.query_one("#found", RecordList).records = present.rows(self._report, self._bound)

    @property
    def _bound(self) -> frozenset[str]:
        return frozenset(self.bench.state.bound_ids)

    @on(RecordList.Highlighted, "#found")
    def _show_bill(self) -> None:
        hit = self._hit
        text = self.query_one("#bill-text", Static)
        if self._report is None or hit is None:
            text.update(Content.styled(self._no_bill(), MUTED))
            return
        text.update(present.bill(self._report, hit, hit.tool_id in self._bound))

    def _no_bill(self) -> str:
        scored = self._report is not None and bool(self._report.hits)
        return (
            "Choose a tool to see how its score came about." if scored else "The bill of a tool stands here."
        )

    @property
    def _hit(self) -> Hit | None:
        current = self.query_one("#found", RecordList).current
        hits = self._report.hits if self._report else ()
        return next((hit for hit in hits if current is not None and hit.tool_id == current.key), None)

    @on(RecordList.Selected, "#found")
    def _open(self, event: RecordList.Selected) -> None:
        if event.key == present.SEPARATOR:
            return
        if self.bench.catalog.get(event.key) is None:
            self._tell_gone(event.key)
            return
        self.toolsight.open_tool(event.key)

    def _tell_gone(self, tool_id: str) -> None:
        message = f"{visible(tool_id, limit=80, newlines=False)} is not in the catalog any more."
        self.notify(message, severity="warning", markup=False)

    @on(RecordList.Copied, "#found")
    def _tell_copied(self, event: RecordList.Copied) -> None:
        self.notify(visible(event.record.copy, limit=80, newlines=False), title="Copied", markup=False)

    def action_ask(self) -> None:
        """Go back to the query."""
        self.query_one("#query", PlainInput).focus()

    def action_load(self) -> None:
        """Load the tool under the cursor."""
        if self._hit is None:
            return
        known = self.bench.state.tools.get(self._hit.tool_id)
        if known is not None and known.binding.is_bound:
            self.notify("It is loaded already.", markup=False)
            return
        self._load(self._hit.tool_id)

    def _load(self, tool_id: str) -> None:
        try:
            self.bench.load(tool_id)
        except ToolsightError as error:
            title, message = failure_text(error)
            self.notify(message, title=title, severity="error", markup=False)
            return
        self.query_one("#found", RecordList).flash(tool_id)
        name = visible(tool_id, limit=80, newlines=False)
        self.notify(name, title="Loaded: the model sees it from its next turn", markup=False)

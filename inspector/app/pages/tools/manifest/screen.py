"""The manifest page: exactly the text and the `tools` array that the model is sent."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import Static, TabbedContent, TabPane

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.pages.tools.manifest.content import (
    COLUMNS,
    label,
    offers,
    pretty,
    token_rows,
    why_empty,
)
from inspector.domain.message import ModelRequest
from inspector.domain.session import SessionState
from widgets import KeyBar, RecordList, TextView


class ManifestScreen(BaseScreen):
    """Manifest and tools[] as tabs, their tokens beside them."""

    page = "manifest"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#manifest-text TextLines"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "show_tab('tab-manifest')", "manifest"),
        Binding("2", "show_tab('tab-array')", "tools array"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Manifest: the text inside search_tools that tells the model which tools it can find; with the",
        "gate, the summaries of all tools, which stay in the system prompt.",
        "tools array: what is sent with the next model call, indented here, compact when sent.",
        "1 and 2 switch between the two. Tokens: the cost of each entry. y copies the text, / searches it.",
    )

    def __init__(self) -> None:
        super().__init__()
        # Counting takes time, and most events change neither the prompt nor tools[].
        self._counted: tuple[object, ...] | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        with Container(id="manifest-page"):
            with TabbedContent(id="manifest-tabs"):
                with TabPane("1 Manifest", id="tab-manifest"):
                    yield TextView(id="manifest-text")
                with TabPane("2 tools array", id="tab-array"):
                    yield TextView(
                        empty="No tools yet: no server is ready (f2 shows why).", id="manifest-array"
                    )
            with Vertical(id="manifest-tokens", classes="pane"):
                yield RecordList(COLUMNS, header=True, empty="Nothing to count yet.", id="manifest-table")
                yield Static(id="manifest-label", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#manifest-tokens").border_title = "Tokens"

    def show_view(self, view: View) -> None:
        request = self.session.next_request()
        manifest = self.query_one("#manifest-text", TextView)
        manifest.empty = why_empty(view.state)
        manifest.text = view.state.manifest or view.state.pool
        tokenizer = self.session.accounting.meter.tokenizer
        counted = (request.system, request.tools, offers(request), tokenizer, view.state.manifest_rules)
        if counted != self._counted:
            self._counted = counted
            self._show_request(request, view.state)

    def _show_request(self, request: ModelRequest, session: SessionState) -> None:
        self.query_one("#manifest-array", TextView).text = pretty(request)
        meter = self.session.accounting.meter
        offered = sum(map(meter.message, offers(request)))
        rows = token_rows(request, meter.text(request.system), meter.entries(request.tools), offered)
        self.query_one("#manifest-table", RecordList).records = rows
        self.query_one("#manifest-label", Static).update(label(meter.tokenizer, session))

    def action_show_tab(self, name: str) -> None:
        """Show the manifest or tools[], and focus the text."""
        self.query_one(TabbedContent).active = name
        self.query_one(f"#{name} TextView", TextView).focus()

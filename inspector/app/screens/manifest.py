"""The manifest: exactly the text and the `tools` array that the model is sent."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widgets import Footer, Static, TabbedContent, TabPane

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.presenters.manifest import COLUMNS, pretty, token_rows, tokenizer_label
from widgets import RecordList, TextView


class ManifestScreen(BaseScreen):
    """Manifest and array as tabs, tokens beside them."""

    CSS_PATH = "manifest.tcss"
    help_lines: ClassVar[tuple[str, ...]] = (
        "Manifest: the text inside search_tools that tells the model what there is to find.",
        "tools array: what goes out with the next model call, indented here, compact on the wire.",
        "Tokens: what each entry costs. y copies a text, / searches it.",
    )

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        with Container(id="manifest-page"):
            with TabbedContent(id="manifest-tabs"):
                with TabPane("Manifest", id="tab-manifest"):
                    yield TextView(
                        empty="Nothing is deferred, so the model gets every tool and no manifest.\n"
                        "`defer_loading: true` in the configuration defers a server.",
                        id="manifest-text",
                    )
                with TabPane("tools array", id="tab-array"):
                    yield TextView(empty="No tools yet: no server is ready (f2).", id="manifest-array")
            with Vertical(id="manifest-tokens", classes="pane"):
                yield RecordList(COLUMNS, header=True, empty="Nothing to count yet.", id="manifest-table")
                yield Static(id="manifest-label", markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#manifest-tokens").border_title = "Tokens"

    def show_view(self, view: View) -> None:
        request = self.bench.next_request()
        self.query_one("#manifest-text", TextView).text = view.session.manifest
        self.query_one("#manifest-array", TextView).text = pretty(request)
        self.query_one("#manifest-table", RecordList).records = token_rows(request, self.bench.tokens)
        self.query_one("#manifest-label", Static).update(tokenizer_label(self.bench.tokenizer))

"""The result of a call by hand: a status line, the text, the structured content."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.style import MUTED
from inspector.domain.message import ToolResult
from widgets import SchemaTree, TextView

_BEFORE = Content.styled("Fill in the form and press enter. The result appears here.", MUTED)


class CallAnswer(Vertical):
    """The result panel; empty until the first call."""

    def compose(self) -> ComposeResult:
        yield Static(_BEFORE, id="result-line")
        yield TextView(empty="", id="result-text")
        yield SchemaTree(schema=False, empty="Empty.", id="result-tree")

    def on_mount(self) -> None:
        self.query_one("#result-tree").border_title = "Structured"

    def show(self, line: Content | None, result: ToolResult | None = None) -> None:
        """Show the status of a call, and its result if there is one; without a status, what to do."""
        self.query_one("#result-line", Static).update(line or _BEFORE)
        text = self.query_one("#result-text", TextView)
        text.text = result.text if result else ""
        text.empty = "The tool returned no text." if result else ""
        tree = self.query_one("#result-tree", SchemaTree)
        structured = result.structured if result else None
        tree.value = structured
        tree.set_class(structured is not None, "-shown")

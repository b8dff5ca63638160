"""What a call made by hand returned: one line on how it went, the text, the structured part."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.style import MUTED
from inspector.domain.message import ToolResult
from widgets import SchemaTree, TextView

_BEFORE = Content.styled("Fill in the form, then ctrl+r: what the tool returns stands here.", MUTED)


class CallAnswer(Vertical):
    """Empty until the first call."""

    def compose(self) -> ComposeResult:
        yield Static(_BEFORE, id="result-line")
        yield TextView(empty="", id="result-text")
        yield SchemaTree(schema=False, empty="Nothing inside.", id="result-tree")

    def on_mount(self) -> None:
        self.query_one("#result-tree").border_title = "Structured"

    def show(self, line: Content, result: ToolResult | None = None) -> None:
        """Say how a call stands, and what it returned if it has."""
        if not self.is_attached:
            return
        self.query_one("#result-line", Static).update(line)
        text = self.query_one("#result-text", TextView)
        text.text = result.text if result else ""
        text.empty = "The tool returned no text." if result else ""
        tree = self.query_one("#result-tree", SchemaTree)
        structured = result.structured if result else None
        tree.value = structured
        tree.set_class(structured is not None, "-shown")

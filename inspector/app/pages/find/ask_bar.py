"""The line where a search is typed: a query, a server, names of tools."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

from inspector.app.pages.find.results.content import request_of, scope_text
from inspector.core.ranking import SearchRequest
from widgets import PlainInput, visible

_LONGEST = 2000


class AskBar(Horizontal):
    """Posts `Asked` with what was typed."""

    class Asked(Message):
        """Enter was pressed."""

        def __init__(self, request: SearchRequest) -> None:
            super().__init__()
            self.request = request

    def compose(self) -> ComposeResult:
        for label, name, hint in (
            ("search", "query", "what should it do?"),
            ("server", "server", "any, or #tag"),
            ("names", "names", "any name"),
        ):
            yield Label(label, id=f"{name}-label")
            yield PlainInput(placeholder=hint, id=name)

    def type(self, request: SearchRequest) -> None:
        """Show a request as if it had been typed."""
        names = " ".join(request.tool_names)
        for name, text in (("query", request.query), ("server", scope_text(request)), ("names", names)):
            self.query_one(f"#{name}", PlainInput).value = visible(text, limit=_LONGEST, newlines=False)

    def focus_query(self) -> None:
        """Go to the query."""
        self.query_one("#query", PlainInput).focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        texts = (self.query_one(f"#{name}", PlainInput).value for name in ("query", "server", "names"))
        self.post_message(self.Asked(request_of(*texts)))

    @on(Input.Blurred)
    def _left(self, event: Input.Blurred) -> None:
        """Show how a long text begins, not how it ends."""
        event.stop()
        event.input.cursor_position = 0

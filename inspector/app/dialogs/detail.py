"""The full text of something that a list shows in one line."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.app.context import InContext
from widgets import SchemaTree, TextView, plain


class DetailScreen(InContext, ModalScreen[None]):
    """A text to read, search and copy, with its data as a tree, if any."""

    CSS_PATH = "detail.tcss"
    AUTO_FOCUS = "#detail-text TextLines"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "close", id="detail.close")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (170, "-wide")]  # noqa: RUF012 - as Textual declares it

    def __init__(self, title: str, text: str, data: object | None = None) -> None:
        super().__init__()
        self._heading = title
        self._text = text
        self._data = data

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(plain(self._heading, limit=300, newlines=False), id="detail-title")
            with Container(id="detail-parts"):
                yield TextView(self._text, empty="No text.", id="detail-text")
                if self._data is not None:
                    yield SchemaTree(self._data, schema=False, empty="No data.", id="detail-data")
            keys = "esc close   / search   y copy"
            yield Static(f"{keys}   tab text/data" if self._data is not None else keys, id="detail-help")

    def action_close(self) -> None:
        """Go back to the list."""
        self.dismiss()

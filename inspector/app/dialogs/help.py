"""The help screen: what the current page shows, and every key."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.app.dialogs.help_text import help_text


class HelpScreen(ModalScreen[None]):
    """Closes on esc, or on the key that opened it."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "close", show=False)
    ]

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "esc closes"
            yield Static(help_text(self._lines), markup=False)

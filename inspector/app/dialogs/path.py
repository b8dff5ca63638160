"""Asks for a file or a folder by its path."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from widgets import PlainInput, plain


class PathDialog(ModalScreen[str | None]):
    """Returns the path that was entered, or None if it was closed. It opens nothing itself."""

    CSS_PATH = "path.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, title: str, verb: str, suggested: str, note: str) -> None:
        """`verb` says what enter does; `note` stands below the path."""
        super().__init__()
        self._title, self._verb = title, verb
        self._suggested = suggested
        self._note = note

    def compose(self) -> ComposeResult:
        with Vertical(id="path-box") as box:
            box.border_title = self._title
            box.border_subtitle = f"enter {self._verb}, esc closes"
            yield PlainInput(self._suggested, placeholder="file or folder", id="path")
            yield Static(plain(self._note), id="path-note", markup=False)

    @on(PlainInput.Submitted)
    def _take(self, event: PlainInput.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value.strip())

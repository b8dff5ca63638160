"""Asks where to write an export, and never overwrites a file without a second enter."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.core.sink import write
from widgets import PlainInput, plain


class ExportDialog(ModalScreen[str | None]):
    """Writes `text` and returns the path, or None if closed without writing.

    Where the text depends on the file's extension, `text` is a function of the path and `note` lists the
    extensions.
    """

    CSS_PATH = "export.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, suggested: Path, text: str | Callable[[Path], str], note: str = "") -> None:
        super().__init__()
        self._suggested = suggested
        self._text = text
        self._note = note
        self._confirmed: Path | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="export") as box:
            box.border_title = "Export to a file"
            box.border_subtitle = "enter writes, esc closes"
            yield PlainInput(str(self._suggested), id="export-path")
            yield Static(self._note, id="export-problem", markup=False)

    @on(PlainInput.Submitted)
    def _write(self, event: PlainInput.Submitted) -> None:
        try:
            path = Path(event.value).expanduser()
            if path.exists() and path != self._confirmed:
                self._confirmed = path
                self._say(f"{path} exists. Press enter again to overwrite it.")
                return
            text = self._text if isinstance(self._text, str) else self._text(path)
            write(path, text)
        except (OSError, ValueError, RuntimeError) as error:
            # ValueError: a NUL in the name; RuntimeError: no home folder.
            reason = getattr(error, "strerror", None) or error
            self._say(f"{event.value} cannot be written: {reason}. Choose another file.")
        else:
            self.dismiss(str(path.absolute()))

    def _say(self, text: str) -> None:
        self.query_one("#export-problem", Static).update(plain(text))

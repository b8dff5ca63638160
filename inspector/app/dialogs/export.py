"""Dialogs with one field: a path, a file to write, a tool to pick."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.core.error import ToolsightError
from inspector.core.redaction import write
from inspector.session.view import SessionView
from widgets import Column, PlainInput, Record, RecordList, plain


class PathDialog(ModalScreen[str | None]):
    """Returns the path that was entered, or None if it was closed. It opens nothing itself."""

    CSS_PATH = "export.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, title: str, verb: str, suggested: str, note: str) -> None:
        """`verb` says what enter does; `note` stands below the path."""
        super().__init__()
        self._title, self._verb = title, verb
        self._suggested, self._note = suggested, note

    def compose(self) -> ComposeResult:
        with Vertical(id="path-box") as box:
            box.border_title = plain(self._title, limit=200, newlines=False)
            box.border_subtitle = f"enter {self._verb}, esc closes"
            yield PlainInput(self._suggested, placeholder="file or folder", id="path")
            yield Static(plain(self._note), id="path-note", markup=False)

    @on(PlainInput.Submitted)
    def _submitted(self, event: PlainInput.Submitted) -> None:
        if event.value.strip():
            self.take(event.value.strip())

    def take(self, path: str) -> None:
        """Take what was entered."""
        self.dismiss(path)


class ExportDialog(PathDialog):
    """Writes `text` and returns the path, or None if closed without writing.

    Bytes are written as they are. Where the text depends on the file's extension, `text` is a function of the
    path, which runs in a thread, and `note` lists the extensions.
    """

    def __init__(
        self, suggested: Path, text: str | bytes | Callable[[Path], str | bytes], note: str, what: str
    ) -> None:
        title = f"Export {what} to a file" if what else "Export to a file"
        super().__init__(title, "writes", str(suggested), note)
        self._text = text
        self._confirmed: Path | None = None

    def take(self, path: str) -> None:
        """Write the file, once more after a second enter if there is one already, and close."""
        try:
            file = Path(path).expanduser()
            if file.exists() and file != self._confirmed:
                self._confirmed = file
                self._say(f"{file} exists. Press enter again to overwrite it.")
                return
        except (OSError, ValueError, RuntimeError) as error:
            self._refuse(path, error)
        else:
            self.run_worker(self._write(file.absolute()), exclusive=True, exit_on_error=False)

    async def _write(self, file: Path) -> None:
        try:
            text = await asyncio.to_thread(self._text, file) if callable(self._text) else self._text
            write(file, text)
        except (OSError, ValueError, RuntimeError, ToolsightError) as error:
            self._refuse(str(file), error)
        else:
            self.dismiss(str(file))

    def _refuse(self, path: str, error: Exception) -> None:
        # ValueError: a NUL in the name; RuntimeError: no home folder.
        reason = getattr(error, "strerror", None) or error
        self._say(f"{path} cannot be written: {reason}. Choose another file.")

    def _say(self, text: str) -> None:
        self.query_one("#path-note", Static).update(plain(text))


_COLUMNS = (Column("tool", weight=3, shorten="name"), Column("state", min_width=8))
_EMPTY = "No server is ready. You can still type a tool's name and press enter."


class ToolPicker(ModalScreen[str | None]):
    """Returns a tool's id, the typed text if no tool matches, or None if closed."""

    CSS_PATH = "export.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "close", show=False),
        Binding("down", "focus_list", show=False),
    ]
    AUTO_FOCUS = "#picker-name"

    def __init__(self, session: SessionView, title: str) -> None:
        super().__init__()
        self._title = title
        self._rows = tuple(
            Record(tool.id, (tool.id, tool.binding.value)) for tool in session.state.tools.values()
        )

    def compose(self) -> ComposeResult:
        with Vertical(id="picker") as box:
            box.border_title = self._title
            box.border_subtitle = "type to filter, enter picks the first, ↓ goes to the list, esc closes"
            yield PlainInput(placeholder="tool name", id="picker-name")
            yield RecordList(_COLUMNS, self._rows, empty=_EMPTY, filterable=False, id="picker-tools")

    @on(PlainInput.Changed, "#picker-name")
    def _filter(self, event: PlainInput.Changed) -> None:
        self.query_one(RecordList).filter_text = event.value

    @on(PlainInput.Submitted, "#picker-name")
    def _take_first(self, event: PlainInput.Submitted) -> None:
        shown = self.query_one(RecordList).shown
        if shown or event.value.strip():
            self.dismiss(shown[0].key if shown else event.value.strip())

    @on(RecordList.Selected)
    def _take(self, event: RecordList.Selected) -> None:
        self.dismiss(event.key)

    def action_focus_list(self) -> None:
        """Move the focus from the input to the list."""
        self.query_one(RecordList).focus()

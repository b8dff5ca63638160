"""Asks for a tool, by filtering the catalog or by typing any name."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from inspector.session.view import SessionView
from widgets import Column, PlainInput, Record, RecordList

_COLUMNS = (Column("tool", weight=3, shorten="name"), Column("state", min_width=8))
_EMPTY = "No server is ready. You can still type a tool's name and press enter."


class ToolPicker(ModalScreen[str | None]):
    """Returns a tool's id, the typed text if no tool matches, or None if closed."""

    CSS_PATH = "tool_picker.tcss"
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

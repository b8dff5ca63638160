"""Choosing a toolset or a model."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.app.presenters.choice import COLUMNS, model_rows, toolset_rows
from inspector.app.presenters.failure import failure_text
from inspector.domain.error import ToolsightError
from inspector.engine.workbench import Workbench
from widgets import PlainInput, Record, RecordList

# Records need a key, and "" (all tools) cannot be one.
ALL_TOOLS = "all"


class ChoiceDialog(ModalScreen[None]):
    """A list and a line for what went wrong; it closes when the choice has been taken."""

    CSS_PATH = "choice.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close", show=False)]
    AUTO_FOCUS = "RecordRows"

    def __init__(self, title: str, rows: tuple[Record, ...], choose: Callable[[str], None]) -> None:
        super().__init__()
        self._title = title
        self._rows = rows
        self._choose = choose

    def compose(self) -> ComposeResult:
        with Vertical(id="choice") as box:
            box.border_title = self._title
            box.border_subtitle = "enter takes it, esc closes"
            yield from self.extra()
            yield RecordList(COLUMNS, self._rows, empty="Nothing to choose from.", lines=2)
            yield Static(id="choice-error", markup=False)

    def extra(self) -> ComposeResult:
        """What stands above the list."""
        yield from ()

    @on(RecordList.Selected)
    def _take_row(self, event: RecordList.Selected) -> None:
        self.take(event.key)

    def take(self, name: str) -> None:
        """Take the choice, or say why it cannot be taken."""
        try:
            self._choose(name)
        except ToolsightError as error:
            self.query_one("#choice-error", Static).update(failure_text(error)[1])
        else:
            self.dismiss()


class ToolsetDialog(ChoiceDialog):
    """Every toolset of the configuration, and all tools."""

    def __init__(self, bench: Workbench) -> None:
        rows = toolset_rows(bench.configuration.toolsets, bench.state.toolset, ALL_TOOLS)
        super().__init__("Toolset", rows, lambda key: bench.switch_toolset("" if key == ALL_TOOLS else key))


class ModelDialog(ChoiceDialog):
    """Models to start from, and a line for any other name."""

    AUTO_FOCUS = "#choice-name"

    def __init__(self, bench: Workbench) -> None:
        super().__init__("Model", model_rows(bench.state.model), bench.switch_model)

    def extra(self) -> ComposeResult:
        yield PlainInput(placeholder="any litellm name: openai/…, anthropic/…, ollama/…", id="choice-name")

    @on(PlainInput.Submitted, "#choice-name")
    def _take_name(self, event: PlainInput.Submitted) -> None:
        if event.value.strip():
            self.take(event.value.strip())

"""Choosing a toolset, a model or a milestone."""

from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.app.context import Context
from inspector.app.dialogs.choice_row import COLUMNS, milestone_rows, model_rows, toolset_rows
from inspector.app.draw.failure import failure_text
from inspector.domain.error import ToolsightError
from widgets import PlainInput, Record, RecordList

# What the row for no toolset is called; a configuration may call a toolset of its own the same.
_ALL_TOOLS = "all tools"


class ChoiceDialog(ModalScreen[None]):
    """A list and a line for what went wrong; it closes when the choice has been taken."""

    # Whole, because Textual looks for a relative one beside each subclass.
    CSS_PATH = Path(__file__).with_name("choice.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close", show=False)]
    AUTO_FOCUS = "RecordRows"

    def __init__(
        self, title: str, rows: tuple[Record, ...], choose: Callable[[str], None], current: str
    ) -> None:
        super().__init__()
        self._current = current
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

    def on_mount(self) -> None:
        self.query_one(RecordList).move_to(self._current)

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

    def __init__(self, context: Context) -> None:
        session = context.session
        toolsets = session.configuration.toolsets
        everything = _unused(_ALL_TOOLS, toolsets)
        rows = toolset_rows(toolsets, session.state.toolset, everything)
        current = session.state.toolset or everything

        def choose(key: str) -> None:
            context.commands.switch_toolset("" if key == everything else key)

        super().__init__("Toolset", rows, choose, current)


class NamedDialog(ChoiceDialog):
    """A list to start from, and a line for any other name."""

    AUTO_FOCUS = "#choice-name"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "focus_list", show=False)]
    hint: ClassVar[str] = ""

    def extra(self) -> ComposeResult:
        yield PlainInput(placeholder=self.hint, id="choice-name")

    def action_focus_list(self) -> None:
        """Down leaves the line for the list."""
        self.query_one(RecordList).focus()

    @on(PlainInput.Submitted, "#choice-name")
    def _take_name(self, event: PlainInput.Submitted) -> None:
        if event.value.strip():
            self.take(event.value.strip())


class ModelDialog(NamedDialog):
    """Any model by its name."""

    hint = "any litellm name: openai/…, anthropic/…, ollama/…"

    def __init__(self, context: Context) -> None:
        current = context.session.state.model
        super().__init__(
            "Model", model_rows(current), lambda name: context.commands.switch_model(name), current
        )


class MilestoneDialog(NamedDialog):
    """A milestone that is reached; tools may have waited for it."""

    hint = "the name of a milestone that is reached now"

    def __init__(self, context: Context) -> None:
        session = context.session
        rows = milestone_rows(session.settings.access.preconditions, session.state.milestones)
        super().__init__("Milestone", rows, lambda name: context.commands.milestone(name), "")


def _unused(name: str, taken: Container[str]) -> str:
    """The name, or one like it that nothing else has."""
    while name in taken:
        name = f"({name})"
    return name


DIALOGS: Mapping[str, Callable[[Context], ChoiceDialog]] = {
    "toolset": ToolsetDialog,
    "model": ModelDialog,
    "milestone": MilestoneDialog,
}
"""The questions that a command of the app asks, by name."""

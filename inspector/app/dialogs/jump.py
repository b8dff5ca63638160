"""Jump mode: a letter on every pane that takes keys; pressing it puts the cursor there."""

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Label

# Beginning with the keys under the fingers.
LETTERS = "asdfghjklqwertyuiopzxcvbnm"


def targets(screen: Screen[Any]) -> tuple[Widget, ...]:
    """Return the widgets that the tab key reaches and that are in sight, in its order."""
    in_sight = (
        widget for widget in screen.focus_chain if widget.region and screen.region.overlaps(widget.region)
    )
    return tuple(in_sight)[: len(LETTERS)]


class JumpScreen(ModalScreen[None]):
    """Takes one key: a letter jumps, any other key closes."""

    DEFAULT_CSS = """
    JumpScreen { background: $background 50%; }
    JumpScreen Label { position: absolute; width: 3; height: 1; background: $accent; color: $background;
        text-style: bold; text-align: center; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close", show=False)]

    def __init__(self, widgets: Sequence[Widget]) -> None:
        super().__init__()
        self._widgets = dict(zip(LETTERS, widgets, strict=False))

    def compose(self) -> ComposeResult:
        for letter, widget in self._widgets.items():
            label = Label(letter, markup=False)
            label.styles.offset = (widget.region.x, widget.region.y)
            yield label

    def on_key(self, event: events.Key) -> None:
        """Jump to the pane of a letter."""
        event.stop()
        self.dismiss()
        widget = self._widgets.get(event.key)
        if widget is not None and widget.is_attached:
            widget.screen.set_focus(widget)

"""A text that is redrawn to fit its size."""

from collections.abc import Callable

from textual.content import Content
from textual.widgets import Static


class Canvas(Static):
    """Calls `draw` with its width and height after every resize and on `redraw`.

    A canvas that is off screen has no size; it is drawn once it appears.
    """

    def __init__(self, draw: Callable[[int, int], Content], *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._draw_for = draw

    def on_resize(self) -> None:
        self.redraw()

    def watch_virtual_size(self) -> None:
        """Draw too when Textual sets a size without an event, as on a page shown again."""
        self.call_later(self.redraw)

    def redraw(self) -> None:
        """Draw the current content."""
        width, height = self.content_size
        if width:
            self.update(self._draw_for(width, height))

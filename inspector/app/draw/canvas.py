"""A text that is drawn anew for the room it has."""

from collections.abc import Callable

from textual.content import Content
from textual.widgets import Static


class Canvas(Static):
    """Calls `draw` with its width and height: when it gets another size, and on `redraw`.

    One that is not on the screen has no size, and is drawn when it comes there.
    """

    def __init__(self, draw: Callable[[int, int], Content], *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._draw_for = draw

    def on_resize(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Draw what is to be seen now."""
        width, height = self.content_size
        if width:
            self.update(self._draw_for(width, height))

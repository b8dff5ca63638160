"""`LineView`: the base of views that draw the lines in sight themselves, out of as many as there are."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView


class LineView(ScrollView):
    """A scroll view that grows, and is scrolled, without a layout of the screen where that moves nothing."""

    DEFAULT_CSS = "LineView { overflow-x: hidden; }"

    def resize(self, size: Size) -> None:
        """Take another size, with a new layout of the screen only if that can move something else."""
        old, room = self.virtual_size, self.container_size
        is_longer = old.width == size.width and room.height < old.height <= size.height
        if not room.width:
            self.set_reactive(LineView.virtual_size, size)  # It is laid out when it is shown first.
        elif is_longer and self.show_vertical_scrollbar:
            self.set_reactive(LineView.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size

    def scroll_line(self, line: int) -> None:
        """Scroll to a line, at once."""
        if line != self.scroll_offset.y:
            self.scroll_to(y=line, animate=False, force=True)
            self.call_after_refresh(self._draw_bar)

    def watch_show_vertical_scrollbar(self) -> None:
        """A bar that appears knows nothing of what was scrolled before."""
        self.call_after_refresh(self._draw_bar)

    def _draw_bar(self) -> None:
        """Move the scroll bar: a list scrolled before its layout would show the bar in the old position."""
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y
            self.vertical_scrollbar.refresh()

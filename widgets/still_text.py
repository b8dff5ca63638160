"""`StillText`: a text that costs nothing while it stays as it is."""

from textual.content import Content
from textual.visual import VisualType
from textual.widgets import Static


class StillText(Static):
    """A text that is drawn again only if it changed, and moves what is around it only if its size did."""

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show another text."""
        before = self.content
        if isinstance(before, Content) and isinstance(content, Content):
            if before.is_same(content):
                return
            rooms = self._room(before), self._room(content)
            layout = layout and (rooms[0] != rooms[1] or None in rooms)
        super().update(content, layout=layout)

    def _room(self, content: Content) -> tuple[int, int] | None:
        """The width and height that the text asks for; a given width counts as 0.

        None if that takes a layout to know: the text may be wrapped, or has tabs.
        """
        lines = [line.cell_length for line in content.split("\n", allow_blank=True)]
        longest = max(lines)
        if longest > self.content_size.width or "\t" in content.plain:
            return None
        is_auto = self.styles.width is not None and self.styles.width.is_auto
        return (longest if is_auto else 0), len(lines)

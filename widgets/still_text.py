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
        """The width and height that the text asks for, None if it is wrapped; a given width counts as 0."""
        lines = [line.cell_length for line in content.split("\n", allow_blank=True)]
        longest = max(lines)
        if self.styles.width is not None and self.styles.width.is_auto:
            return longest, len(lines)
        return (0, len(lines)) if longest <= self.content_size.width else None

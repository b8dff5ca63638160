"""Paints one line of content in the styles of the current theme."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget


class Painter:
    """Turns pieces of content into a strip and caches the styles it resolves."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}

    def forget(self) -> None:
        """Drop the cached styles, after a theme change."""
        self._styles.clear()

    def strip(self, pieces: Sequence[Content], style: Style, width: int) -> Strip:
        """Paint `pieces` side by side over `style`, exactly `width` cells wide."""
        line = Content("").join(pieces)
        segments = [
            Segment(text, (style + piece_style).rich_style)
            for text, piece_style in line.render(style, end="", parse_style=self.style)
            if text
        ]
        return Strip(segments, line.cell_length).adjust_cell_length(width, style.rich_style)

    def style(self, style: str | Style) -> Style:
        """Resolve a style: words and theme variables, or `.name` for a component class of the widget."""
        if isinstance(style, Style):
            return style
        if (known := self._styles.get(style)) is None:
            known = self._styles[style] = self._parse(style)
        return known

    def _parse(self, style: str) -> Style:
        if style.startswith("."):
            return component(self._widget, style[1:])
        return Style.parse(style)


def component(widget: Widget, name: str) -> Style:
    """Return the style that a component class adds to the text it is applied to.

    Its color may depend on the background ("auto"), so it is resolved on the widget's own.
    """
    alone, whole = widget.get_visual_style(name, partial=True), widget.get_visual_style(name)
    return Style(
        alone.background, whole.foreground, bold=alone.bold, underline=alone.underline, italic=alone.italic
    )

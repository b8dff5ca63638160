"""Draws content: a line in the styles of the theme, and text whose wrapped rows keep their indent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.css.styles import RulesMap
    from textual.strip import Strip
    from textual.style import Style
    from textual.visual import RenderOptions


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


# A mark such as "▸ " stands out to the left of what follows it.
_LEAD = re.compile(r" *(?:[^\w\s] )? *")
_LEAST_TEXT = 8
# A character may take two cells, and would be lost in a narrower row.
_WIDE = 2


class Hanging(Visual):
    """Draws content as it is, but begins every wrapped row where the text of its line begins.

    With `indent`, it begins at least so many cells from the left; several are those of its lines.
    """

    def __init__(self, content: Content, indent: int | Sequence[int] = 0) -> None:
        self._content = content
        lines = content.split("\n", allow_blank=True)
        indents = [indent] * len(lines) if isinstance(indent, int) else indent
        self._lines = list(zip(lines, indents, strict=True))
        self._wrapped: tuple[int, list[Content]] = (0, [])

    def __str__(self) -> str:
        return self._content.plain

    def rows(self, width: int) -> list[Content]:
        """The rows of at most `width` cells."""
        if self._wrapped[0] != width:
            self._wrapped = (width, [row for line in self._lines for row in _rows(*line, width)])
        return self._wrapped[1]

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        """The rows as strips."""
        return Content("\n").join(self.rows(width)).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """The width of the longest line."""
        return self._content.get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:  # noqa: ARG002 - they wrap nothing else
        """The number of rows."""
        return len(self.rows(width))


def _rows(line: Content, least: int, width: int) -> list[Content]:
    lead = _LEAD.match(line.plain)
    indent = max(lead.end() if lead else 0, least)
    if line.cell_length <= width or width - indent < _LEAST_TEXT:
        return line.wrap(max(width, _WIDE)) if line.plain else [line]
    first, *others = line[indent:].wrap(width - indent)
    return [line[:indent] + first, *(Content(" " * indent) + row for row in others)]

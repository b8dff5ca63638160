"""Text whose wrapped lines keep the indent of their first row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual.content import Content
from textual.visual import Visual

if TYPE_CHECKING:
    from textual.css.styles import RulesMap
    from textual.strip import Strip
    from textual.style import Style
    from textual.visual import RenderOptions

# A mark such as "▸ " stands out to the left of what follows it.
_LEAD = re.compile(r" *(?:[^\w\s] )? *")
_LEAST_TEXT = 8
# A character may take two cells, and would be lost in a narrower row.
_WIDE = 2


class Hanging(Visual):
    """Draws content as it is, but begins every wrapped row where the text of its line begins.

    With `indent`, it begins at least so many cells from the left.
    """

    def __init__(self, content: Content, indent: int = 0) -> None:
        self._content = content
        self._indent = indent
        self._wrapped: tuple[int, list[Content]] = (0, [])

    def __str__(self) -> str:
        return self._content.plain

    def rows(self, width: int) -> list[Content]:
        """The rows of at most `width` cells."""
        if self._wrapped[0] != width:
            lines = self._content.split("\n", allow_blank=True)
            self._wrapped = (width, [row for line in lines for row in _rows(line, width, self._indent)])
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


def _rows(line: Content, width: int, least: int) -> list[Content]:
    lead = _LEAD.match(line.plain)
    indent = max(lead.end() if lead else 0, least)
    if line.cell_length <= width or width - indent < _LEAST_TEXT:
        return line.wrap(max(width, _WIDE)) if line.plain else [line]
    first, *others = line[indent:].wrap(width - indent)
    return [line[:indent] + first, *(Content(" " * indent) + row for row in others)]

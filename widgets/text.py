"""Text from outside made safe to show, shortened, wrapped and painted: nothing hidden, never markup."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from widgets.terminal_text import ELLIPSIS, PILE, escape, visible

if TYPE_CHECKING:
    from textual.css.styles import RulesMap
    from textual.visual import RenderOptions


# Not `$text-muted`: in content (unlike in CSS) Textual draws automatic colors as plain white.
MUTED: Final = "$foreground 60%"
"""The style of what matters less."""


def plain(text: str, *, limit: int = 20_000, newlines: bool = True, exact: bool = False) -> Content:
    """Return `text` as safe content: hidden characters visible, never read as markup."""
    return Content(visible(text, limit=limit, newlines=newlines, exact=exact))


def link(text: str, action: str, style: str = "") -> Content:
    """Return `text` as safe content that runs an action of Textual when it is clicked."""
    content = plain(text, newlines=False)
    spans = [Span(0, len(content), Style.from_meta({"@click": action}))]
    return content.add_spans([Span(0, len(content), style), *spans] if style else spans)


def safe(content: Content | str, *, limit: int = 20_000, newlines: bool = True) -> Content:
    """Return `content` with its styles and its hidden characters visible; a string becomes plain content."""
    if isinstance(content, str):
        return plain(content, limit=limit, newlines=newlines)
    text = content.plain
    if len(text) <= limit and visible(text, limit=limit, newlines=newlines) == text:
        return content
    shown = [visible(character, newlines=newlines) for character in text[:limit]]
    probe = "".join(piece if len(piece) == 1 else "\\" for piece in shown)
    for pile in PILE.finditer(probe):
        shown[slice(*pile.span())] = map(escape, pile.group())
    offsets = [0]
    for piece in shown:
        offsets.append(offsets[-1] + len(piece))
    spans = [
        Span(offsets[span.start], offsets[min(span.end, len(shown))], span.style)
        for span in content.spans
        if span.start < len(shown)
    ]
    return Content("".join(shown) + visible(text[limit:], limit=0), spans)


def cells(line: str) -> int:
    """Return how many cells a visible line takes."""
    return len(line) if line.isascii() else cell_len(line)


def middle(text: str, width: int) -> str:
    """Cut the middle of `text` to fit `width` cells, so that a name keeps both ends."""
    if width <= 0:
        return ""
    reach = 6 * width + 64
    cut = len(text) > 2 * reach
    line = visible(text[:reach] + text[-reach:] if cut else text, newlines=False, limit=2 * reach)
    if not cut and cells(line) <= width:
        return line
    return _fitting(line, width // 2) + ELLIPSIS + _ending(line, (width - 1) // 2)


def head(line: str, width: int) -> str:
    """Cut the end of a visible line to fit `width` cells."""
    return line if cells(line) <= width else _fitting(line, width - 1) + ELLIPSIS * (width > 0)


def _ending(line: str, width: int) -> str:
    """Return the longest suffix of `line` that fits into `width` cells."""
    if line.isascii():
        return line[-width:] if width > 0 else ""
    return _without_leading_marks(_fitting(line[::-1], width)[::-1])


def _fitting(text: str, width: int) -> str:
    """Return the longest prefix of `text` that fits into `width` cells."""
    if text.isascii():
        return text[: max(width, 0)]
    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:index]
    return text


def _without_leading_marks(text: str) -> str:
    """Drop marks whose letter was cut off: they would land on the ellipsis."""
    start = 0
    while start < len(text) and cell_len(text[start]) == 0:
        start += 1
    return text[start:]


# Of a name that is too long, the server has this share of the cells, and at least so many.
_SERVER_SHARE, _LEAST_SERVER = 3, 6
# In fewer cells than these, a server would leave nothing of its tool.
_LEAST_BOTH = 14


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Fit names into `width` cells; names that differ stay different where `width` allows it at all.

    Of `server:tool` the server stays whole up to a share of the cells that is the same for all names, and the
    tool is cut in its middle. If all tools are on one server and any does not fit, no name shows the server.
    Only names that would look alike are cut elsewhere; if that does not help, they get a number.

    Args:
        names: Lines of visible text.
        width: The most cells of each.

    Returns:
        What to show for each name.
    """
    whole = dict.fromkeys(names)
    bare = _bare(whole, width)
    shown = {name: bare[name] for name in whole if cells(bare[name]) <= width}
    taken = set(shown.values())
    pending = {name: _forms(bare[name], width) for name in whole if name not in shown}
    alike: list[str] = []
    while pending:
        tried = {name: next(forms, "") for name, forms in pending.items()}
        times = Counter(tried.values())
        fresh = {
            name: text for name, text in tried.items() if text and times[text] == 1 and text not in taken
        }
        shown |= fresh
        taken.update(fresh.values())
        alike += [name for name, text in tried.items() if not text]
        pending = {name: pending[name] for name, text in tried.items() if text and name not in fresh}
    return shown | _numbered(alike, width, taken)


def _bare(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name without its server, if that is one for all and any of them is too long."""
    split = {name: name.partition(":") for name in names}
    bare = {name: tool or name for name, (_, _, tool) in split.items()}
    is_one = len({server for server, _, _ in split.values()}) == 1 and len(set(bare.values())) == len(bare)
    return bare if is_one and any(cells(name) > width for name in bare) else {name: name for name in bare}


def _forms(name: str, width: int) -> Iterator[str]:
    """Yield what a name that is too long can become, the best first."""
    server, colon, tool = name.partition(":")
    if not colon or width < _LEAST_BOTH:
        server, tool = "", tool or name
    else:
        server = f"{head(server, max(width // _SERVER_SHARE, _LEAST_SERVER))}:"
    room = width - cells(server)
    if width > 0:
        yield server + middle(tool, room)
        yield server + ELLIPSIS + _ending(tool, room - 1)
        yield server + head(tool, room)


def _numbered(names: Iterable[str], width: int, taken: set[str]) -> dict[str, str]:
    numbered: dict[str, str] = {}
    number = 1
    for name in names:
        while (text := _with_number(name, number, width)) in taken and len(f"{number}") < width:
            number += 1
        taken.add(text)
        numbered[name] = text
    return numbered


def _with_number(name: str, number: int, width: int) -> str:
    mark = f"#{number}"
    return head(name, width - len(mark)) + mark if len(mark) <= width else middle(name, width)


def shorten(content: Content, width: int, *, where: str = "end") -> Content:
    """Shorten one line of content to `width` cells, at the end or in the middle."""
    if width <= 0:
        return Content("")
    if content.cell_length <= width:
        return content
    if where == "end":
        return content.truncate(width, ellipsis=True)
    return restyled(content, middle(content.plain, width))


def restyled(content: Content, kept: str) -> Content:
    """Return `kept`, what is left of one line of content with an ellipsis, in the content's styles."""
    text = content.plain
    if kept == text:
        return content
    before, _, after = kept.partition(ELLIPSIS)
    if not (text.startswith(before) and text.endswith(after)):
        return Content(kept)
    end = content[len(text) - len(after) :] if after else Content("")
    return Content("").join([content[: len(before)], Content(ELLIPSIS), end])


def matcher(query: str) -> Callable[[str], bool]:
    """Return a test whether a case-folded text contains every word of `query`."""
    words = query.casefold().split()
    return lambda folded: all(word in folded for word in words)


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

"""`BigNumber`: a number drawn as large as there is room, to be read from the last row of a hall."""

from __future__ import annotations

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

# Three by five dots for each character.
_FONT = {
    "0": ("###", "# #", "# #", "# #", "###"),
    "1": (" # ", "## ", " # ", " # ", "###"),
    "2": ("###", "  #", "###", "#  ", "###"),
    "3": ("###", "  #", "###", "  #", "###"),
    "4": ("# #", "# #", "###", "  #", "  #"),
    "5": ("###", "#  ", "###", "  #", "###"),
    "6": ("###", "#  ", "###", "# #", "###"),
    "7": ("###", "  #", "  #", " # ", " # "),
    "8": ("###", "# #", "###", "# #", "###"),
    "9": ("###", "# #", "###", "  #", "###"),
    "%": ("# #", "  #", " # ", "#  ", "# #"),
    "-": ("   ", "   ", "###", "   ", "   "),
    ".": ("   ", "   ", "   ", "   ", " # "),
}
_WIDTH, _HEIGHT = 3, 5
# A cell is twice as high as it is wide, so that half a cell is a dot.
_CELLS = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def size_for(text: str, width: int, height: int) -> int:
    """Return the largest size of a dot, in cells across, at which the text fits; 0 if none does."""
    across = max(len(text) * (_WIDTH + 1) - 1, 1)
    return max(min(width // across, 2 * height // _HEIGHT), 0)


def big(text: str, size: int) -> list[str]:
    """Draw digits, `%`, `-` and `.` with dots of `size` cells across and half of it down, a line a row.

    Any other character is left out.
    """
    glyphs = [_FONT[character] for character in text if character in _FONT]
    if size <= 0 or not glyphs:
        return []
    dots = [
        [dot == "#" for dot in " ".join(glyph[row] for glyph in glyphs) for _ in range(size)]
        for row in range(_HEIGHT)
        for _ in range(size)
    ]
    if len(dots) % 2:
        dots.append([False] * len(dots[0]))
    pairs = zip(dots[::2], dots[1::2], strict=True)
    return ["".join(_CELLS[pair] for pair in zip(upper, lower, strict=True)) for upper, lower in pairs]


class BigNumber(Widget):
    """Fills its place with a number; a place too small for dots gets the text itself."""

    DEFAULT_CSS = "BigNumber { width: 1fr; height: 1fr; content-align: center middle; }"

    value: reactive[str] = reactive("")

    def render(self) -> RenderResult:
        size = size_for(self.value, self.content_size.width, self.content_size.height)
        return Content("\n".join(big(self.value, size)) or self.value)

"""Slides as self-contained SVG: no script, no external font or picture, and only escaped text."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from widgets import visible

WIDTH, HEIGHT = 1280, 720
# The colors of the dark theme.
BACKGROUND, INK, DIM, GOOD, BAD = "#16161e", "#c8d3f5", "#8b93b8", "#9ece6a", "#ff9e64"
BLUE = "#7aa2f7"
_FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"


def slide(parts: Iterable[str]) -> str:
    """Return a whole picture of 1280 x 720."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family={quoteattr(_FONT)}>'
    )
    return "\n".join((head, box(0, 0, WIDTH, HEIGHT, BACKGROUND), *parts, "</svg>")) + "\n"


def text(
    x: float, y: float, words: str, size: float, fill: str = INK, *, weight: int = 400, anchor: str = "start"
) -> str:
    """Return one line of text whose baseline starts, ends or is centered at a point."""
    attributes = _attributes(x=x, y=y, font_size=size, font_weight=weight, fill=fill, text_anchor=anchor)
    return f'<text{attributes} xml:space="preserve">{escape(visible(words, newlines=False))}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, *, corner: float = 0) -> str:
    """Return a filled rectangle; `corner` is the corner radius in pixels."""
    rounded = {"rx": corner} if corner else {}
    return f"<rect{_attributes(x=x, y=y, width=width, height=height, **rounded, fill=fill)}/>"


def outline(x: float, y: float, width: float, height: float, color: str) -> str:
    """Return an empty rectangle."""
    shape = _attributes(x=x, y=y, width=width, height=height)
    return f"<rect{shape}{_attributes(fill='none', stroke=color, stroke_width=2)}/>"


def line(points: Sequence[tuple[float, float]], color: str, width: float, *, dashes: str = "") -> str:
    """Return straight lines from point to point."""
    path = " ".join(f"{'L' if number else 'M'}{x:.1f} {y:.1f}" for number, (x, y) in enumerate(points))
    dashed = {"stroke_dasharray": dashes} if dashes else {}
    return f"<path{_attributes(d=path, fill='none', stroke=color, stroke_width=width, **dashed)}/>"


def dot(x: float, y: float, color: str) -> str:
    """Return a point of a curve."""
    return f"<circle{_attributes(cx=x, cy=y, r=5, fill=color)}/>"


def _attributes(**values: str | float) -> str:
    """Return XML attributes, underscores as hyphens and numbers with at most one decimal."""
    texts = (
        value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0") for value in values.values()
    )
    return "".join(
        f" {name.replace('_', '-')}={quoteattr(text)}" for name, text in zip(values, texts, strict=True)
    )

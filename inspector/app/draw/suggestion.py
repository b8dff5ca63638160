"""Plugins of the marketplace that a search suggests, apart from the tools that it found."""

from collections.abc import Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.core.marketplace import Suggestion
from inspector.core.number import percent
from inspector.core.plugin import price_text
from widgets import middle, plain

TITLE = "in the marketplace, not installed"
_NAME, _FITS, _PRICE, _INDENT, _LONGEST = 24, 6, 15, 4, 400


def suggestion_lines(suggested: Sequence[Suggestion], width: int) -> list[Content]:
    """Return a title and a line of at most `width` cells for each plugin; nothing without any.

    Prices take room only where a plugin has one.
    """
    if not suggested:
        return []
    name = min(max(len(one.plugin) for one in suggested), _NAME)
    price = max(len(price_text(one.price)) for one in suggested)
    head = Content.styled(f"  ◇ {TITLE}"[:width], "$text-accent")
    return [head, *(_line(one, name, min(price, _PRICE), width) for one in suggested)]


def _line(one: Suggestion, name: int, price: int, width: int) -> Content:
    about = plain(one.description, newlines=False, limit=_LONGEST).stylize(MUTED)
    costs = f"  {price_text(one.price):<{price}} " if price else "  "
    room = max(width - _INDENT - name - _FITS - len(costs), 0)
    return Content.assemble(
        " " * _INDENT,
        middle(one.plugin, name).ljust(name),
        (f"{percent(one.similarity):>{_FITS}}", "bold"),
        (costs, MUTED),
        about.truncate(room, ellipsis=True) if room > 1 else "",
    )

"""A bar for one row of a list, split by signal and lettered, so that it reads without color."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

_BODY = "━"


def stacked(parts: Sequence[tuple[str, float, str]], width: int, maximum: float) -> Content:
    """Draw `N━━━D━P━`: each part begins with its letter and is as long as its share of `maximum`.

    Args:
        parts: A letter, a value and a style for each part; values of 0 or less are skipped.
        width: The width in cells of a bar worth `maximum`; shorter bars are padded to it.
        maximum: The value of a full bar, such as the best score.

    Returns:
        Content of exactly `width` cells.
    """
    if width <= 0:
        return Content("")
    shown = [part for part in parts if part[1] > 0]
    scale = max(maximum, sum(value for _, value, _ in shown))
    pieces: list[Content] = []
    drawn, so_far = 0, 0.0
    for letter, value, style in shown:
        so_far += value
        length = round(so_far / scale * width) - drawn
        if length > 0:
            pieces.append(Content.styled(letter[:1] + _BODY * (length - 1), style))
            drawn += length
    return Content("").join([*pieces, Content(" " * (width - drawn))])

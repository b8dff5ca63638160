"""What a person sees: the text of the screen, line by line."""

from typing import Any

from textual.app import App
from textual.widget import Widget


def lines(app: App[Any]) -> list[str]:
    """Return the text of every line on screen."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def seen(widget: Widget) -> str:
    """Return what a line-API widget draws, without its scrollbars."""
    return "\n".join(widget.render_line(y).text for y in range(widget.size.height))

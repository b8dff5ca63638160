"""An app that shows a widget, and what a person sees: the text of the screen, line by line."""

from typing import Any, Generic, TypeVar

from textual.app import App, ComposeResult
from textual.widget import Widget

Shown = TypeVar("Shown", bound=Widget)


class Host(App[None], Generic[Shown]):
    """Shows widgets one below the other; `made` is the first."""

    def __init__(self, made: Shown, *others: Widget) -> None:
        super().__init__()
        self.made = made
        self._others = others

    def compose(self) -> ComposeResult:
        yield self.made
        yield from self._others


def lines(app: App[Any]) -> list[str]:
    """Return the text of every line on screen."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def seen(widget: Widget) -> str:
    """Return what a line-API widget draws, without its scrollbars."""
    return "\n".join(widget.render_line(y).text for y in range(widget.size.height))

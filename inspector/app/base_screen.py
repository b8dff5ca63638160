"""The base of every page: a header line, and drawing the newest view."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from inspector.app.bridge import View
from inspector.app.context import InContext
from inspector.app.draw.header import header


class HeaderLine(Static):
    """The state of the session in one line."""

    DEFAULT_CSS = "HeaderLine { dock: top; height: 1; padding: 0 1; background: $panel; color: $foreground; }"


class BaseScreen(InContext, Screen[None]):
    """A page of the app. Subclasses implement `show_view`, which runs on every change."""

    help_lines: ClassVar[tuple[str, ...]] = ()
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.back", "back", show=False)]
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-narrow"),
        (100, "-medium"),
        (170, "-wide"),
    ]

    @property
    def view(self) -> View:
        return self.context.shown

    def on_mount(self) -> None:
        self.watch(self.app, "view", self._on_view, init=False)

    def on_screen_resume(self) -> None:
        self._on_view(self.view)

    def on_resize(self) -> None:
        self._show_header(self.view)

    def show_view(self, view: View) -> None:
        """Draw the view; the default draws nothing."""

    def _on_view(self, view: View | None) -> None:
        if view is not None and self.is_current:
            self._show_header(view)
            self.show_view(view)

    def _show_header(self, view: View) -> None:
        for line in self.query(HeaderLine):
            line.update(header(view.state, self.size.width))

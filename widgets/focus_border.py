"""`FocusBorder`: a border that shows that the focus is within, at the price of one widget's style."""

from __future__ import annotations

from textual.containers import Container
from textual.widget import Widget


class FocusBorder(Widget):
    """Mixed into a container, takes the theme's primary color while something in it has the focus.

    It stands after the container among the bases, because styles come from the first one. For `:focus-within`
    Textual styles everything in the container again with each move of the focus, which takes a tenth of a
    second and more where that is a hundred widgets.
    """

    def on_mount(self) -> None:
        """Follow another theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._light())

    def on_descendant_focus(self) -> None:
        self._light()

    def on_descendant_blur(self) -> None:
        self._light()

    def _light(self) -> None:
        kind, _ = self.styles.base.border_top
        color = self.app.theme_variables["primary"]
        self.styles.border = (kind, color) if self.has_focus_within and kind else None


class FocusFrame(Container, FocusBorder):
    """A container with such a border."""

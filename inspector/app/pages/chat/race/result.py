"""The result of a race: the saved share in big digits if there is room, and the rest in words."""

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Digits, Static


class RaceResult(Horizontal):
    """The result panel; long notes scroll with the page's keys."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id, classes="pane")

    def compose(self) -> ComposeResult:
        yield Digits(id="race-saved")
        with VerticalScroll(id="race-text", can_focus=False):
            yield Static(id="race-said")

    def show(self, said: Content, share: str) -> None:
        """Draw the text; `share` is set once the race is over."""
        saved = self.query_one("#race-saved", Digits)
        saved.update(share)
        saved.display = bool(share) and not self.screen.has_class("-narrow")
        self.query_one("#race-said", Static).update(said)
        self.border_title = "Result" if share else "Race"

    def scroll_text(self, by: int) -> None:
        """Scroll by that many lines."""
        self.query_one("#race-text").scroll_relative(y=by, animate=False)

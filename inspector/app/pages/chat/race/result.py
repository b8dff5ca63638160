"""The result of a race: the saved share as large as the screen allows, both sides in numbers, the notes."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.pages.chat.race import outcome
from inspector.engine.scenario.race import Verdict
from widgets import BigNumber


class RaceResult(Vertical):
    """What is said of the race; at its end the number and its footnotes, which scroll with the keys."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)

    def compose(self) -> ComposeResult:
        with Horizontal(id="race-end"):
            yield BigNumber(id="race-saved")
            yield Static(id="race-table", markup=False)
        with VerticalScroll(id="race-text", can_focus=False):
            yield Static(id="race-said", markup=False)

    def show(self, said: Content, verdict: Verdict | None) -> None:
        """Draw the text, or the verdict of a race that is over."""
        if verdict is not None:
            saved = self.query_one(BigNumber)
            saved.value = outcome.big_share(verdict)
            saved.display = bool(saved.value)
            saved.set_class((verdict.saved or 0) < 0, "-more")
            self.query_one("#race-table", Static).update(outcome.table(verdict))
            said = Content("\n").join([outcome.headline(verdict), outcome.notes(verdict)])
        self.query_one("#race-said", Static).update(said)

    def scroll_text(self, by: int) -> None:
        """Scroll by that many lines."""
        self.query_one("#race-text").scroll_relative(y=by, animate=False)

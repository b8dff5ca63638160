"""One racer of a race: its tokens in big digits, a bar, and its model calls."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Digits, Static

from inspector.app.pages.chat.race import content
from inspector.app.scenario_job import Progress
from inspector.engine.scenario.race import RaceFrame
from inspector.engine.scenario.racer import Racer

# Cells of a big digit, of a comma, and of the gap before the facts.
_DIGIT, _COMMA, _GAP = 3, 1, 2


class RacerPanel(Vertical):
    """A racer; side 0 is static binding."""

    def __init__(self, side: int) -> None:
        super().__init__(id=f"racer-{side}", classes="pane racer")
        self._side = side

    def compose(self) -> ComposeResult:
        with Horizontal(classes="racer-head"):
            yield Digits("0", classes="racer-tokens")
            yield Static(classes="racer-facts")
        yield Static(classes="racer-bar")
        yield Static(classes="racer-calls")

    def show(
        self, shown: Sequence[RaceFrame], racer: Racer, progress: Progress | None, most: tuple[int, int]
    ) -> None:
        """Draw the racer; `most` holds the tokens of a full total bar and of a full call bar."""
        title, state = content.racer_title(racer.profile), content.racer_state(racer, progress)
        if self.screen.has_class("-narrow"):
            title, state = Content.assemble(" ", title, "   ", state, " "), Content()
        self.border_title, self.border_subtitle = title, state
        digits = f"{racer.tokens:,}"
        self.query_one(Digits).update(digits)
        taken = sum(_COMMA if character == "," else _DIGIT for character in digits) + _GAP
        self.query_one(".racer-facts", Static).update(content.facts(racer, self.content_size.width - taken))
        bar, calls = self.query_one(".racer-bar", Static), self.query_one(".racer-calls", Static)
        bar.update(content.bar(racer, most[0], bar.content_size.width, content.COLORS[self._side]))
        calls.update(content.log(shown, self._side, calls.content_size.height, most[1]))

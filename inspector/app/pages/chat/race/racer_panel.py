"""One racer: what it has sent in big digits, a bar, and its model calls."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Digits, Static

from inspector.app.pages.chat.race import content
from inspector.app.scenario_job import Progress
from inspector.engine.scenario.race import RaceFrame
from inspector.engine.scenario.racer import Racer

# Cells of a big digit and of a comma between them, and those between them and the facts.
_DIGIT, _COMMA, _GAP = 3, 1, 2


class RacerPanel(Vertical):
    """Side 0 is static binding."""

    def __init__(self, side: int) -> None:
        super().__init__(id=f"lane-{side}", classes="pane lane")
        self._side = side

    def compose(self) -> ComposeResult:
        with Horizontal(classes="lane-head"):
            yield Digits("0", classes="lane-tokens")
            yield Static(classes="lane-facts")
        yield Static(classes="lane-bar")
        yield Static(classes="lane-calls")

    def show(
        self, shown: Sequence[RaceFrame], racer: Racer, progress: Progress | None, most: tuple[int, int]
    ) -> None:
        """Draw the racer; `most` are the tokens of the longest bar, and of that of a single call."""
        title, state = content.racer_title(racer.profile), content.racer_state(racer, progress)
        if self.screen.has_class("-narrow"):
            title, state = Content.assemble(" ", title, "   ", state, " "), Content()
        self.border_title, self.border_subtitle = title, state
        digits = f"{racer.tokens:,}"
        self.query_one(Digits).update(digits)
        taken = sum(_COMMA if one == "," else _DIGIT for one in digits) + _GAP
        self.query_one(".lane-facts", Static).update(content.facts(racer, self.content_size.width - taken))
        bar, calls = self.query_one(".lane-bar", Static), self.query_one(".lane-calls", Static)
        bar.update(content.bar(racer, most[0], bar.content_size.width, content.COLORS[self._side]))
        calls.update(content.log(shown, self._side, calls.content_size.height, most[1]))

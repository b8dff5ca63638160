"""One lane of a race: its tokens in big digits, a bar, and its model calls."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Digits, Static

from inspector.app.pages.chat.race import content
from inspector.app.scenario_job import Progress
from inspector.engine.scenario.lane import Lane
from inspector.engine.scenario.race import Frame

# Cells of a big digit, of a comma, and of the gap before the facts.
_DIGIT, _COMMA, _GAP = 3, 1, 2


class RaceLane(Vertical):
    """A lane; side 0 is static binding."""

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
        self, shown: Sequence[Frame], lane: Lane, progress: Progress | None, most: tuple[int, int]
    ) -> None:
        """Draw the lane; `most` holds the tokens of a full total bar and of a full call bar."""
        title, state = content.lane_title(lane.profile), content.lane_state(lane, progress)
        if self.screen.has_class("-narrow"):
            title, state = Content.assemble(" ", title, "   ", state, " "), Content()
        self.border_title, self.border_subtitle = title, state
        digits = f"{lane.tokens:,}"
        self.query_one(Digits).update(digits)
        taken = sum(_COMMA if character == "," else _DIGIT for character in digits) + _GAP
        self.query_one(".lane-facts", Static).update(content.facts(lane, self.content_size.width - taken))
        bar, calls = self.query_one(".lane-bar", Static), self.query_one(".lane-calls", Static)
        bar.update(content.bar(lane, most[0], bar.content_size.width, content.COLORS[self._side]))
        calls.update(content.log(shown, self._side, calls.content_size.height, most[1]))

"""Both racers: their bars on one scale, and the model calls of each."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from inspector.app.pages.chat.race import content
from inspector.app.scenario_job import Progress
from inspector.engine.scenario.race import RaceFrame

# From this height of the terminal a bar is two rows high.
_TALL = 30


class RacePanel(Vertical):
    """Draws a moment of the race; at its end the calls make room for the result."""

    def compose(self) -> ComposeResult:
        yield Static(id="race-bars", markup=False)
        with Horizontal(id="race-calls"):
            for side in (0, 1):
                yield Static(id=f"racer-{side}", classes="pane racer", markup=False)

    def show(
        self,
        shown: Sequence[RaceFrame],
        frame: RaceFrame,
        most: tuple[int, int],
        progress: Sequence[Progress | None],
        *,
        over: bool,
    ) -> None:
        """Draw the moment; `most` holds the tokens of the larger racer, and of the largest model call."""
        bars = self.query_one("#race-bars", Static)
        rows = 2 if self.app.size.height >= _TALL else 1
        states = [content.waiting(one) if one is not None and not shown[1:] else "" for one in progress]
        bars.update(
            content.bars(frame, most[0], bars.content_size.width, rows=rows, over=over, states=states)
        )
        for side, racer in enumerate(frame.racers):
            calls = self.query_one(f"#racer-{side}", Static)
            calls.border_title = content.racer_title(racer.profile)
            calls.update(content.log(shown, side, calls.content_size.height, most[1]))

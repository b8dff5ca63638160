"""A page that plays a race back: the clock, the pace, pauses and steps."""

from textual.timer import Timer

from inspector.app.pages.chat.race.playback import Playback
from inspector.app.scenario_job import Lab
from inspector.app.scenario_screen import LabScreen

# Seconds between redraws of a race without pauses.
_DRAWN_EVERY = 0.1


class PlaybackScreen(LabScreen):
    """The actions behind the keys of a player; `show` draws the current frame."""

    def __init__(self, lab: Lab | None, pace: float) -> None:
        super().__init__(lab)
        self.playback = Playback(pace)
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        super().on_mount()
        if self.app.animation_level == "none":
            self.playback.pace = 0.0

    def restart(self) -> None:
        """Show the current frame, and continue at the chosen pace."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_interval(self.playback.pace or _DRAWN_EVERY, self._advance)
        self.show()

    def _advance(self) -> None:
        if self.playback.advance():
            self.show()

    def action_pause(self) -> None:
        """Pause or resume."""
        self.playback.pause()
        self.restart()

    def action_pace(self, by: int) -> None:
        """Show the race slower or faster."""
        self.playback.slower(by)
        self.restart()

    def action_step(self, by: int) -> None:
        """Pause, and move by that many model calls."""
        self.playback.step(by)
        self.show()

"""What the pages that run scenarios share: one run at a time, its progress, and what became of it."""

from textual.content import Content

from inspector.app.base_screen import BaseScreen
from inspector.app.draw.failure import failure_text
from inspector.app.scenario_job import Lab, LabJob

# Seconds between two drawings of a run's progress.
_DRAWN_EVERY = 0.1
RUN = "run"


class LabScreen(BaseScreen):
    """A page with runs, as workers of the group `RUN`. Leaving it stops them."""

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__()
        self._given = lab
        self.job = LabJob()
        self.said = Content()

    @property
    def lab(self) -> Lab | None:
        """What runs the scenarios: the one that was given, else the app's."""
        return self._given if self._given is not None else self.context.lab

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_DRAWN_EVERY, self._show_progress)

    def show(self) -> None:
        """Draw everything; the default draws nothing."""

    def show_status(self) -> None:
        """Draw the line with the progress, or with what was said last; the default draws nothing."""

    def fail(self, error: BaseException, name: str = "") -> None:
        """Say what kept a run, or the one of that name, from ending."""
        title, message = failure_text(error)
        self.say(Content.assemble((f"✕ {name or title}: ", "bold $text-error"), message))

    def say(self, text: Content) -> None:
        """Say something instead of the status, until the next run."""
        self.said = text
        self.show()

    def stop(self, again: str) -> bool:
        """Stop the run; whether there was one. `again` tells what to do for another."""
        if self.job.progress is None:
            return False
        self.job.drop()
        self.workers.cancel_group(self, RUN)
        self.say(Content.styled(f"Stopped. {again}", "$text-warning"))
        return True

    def _show_progress(self) -> None:
        if self.job.progress is not None:
            self.show_status()

"""The base of the pages that run scenarios: one run at a time, its progress and its outcome."""

from textual.content import Content

from inspector.app.base_screen import BaseScreen
from inspector.app.draw.line import failure_text
from inspector.app.job import Activity
from inspector.app.scenario_job import Lab, LabJob

# Seconds between redraws of a run's progress.
_DRAWN_EVERY = 0.1
RUN = "run"


class LabScreen(BaseScreen):
    """A page whose runs are workers of the group `RUN`; they go on while other pages are shown."""

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__()
        self._given = lab
        self.job = LabJob(lambda: self.context.measuring())
        self.said = Content()

    @property
    def lab(self) -> Lab | None:
        """The lab given to this page, else the app's."""
        return self._given if self._given is not None else self.context.parts.lab

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_DRAWN_EVERY, self._show_progress)

    def show(self) -> None:
        """Draw the page; the default draws nothing."""

    def show_status(self) -> None:
        """Draw the progress line, or the last message; the default draws nothing."""

    def fail(self, error: BaseException, name: str = "") -> None:
        """Show the error that ended a run; `name` says which."""
        title, message = failure_text(error)
        self.say(Content.assemble((f"✕ {name or title}: ", "bold $text-error"), message))

    def say(self, text: Content) -> None:
        """Show a message instead of the status, until the next run."""
        self.said = text
        self.show()

    @property
    def activity(self) -> Activity | None:
        progress = self.job.progress
        return None if progress is None else Activity(progress.file.title, self.stop)

    def stop(self, again: str = "") -> bool:
        """Stop the run, and return whether there was one. `again` says how to start another."""
        if self.job.progress is None:
            return False
        self.job.drop()
        self.workers.cancel_group(self, RUN)
        self.say(Content.styled(f"Stopped. {again}".strip(), "$text-warning"))
        return True

    def _show_progress(self) -> None:
        if self.job.progress is not None:
            self.show_status()

"""The base of the pages that run scenarios: one run at a time, its progress and its outcome."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual.content import Content

from inspector.app.base_screen import BaseScreen
from inspector.app.context import Job
from inspector.app.draw.line import failure_text
from inspector.core.events import Record
from inspector.features.lab.comparison import ScenarioResult
from inspector.features.lab.feature import LAB
from inspector.features.lab.scenario_job import Choice, Lab, Progress, ScenarioFile


class LabScreen(BaseScreen):
    """A page whose runs go on while other pages are shown."""

    again: ClassVar[str] = ""
    """How to start another run."""

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__()
        self._given = lab
        self.progress: Progress | None = None
        self.results: dict[str, ScenarioResult] = {}
        self.files: tuple[ScenarioFile, ...] = ()
        self.said = Content()

    @property
    def lab(self) -> Lab | None:
        """The lab given to this page, else the app's."""
        return self._given if self._given is not None else self.context.parts.get(LAB)

    def read(self, done: Callable[[], None]) -> None:
        """Read the scenarios, if there is a lab, and go on."""
        lab = self.lab

        def read(files: Sequence[ScenarioFile]) -> None:
            self.files = tuple(files)
            done()

        def failed(error: Exception) -> None:
            self.fail(error)
            done()

        self.run_job("read", lambda _: lab.scenarios() if lab is not None else (), read, failed=failed)

    def play(
        self, lab: Lab, file: ScenarioFile, run: Choice, ended: Callable[[ScenarioResult], None]
    ) -> None:
        """Run a scenario, dropping any current run."""
        self.progress = Progress(file, run.profile)

        async def work(job: Job) -> ScenarioResult:
            def tell(record: Record) -> None:
                job.tell(partial(self._note, record))

            return await lab.run(file, run.profile, run.values, tell)

        self.run_stoppable(file.title, work, ended)
        self.show()

    def _note(self, record: Record) -> None:
        if self.progress is not None:
            self.progress = self.progress.after(record)

    def show(self) -> None:
        """Draw the page; the default draws nothing."""

    def fail(self, error: BaseException) -> None:
        """Show the error that ended a run."""
        title, message = failure_text(error)
        self.say(Content.assemble((f"✕ {title}: ", "bold $text-error"), message))

    def say(self, text: Content) -> None:
        """Show a message instead of the status, until the next run."""
        self.said = text
        self.show()

    def stop_running(self) -> None:
        """Stop the run, and say how to start another."""
        self.drop_running()
        self.say(Content.styled(f"Stopped. {self.again}", "$text-warning"))

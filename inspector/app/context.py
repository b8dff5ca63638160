"""What a page has of the app: the session to read, the commands that change it, other pages, and jobs.

A page imports this and never the app or another page, so that pages can be read and changed one by one.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from textual.message import Message
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from inspector.app.draw.failure import failure_text
from inspector.app.navigation import Destination, ToolPage
from inspector.domain.error import ToolsightError
from inspector.engine.commands import Commands
from inspector.engine.view import SessionView
from widgets import RecordList, SchemaTree, TextView, visible

if TYPE_CHECKING:
    from inspector.app.bridge import View
    from inspector.app.replay import Replay
    from inspector.app.reproduction import Reproduction
    from inspector.app.scenario_job import Lab

T = TypeVar("T")
_TOAST = 2
_COPIED_SHOWN = 80


class Context(Protocol):
    """What the app offers to its pages and dialogs."""

    @property
    def session(self) -> SessionView:
        """The session that is shown: the running one, or a replay of a recorded moment."""
        ...

    @property
    def commands(self) -> Commands:
        """What changes the running session. Raises ReplayRefusal while a replay is shown."""
        ...

    @property
    def shown(self) -> "View":
        """The state and the newest events that are drawn now."""
        ...

    @property
    def replay(self) -> "Replay":
        """Which moment of which session is shown."""
        ...

    @property
    def lab(self) -> "Lab | None":
        """What runs scenarios, if the app was given it."""
        ...

    @property
    def reproduction(self) -> "Reproduction | None":
        """What published numbers are measured on, if the app was given it."""
        ...

    def open(self, destination: Destination) -> None:
        """Show a page above the one that is open."""
        ...


class Job:
    """One run of something long in a thread. `progress` is (done, total)."""

    def __init__(self, deliver: Callable[["Job", Callable[[], None]], None]) -> None:
        self.progress = (0, 0)
        self.is_stopped = False
        self._deliver = deliver
        self._on_progress: Callable[[int, int], None] | None = None

    def listen(self, on_progress: Callable[[int, int], None]) -> None:
        """Call this with every report, on the event loop."""
        self._on_progress = on_progress

    def tell(self, act: Callable[[], None]) -> None:
        """Do something on the event loop, as long as no newer job has begun; from any thread."""
        self._deliver(self, act)

    def report(self, done: int, total: int) -> None:
        """Say how far it is; from any thread."""
        self.progress = (done, total)
        if self._on_progress is not None:
            self.tell(partial(self._on_progress, done, total))

    def stopped(self) -> bool:
        """Whether it should end as soon as it can."""
        return self.is_stopped


class InContext(Widget):
    """A screen or a widget of the app, with what it shares with all others."""

    class Told(Message):
        """From the thread of a job: something to do on the event loop, unless a newer job has begun."""

        bubble = False

        def __init__(self, name: str, job: Job, act: Callable[[], None]) -> None:
            super().__init__()
            self.job_name, self.job, self.act = name, job, act

    @property
    def context(self) -> Context:
        return cast(Context, self.app)

    @property
    def session(self) -> SessionView:
        return self.context.session

    @property
    def commands(self) -> Commands:
        return self.context.commands

    def open(self, destination: Destination) -> None:
        """Show a page above the one that is open."""
        self.context.open(destination)

    def open_tool(self, tool_id: str) -> None:
        """Show a tool, or say that it is gone."""
        if self.session.catalog.get(tool_id) is None:
            self.warn(f"{visible(tool_id, limit=80, newlines=False)} is not in the catalog any more.")
            return
        self.open(ToolPage(tool_id))

    def warn(self, message: str) -> None:
        """Say what cannot be done now."""
        self.notify(message, severity="warning", markup=False)

    def fail(self, error: BaseException) -> None:
        """Say what went wrong."""
        title, message = failure_text(error)
        self.notify(message, title=title, severity="error", markup=False, timeout=10)

    def copied(self, text: str = "") -> None:
        """Say what was copied."""
        shown = visible(text, limit=_COPIED_SHOWN, newlines=False)
        self.notify(shown, title="Copied", markup=False, timeout=_TOAST)

    def copy(self, text: str, what: str) -> None:
        """Copy a text, with what is hidden in it made visible."""
        self.app.copy_to_clipboard(visible(text, limit=len(text)))
        self.copied(what)

    def on_record_list_copied(self, event: RecordList.Copied) -> None:
        event.stop()
        self.copied(event.record.copy_text())

    def on_text_view_copied(self, event: TextView.Copied) -> None:
        event.stop()
        self.copied()

    def on_schema_tree_copied(self, event: SchemaTree.Copied) -> None:
        event.stop()
        self.copied()

    @property
    def _jobs(self) -> dict[str, Job]:
        return cast("dict[str, Job]", self.__dict__.setdefault("_jobs_by_name", {}))

    def run_job(
        self,
        name: str,
        work: Callable[[Job], T],
        done: Callable[[T], None],
        *,
        failed: Callable[[ToolsightError], None] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Job:
        """Run `work` in a thread, then `done` with its result on the event loop.

        A newer job of the same name replaces this one, whose result is then dropped. A ToolsightError goes to
        `failed`, by default a toast. `progress` hears of every report, on the event loop too.
        """
        self.stop_job(name)
        job = self._jobs[name] = Job(lambda job, act: self._told(name, job, act))
        if progress is not None:
            job.listen(progress)
        self.run_worker(
            lambda: _run(job, work, done, failed or self.fail),
            group=name,
            thread=True,
            exit_on_error=False,
        )
        return job

    def _told(self, name: str, job: Job, act: Callable[[], None]) -> None:
        self.post_message(self.Told(name, job, act))

    def stop_job(self, name: str) -> None:
        """Ask a job to end; what it has by then is still delivered."""
        if name in self._jobs:
            self._jobs[name].is_stopped = True

    def drop_job(self, name: str) -> None:
        """Ask a job to end, and drop its result."""
        self.stop_job(name)
        self._jobs.pop(name, None)

    def on_unmount(self) -> None:
        for name in tuple(self._jobs):
            self.drop_job(name)
        self.workers.cancel_node(self)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Workers run with `exit_on_error=False`, so what they fail of has to be told here."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.fail(event.worker.error)

    def on_in_context_told(self, event: Told) -> None:
        event.stop()
        if self._jobs.get(event.job_name) is event.job:
            event.act()


def _run(
    job: Job, work: Callable[[Job], T], done: Callable[[T], None], failed: Callable[[ToolsightError], None]
) -> None:
    """In the thread of a job."""
    try:
        result = work(job)
    except ToolsightError as error:
        job.tell(partial(failed, error))
    else:
        job.tell(partial(done, result))

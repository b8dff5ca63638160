"""What the app gives a page: the session to read, the commands that change it, other pages, and jobs.

Pages import this module, never the app or one another, so that each can be read and changed on its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from traceback import clear_frames
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from inspector.app.draw.line import failure_text
from inspector.app.place import Activity, Destination, ToolPage, Where
from inspector.core.feature import Parts
from inspector.session.view import SessionView
from widgets import JsonTree, RecordList, TextView, visible

if TYPE_CHECKING:
    from inspector.app.opening import Opened
    from inspector.app.replay import Replay
    from inspector.app.requests import Requests
    from inspector.app.stream import View
    from inspector.session.verdict import Verdicts
    from inspector.session.workbench import Workbench

T = TypeVar("T")


class Job:
    """One long task. `progress` is (done, total); `title` is what the header calls it, at first its name."""

    def __init__(self, name: str, deliver: Callable[["Job", Callable[[], None]], object]) -> None:
        self.name = self.title = name
        self.progress = (0, 0)
        self.is_stopped = False
        self.cancel: Callable[[], object] = lambda: None
        """Ends a coroutine at once; a thread has to look whether it is `stopped`."""
        self._deliver = deliver

    def tell(self, act: Callable[[], None]) -> None:
        """Run `act` on the event loop, unless a newer job has started; callable from any thread."""
        self._deliver(self, act)

    def report(self, done: int, total: int) -> None:
        """Report progress; callable from any thread."""
        self.progress = (done, total)

    def stopped(self) -> bool:
        """Whether the job should end as soon as it can."""
        return self.is_stopped


Work = Callable[[Job], Coroutine[Any, Any, T]] | Callable[[Job], T]
Done = Callable[[T], None]
Failed = Callable[[Exception], None]


def run(job: Job, work: Callable[[Job], T], done: Done[T], failed: Failed) -> None:
    """Run the work of a job in its thread."""
    try:
        result = work(job)
    # Whatever it is: a page that waits for its job has to hear that it ended.
    except Exception as error:
        job.tell(partial(failed, error))
    else:
        job.tell(partial(done, result))


async def run_here(job: Job, work: Callable[[Job], Awaitable[T]], done: Done[T], failed: Failed) -> None:
    """Run the work of a job on the event loop."""
    try:
        result = await work(job)
    except Exception as error:
        job.tell(partial(failed, error))
    except asyncio.CancelledError as error:
        # A timer keeps its context until it is due, also one that was cancelled, and that context the worker
        # with this error: without this, all that the work held for up to an hour.
        clear_frames(error.__traceback__)
        raise
    else:
        job.tell(partial(done, result))


# Seconds between two drawings of a job's progress.
_DRAWN_EVERY = 0.1
REPLAYED = "A replay is read-only. “back to now” on the second line ends it; so does n in the timeline."
_TOAST = 2
_COPIED_SHOWN = 80


class Context(Protocol):
    """What the app offers its pages and dialogs."""

    @property
    def session(self) -> SessionView:
        """The shown session: the running one, or a replayed moment."""

    @property
    def commands(self) -> "Workbench":
        """The commands that change the running session. Raises ReplayRefusal during a replay."""

    @property
    def shown(self) -> "View":
        """The state and the newest events as drawn now."""

    @property
    def replay(self) -> "Replay":
        """The moment and the session that are shown."""

    @property
    def opened(self) -> "Opened":
        """What the app was opened with."""

    @property
    def parts(self) -> Parts:
        """What features give their pages; for who sees only some tools, nothing beside the session."""

    @property
    def verdicts(self) -> "Verdicts":
        """Whether discovery pays, judged once for all pages."""

    @property
    def requests(self) -> "Requests":
        """The file of requests beside the servers, ranked once for all pages."""

    @property
    def where(self) -> Where:
        """The page that is shown, and what is measured in the background."""

    def open(self, destination: Destination) -> None:
        """Go to the page of a destination, and show the destination there."""

    def see_as(self, user: str, expert: str = "") -> None:
        """Begin a session as a user of the policy sees it; as the administrator without one."""

    def measuring(self) -> None:
        """Look again what is measured in the background."""


# What Textual styles selected text with: a screen has its styles from `InContext`, its first base, not from
# `Screen`, and without this the first drag of the mouse over a text would end the app.
SELECTION = {"screen--selection"}


class InContext(Widget):
    """A screen or widget of the app, with what they all share."""

    @dataclass
    class Told(Message, bubble=False):
        """A job's thread asks the event loop to run `act`, unless a newer job has started."""

        job: Job
        act: Callable[[], None]

    @property
    def context(self) -> Context:
        return cast("Context", self.app)

    @property
    def session(self) -> SessionView:
        return self.context.session

    @property
    def commands(self) -> "Workbench":
        return self.context.commands

    def write(self, text: str | Content, part: str = "#facts") -> None:
        """Write a text into a part."""
        self.query_one(part, Static).update(text)

    def run_command(
        self, command: "Callable[[Workbench], Coroutine[Any, Any, T]]", *, group: str = "default"
    ) -> Worker[T]:
        """Give a command that takes its time; a failure is shown, and so is the refusal of a replay."""

        async def run() -> T:
            return await command(self.commands)

        return self.run_worker(run(), group=group, exit_on_error=False)

    def open(self, destination: Destination) -> None:
        """Go to the page of a destination, and show the destination there."""
        self.context.open(destination)

    def open_tool(self, tool_id: str) -> None:
        """Open a tool's page, or say that the tool is gone."""
        if self.session.catalog.get(tool_id) is None and self.session.state.recorded(tool_id) is None:
            self.warn(f"{visible(tool_id, limit=80, newlines=False)} is no longer in the catalog.")
            return
        self.open(ToolPage(tool_id))

    def warn(self, message: str) -> None:
        """Say in a toast what cannot be done now."""
        self.notify(message, severity="warning", markup=False)

    def fail(self, error: BaseException) -> None:
        """Show an error in a toast."""
        title, message = failure_text(error)
        self.notify(message, title=title, severity="error", markup=False, timeout=10)

    def copied(self, text: str = "") -> None:
        """Say in a toast what was copied, and where it is as far as is known."""
        shown = visible(text, limit=_COPIED_SHOWN, newlines=False)
        where = getattr(self.app, "copied_to", "")
        if where:
            self.notify(shown, title=f"Copied to {where}", markup=False, timeout=_TOAST)
            return
        doubt = "If it is not on your clipboard, your terminal blocks OSC 52."
        told = "\n".join(filter(None, (shown, doubt)))
        self.notify(told, title="Sent to the terminal", markup=False, timeout=_TOAST)

    def copy(self, text: str, what: str) -> None:
        """Copy a text with its hidden characters made visible; `what` names it in the toast."""
        self.app.copy_to_clipboard(visible(text, limit=len(text)))
        self.copied(what)

    def on_record_list_copied(self, event: RecordList.Copied) -> None:
        event.stop()
        self.copied(event.record.copy_text())

    def on_text_view_copied(self, event: TextView.Copied) -> None:
        event.stop()
        self.copied()

    def on_json_tree_copied(self, event: JsonTree.Copied) -> None:
        event.stop()
        self.copied()

    def export(
        self,
        suggested: Path,
        text: str | bytes | Callable[[Path], str | bytes],
        note: str = "",
        *,
        what: str = "",
    ) -> None:
        """Ask for a file and write the text into it; `what` names it in the title and the toast."""
        from inspector.app.dialogs.export import ExportDialog

        def tell(path: str | None) -> None:
            if path is not None:
                told = visible(path, limit=200)
                self.notify(f"{what} to {told}" if what else told, title="Exported", markup=False)

        self.app.push_screen(ExportDialog(suggested, text, note, what), tell)

    @property
    def _jobs(self) -> dict[str, Job]:
        return cast("dict[str, Job]", self.__dict__.setdefault("_jobs_by_name", {}))

    def run_job(self, name: str, work: Work[T], done: Done[T], *, failed: Failed | None = None) -> Job:
        """Run `work` in a thread, or a coroutine right here, then `done` with its result on the event loop.

        A newer job of the same name replaces this one, whose result is then dropped. An exception goes to
        `failed`, by default a toast.
        """
        self.drop_job(name)
        job = self._jobs[name] = Job(name, lambda job, act: self.post_message(self.Told(job, act)))
        told = failed or self.fail
        if iscoroutinefunction(work):
            job.cancel = self.run_worker(run_here(job, work, done, told), exit_on_error=False).cancel
        else:
            thread = partial(run, job, cast("Callable[[Job], T]", work), done, told)
            self.run_worker(thread, group=name, thread=True, exit_on_error=False)
        return job

    def stop_job(self, name: str) -> None:
        """Ask a job to end; its result so far is still delivered."""
        if name in self._jobs:
            self._jobs[name].is_stopped = True

    def drop_job(self, name: str) -> None:
        """Ask a job to end, and drop its result."""
        self.stop_job(name)
        if name in self._jobs:
            self._jobs.pop(name).cancel()

    def follow_requests(self, draw: Callable[[], object]) -> None:
        """Read and rank the file of requests again if anything has changed, and then draw."""
        requests, session = self.context.requests, self.session

        def take(taken: Callable[[], None]) -> None:
            taken()
            draw()

        if requests.is_due(session):
            self.run_job("requests", lambda job: requests.read(session, job.stopped), take)

    def on_unmount(self) -> None:
        for name in tuple(self._jobs):
            self.drop_job(name)
        self.workers.cancel_node(self)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show the error of a failed worker: workers run with `exit_on_error=False`."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.fail(event.worker.error)

    def on_in_context_told(self, event: Told) -> None:
        event.stop()
        if self._jobs.get(event.job.name) is event.job:
            event.act()


class Stoppable(InContext):
    """What has one job that the header shows and that esc stops."""

    running: Job | None = None
    _ticks: Timer | None = None

    @property
    def activity(self) -> Activity | None:
        """What this page measures now, for the header of every page."""
        job = self.running
        return None if job is None else Activity(job.title, self.stop_running, *job.progress)

    def run_stoppable(self, title: str, work: Work[T], done: Done[T], *, failed: Failed | None = None) -> Job:
        """Run a job like `run_job`, in place of the one before; it is `running` until it has ended."""

        def ended(result: T) -> None:
            self._job_ended()
            done(result)

        def has_failed(error: Exception) -> None:
            self._job_ended()
            (failed or self.fail)(error)

        self.drop_running()
        self.running = self.run_job(title, work, ended, failed=has_failed)
        self._ticks = self.set_interval(_DRAWN_EVERY, self.show_progress)
        self._look_at_running()
        return self.running

    def show_progress(self) -> None:
        """Draw how far the running job is; the default draws nothing."""

    def stop_running(self) -> None:
        """Stop the job; what it has done so far stays."""
        if self.running is not None:
            self.running.is_stopped = True
            self.show_progress()

    def drop_running(self) -> None:
        """Stop the job, and drop what it comes to."""
        if self.running is not None:
            self.drop_job(self.running.name)
            self._job_ended()

    def _job_ended(self) -> None:
        self.running = None
        if self._ticks is not None:
            self._ticks.stop()
        self._look_at_running()

    def _look_at_running(self) -> None:
        self.refresh_bindings()
        self.context.measuring()

"""What fills the registry from its page: the connected servers' tools, and vectors of what has none."""

from abc import abstractmethod
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Static

from inspector.app.activity import Activity
from inspector.app.bridge import View
from inspector.app.job import Job
from inspector.app.pages.tools.registry import content
from inspector.app.tool_keys import ToolKeys
from inspector.core.access import Sight
from inspector.registry.library import FILL, Overview, RegistryLibrary
from inspector.session.synchronise import Synchronised, synchronise


class Filling(ToolKeys):
    """A page with a registry that can be filled; `action_again` shows what is there then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "sync", "import", id="registry.sync"),
        Binding("m", "embed", "embed", id="registry.embed"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._embedding: Job | None = None
        self._sight: Sight | None = None

    def on_mount(self) -> None:
        super().on_mount()
        self.show_view(self.view)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the session has the sight
        """Read the registry for whoever sees it, and again for who may see something else."""
        if self.session.sight is not self._sight:
            self._sight = self.session.sight
            self.forget()
            self.action_again()

    def show_overview(self, overview: Overview) -> None:
        """Say how much there is, of where."""
        told = content.facts(overview, whole=self.session.sight.is_whole)
        self.query_one("#registry-facts", Static).update(told)

    @abstractmethod
    def forget(self) -> None:
        """Show nothing of what was read: it may not be seen any more."""

    @property
    def _library(self) -> RegistryLibrary | None:
        return self.context.registry

    @property
    def activity(self) -> Activity | None:
        if self._embedding is None:
            return None
        return Activity("embedding", partial(self.stop_job, "embed"), *self._embedding.progress)

    @abstractmethod
    def action_again(self) -> None:
        """Read the registry again."""

    def action_sync(self) -> None:
        """Keep the tools of the servers that are connected now."""
        library, session = self._library, self.session
        if library is None or not self.may(FILL):
            return
        now = session.retrieval.clock.now()

        def sync(_job: Job) -> tuple[Synchronised, ...]:
            return synchronise(library.opened(), session, at=now)

        self.run_job("sync", sync, self._synchronised)

    def _synchronised(self, done: tuple[Synchronised, ...]) -> None:
        told = content.synchronised(done)
        self.notify(told, title="Registry", markup=False, timeout=8)
        self.action_again()

    def action_embed(self) -> None:
        """Embed the tools that a search by meaning cannot find yet."""
        library = self._library
        if library is None or self._embedding is not None or not self.may(FILL):
            return

        def show(_done: int, _total: int) -> None:
            self.context.measuring()

        work = self.run_job(
            "embed",
            lambda job: library.embed(job.report, job.stopped),
            self._embedded,
            failed=self._not_embedded,
            progress=show,
        )
        self._embedding = work
        self.context.measuring()

    def _embedded(self, number: int) -> None:
        self._embedding = None
        self.notify(f"{number:,} texts embedded", title="Registry", markup=False)
        self.action_again()

    def _not_embedded(self, error: Exception) -> None:
        self._embedding = None
        self.fail(error)

"""The registry page: tools page by page, the versions of one of them, and a search by meaning."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, Static

from inspector.app.activity import Activity
from inspector.app.base_screen import HeaderLine
from inspector.app.draw.line import failure_line
from inspector.app.job import Job
from inspector.app.pages.tools.registry import content
from inspector.app.stream import View
from inspector.app.tool_keys import ToolKeys
from inspector.core.access import Sight
from inspector.core.registered_tool import Federated, Located, RegisteredTool
from inspector.registry.library import FILL, Overview, RegistryLibrary, Rows
from inspector.session.synchronise import Synchronised, synchronise
from widgets import KeyBar, PlainInput, RecordList


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


# The search by meaning of the registry page: in one's own registry and, if wanted, in those of peers.

RESULTS = 50


class Finding(Filling):
    """A page with a list of tools that a search fills; `_found` is None while it lists the registry."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "ask", "find", id="registry.ask"),
        Binding("slash", "filter", "filter", id="registry.filter"),
        Binding("o", "peers", "peers too", id="registry.peers"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: tuple[Located, ...] | None = None
        self._query = ""
        self._with_peers = False

    @property
    def _list(self) -> RecordList:
        return self.query_one("#registry-tools", RecordList)

    @property
    def _located(self) -> Located | None:
        """The tool of a peer that is under the cursor."""
        current = self._list.current
        if current is None or not self._found:
            return None
        keys = {content.found_key(at, one): one for at, one in enumerate(self._found) if one.peer}
        return keys.get(current.key)

    def action_ask(self) -> None:
        """Go to the search."""
        self.query_one("#registry-query").focus()

    def action_filter(self) -> None:
        """Go to the filter of the list."""
        self.query_one("#registry-part").focus()

    def action_peers(self) -> None:
        """Include the registries of peers in the search, or leave them out again."""
        self._include(peers=not self._with_peers)
        if self._library is not None and self._query and self._found is not None:
            self._find(self._library, self._query)

    def _include(self, *, peers: bool) -> None:
        self._with_peers = peers
        self.query_one("#registry-asked", Label).update(content.ASK_PEERS if peers else content.ASK)

    def _find(self, library: RegistryLibrary, query: str) -> None:
        self._query = query
        self._list.empty = content.SEARCHING
        search = partial(_everywhere if self._with_peers else _here, library, query)
        self.run_job("find", search, partial(self._show_found, query), failed=self._not_found)

    def _not_found(self, error: Exception) -> None:
        self._include(peers=False)
        self.fail(error)

    def _show_found(self, query: str, done: Federated) -> None:
        self._found = done.found
        shown, with_peers = self._list, bool(done.answers)
        shown.empty = content.NOT_FOUND
        shown.columns = content.LOCATED if with_peers else content.FOUND
        shown.records = content.found_rows(done.found, with_peers=with_peers)
        self.query_one("#registry-left").border_title = content.found_title(len(done.found), query)
        self._tell(content.peer_line(done.answers) if with_peers else "")
        if done.found:
            shown.move_to(content.found_key(0, done.found[0]))

    def _tell(self, text: Content | str) -> None:
        """Say under the facts what peers answered; "" takes the line away."""
        line = self.query_one("#registry-peers", Static)
        line.update(text)
        line.display = bool(str(text))


def _here(library: RegistryLibrary, query: str, _job: Job) -> Federated:
    return Federated(tuple(Located("", one) for one in library.search(query, RESULTS)))


def _everywhere(library: RegistryLibrary, query: str, _job: Job) -> Federated:
    return library.federated(query, RESULTS)


# Rows that are read at once.
PAGE = 500


class RegistryScreen(Finding):
    """As much of the registry as was scrolled through; everything is read in threads."""

    page = "registry"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#registry-tools RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", show=False, id="registry.open"),
        Binding("r", "again", "reload", show=False, id="registry.again"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "The registry keeps every version of a tool, whether or not its server is connected.",
        "i imports the connected servers' tools; a changed definition becomes a new version.",
        "/ filters the list by id; f finds tools by meaning, esc goes back to the list.",
        "cosine: how close the request is to a tool's name and description, at most 1. Only embedded tools",
        "are found: m embeds the rest; the top line shows the progress and stops it.",
        "o includes peers' registries (federation.peers), which are read-only.",
        "On the right: what each version of the tool changed, newest first.",
        "enter, w, e and l work for tools whose server is connected.",
        "`toolsight registry` imports and exports; `toolsight --registry` opens the app on these tools;",
        "with discovery.registry, the three-tier ranker finds them alongside connected tools.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._tools: tuple[RegisteredTool, ...] = ()
        self._total = 0
        self._part = ""
        self._is_reading = False

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield Static(content.READING, id="registry-facts", markup=False)
        yield Static(id="registry-peers", markup=False)
        with Horizontal(id="registry-ask"):
            yield Label(content.ASK, id="registry-asked")
            yield PlainInput(placeholder="what should it do?", id="registry-query")
            yield Label("filter")
            yield PlainInput(placeholder="part of an id", id="registry-part")
        with Container(id="registry-page"):
            with Vertical(classes="pane", id="registry-left"):
                yield RecordList(
                    content.TOOLS, header=True, filterable=False, empty=content.READING, id="registry-tools"
                )
            with VerticalScroll(classes="pane", id="registry-right", can_focus=True) as right:
                right.border_title = "Versions"
                yield Static(id="registry-detail", markup=False)
        yield KeyBar()

    def forget(self) -> None:
        self._tools, self._found = (), None
        for job in ("find", "versions"):
            self.drop_job(job)
        self._list.records = ()
        self._show_versions(())

    @property
    def tool_id(self) -> str:
        current = self._list.current
        return current.key if current is not None and self._located is None else ""

    def _is_connected(self, tool_id: str) -> bool:
        return self.session.catalog.get(tool_id) is not None

    def _has_tool(self) -> bool:
        if self._located is not None:
            self.warn(content.OF_A_PEER)
            return False
        if self.tool_id and not self._is_connected(self.tool_id):
            self.warn(content.NOT_CONNECTED)
            return False
        return super()._has_tool()

    def action_again(self) -> None:
        """Read the registry again, from its beginning."""
        library = self._library
        if library is None:
            self._say(content.NOT_HERE)
            return
        self.run_job("overview", lambda _: library.overview(), self.show_overview, failed=self._failed)
        self._read("")

    def _read(self, after: str) -> None:
        """Read the next rows behind `after`; from the beginning, they replace what is shown."""
        library, part = self._library, self._part
        if library is None:
            return
        self._is_reading = True
        self.run_job(
            "rows",
            lambda _: library.rows(part, after, PAGE),
            partial(self._show_rows, is_first=not after),
            failed=self._failed,
        )

    def _show_rows(self, read: Rows, *, is_first: bool) -> None:
        self._is_reading = False
        self._tools = read.tools if is_first else (*self._tools, *read.tools)
        self._total = read.total if read.tools else len(self._tools)
        if self._found is None:
            self._draw_rows()

    def _draw_rows(self) -> None:
        shown = self._list
        shown.empty = content.NO_MATCH if self._part else content.empty(whole=self.session.sight.is_whole)
        title = content.title(len(self._tools), self._total, self._part)
        self.query_one("#registry-left").border_title = title
        shown.columns = content.TOOLS
        shown.records = content.rows(self._tools)

    @on(RecordList.Highlighted, "#registry-tools")
    def _look(self) -> None:
        """Show the versions of the tool under the cursor; at the end of the list, read more of it."""
        library, tool_id, located = self._library, self.tool_id, self._located
        if located is not None:
            self.drop_job("versions")
            self.query_one("#registry-detail", Static).update(content.peer_detail(located))
            return
        if library is None or not tool_id:
            self._show_versions(())
            return
        self.run_job(
            "versions", lambda _: library.versions(tool_id), self._show_versions, failed=self._failed
        )
        is_last = bool(self._tools) and tool_id == self._tools[-1].tool.id
        if self._found is None and is_last and len(self._tools) < self._total and not self._is_reading:
            self._read(tool_id)

    def _show_versions(self, versions: Sequence[RegisteredTool]) -> None:
        connected = bool(versions) and self._is_connected(versions[0].tool.id)
        self.query_one("#registry-detail", Static).update(content.detail(versions, connected=connected))

    @on(Input.Changed, "#registry-part")
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._part:
            self._part, self._found = event.value, None
            self._tell("")
            self._read("")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._list.focus()
        query, library = event.value.strip(), self._library
        if event.input.id != "registry-query" or library is None:
            return
        if not query:
            self._list_all()
            return
        self._find(library, query)

    def _list_all(self) -> None:
        self._found = None
        self._tell("")
        self.query_one("#registry-query", PlainInput).value = ""
        self._draw_rows()

    async def action_leave(self) -> None:
        """Go from what was found back to the list, and from there to where one came from."""
        if self._found is None:
            await super().action_leave()
        else:
            self._list_all()

    @on(RecordList.Selected, "#registry-tools")
    def action_open(self) -> None:
        """Open the tool's page; read its versions if its server is not connected."""
        if self._is_connected(self.tool_id):
            self.open_tool(self.tool_id)
        else:
            self.query_one("#registry-right").focus()

    def _failed(self, error: Exception) -> None:
        self._is_reading = False
        self._say(str(failure_line(error)))

    def _say(self, text: str) -> None:
        self.query_one("#registry-facts", Static).update(text)
        self._list.empty = text

"""The registry page: tools, the versions of one of them, and a search by meaning."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, Static

from inspector.app.base_screen import ToolKeys
from inspector.app.list_page import ListPage
from inspector.app.stream import View
from inspector.features.registry import registered_text as content
from inspector.features.registry.acceptance import Neighbour, RegisteredTool
from inspector.features.registry.facts import Health
from inspector.features.registry.feature import REGISTRY
from inspector.features.registry.library import FILL, Overview, RegistryLibrary, Rows, synchronise
from widgets import PlainInput, RecordList

# The most rows that are listed, and results of a search.
MOST_ROWS, RESULTS = 1_000, 50


# Long because the list, a search and what fills the registry share one list.
class RegistryScreen(ListPage, ToolKeys):
    """The first tools of the registry, or what was found; everything is read in threads."""

    page = "registry"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#registry-tools RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "sync", "import", id="registry.sync"),
        Binding("m", "embed", "embed", id="registry.embed"),
        Binding("f", "ask", "find", id="registry.ask"),
        Binding("slash", "filter", "filter", id="registry.filter"),
        Binding("enter", "open", "open", show=False, id="registry.open"),
        Binding("r", "again", "reload", show=False, id="registry.again"),
    ]
    titles: ClassVar[Mapping[str, str]] = {"registry-right": "Versions"}
    help_lines: ClassVar[tuple[str, ...]] = (
        "The registry keeps every version of a tool, whether or not its server is connected.",
        "i imports the connected servers' tools; a changed definition becomes a new version.",
        "/ filters the list by id; f finds tools by meaning, esc goes back to the list.",
        "cosine: how close the request is to a tool's name and description, at most 1. Only embedded tools",
        "are found: m embeds the rest; the top line shows the progress and stops it.",
        "health: the calls in all sessions; ⚠ if at least half of them failed, ✕ if a breaker refuses calls.",
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
        self._health: Health | None = None
        self._versions: tuple[RegisteredTool, ...] = ()
        self._found: tuple[Neighbour, ...] | None = None
        """What a search found; None while the registry is listed."""

    def body(self) -> ComposeResult:
        yield Static(content.READING, id="facts", markup=False)
        with Horizontal(id="registry-ask"):
            yield Label("find by meaning")
            yield PlainInput(placeholder="what should it do?", id="registry-query")
            yield Label("filter")
            yield PlainInput(placeholder="part of an id", id="registry-part")
        with Container(id="registry-page"):
            with Vertical(classes="pane", id="registry-left"):
                yield RecordList(
                    content.TOOLS, header=True, filterable=False, empty=content.READING, id="registry-tools"
                )
            with VerticalScroll(classes="pane", id="registry-right", can_focus=True):
                yield Static(id="detail", markup=False)

    def drawn_from(self, view: View) -> object:  # noqa: ARG002 - the session has the sight
        return self.session.sight

    def draw(self) -> None:
        """Read the registry for whoever sees it; what was read before may not be seen any more."""
        self._tools, self._found, self._health = (), None, None
        for job in ("find", "versions"):
            self.drop_job(job)
        self.list.records = ()
        self._show_versions(())
        self.action_again()

    @property
    def _library(self) -> RegistryLibrary | None:
        return self.context.parts.get(REGISTRY)

    @property
    def tool_id(self) -> str:
        return self.key

    def _is_connected(self, tool_id: str) -> bool:
        return self.session.catalog.get(tool_id) is not None

    def _has_tool(self) -> bool:
        if self.tool_id and not self._is_connected(self.tool_id):
            self.warn(content.NOT_CONNECTED)
            return False
        return super()._has_tool()

    # The list and the versions of a tool.

    def action_again(self) -> None:
        """Read the registry again, from its beginning."""
        library = self._library
        if library is None:
            self.say(content.NOT_HERE)
            return

        def show(overview: Overview) -> None:
            self.write(content.facts(overview, whole=self.session.sight.is_whole))

        self.run_job("overview", lambda _: library.overview(), show, failed=self.say_failure)
        self.run_job("health", lambda _: library.health(), self._show_health, failed=self.say_failure)
        self._read()

    def _read(self) -> None:
        library, part = self._library, self._part
        if library is not None:
            self.run_job(
                "rows", lambda _: library.rows(part, MOST_ROWS), self._show_rows, failed=self.say_failure
            )

    def _show_health(self, health: Health | None) -> None:
        self._health = health
        if self._found is None:
            self._draw_rows()
        self._show_versions(self._versions)

    def _show_rows(self, read: Rows) -> None:
        self._tools, self._total = read.tools, read.total
        if self._found is None:
            self._draw_rows()

    def _draw_rows(self) -> None:
        self.list.empty = content.NO_MATCH if self._part else content.empty(whole=self.session.sight.is_whole)
        title = content.title(len(self._tools), self._total, self._part)
        self.query_one("#registry-left").border_title = Content(title)
        self.list.columns = content.TOOLS if self._health is None else content.HEALTHY
        self.list.records = content.rows(self._tools, self._health)

    def moved(self) -> None:
        """Show the versions of the tool under the cursor."""
        library, tool_id = self._library, self.tool_id
        if library is None or not tool_id:
            self._show_versions(())
            return
        self.run_job(
            "versions", lambda _: library.versions(tool_id), self._show_versions, failed=self.say_failure
        )

    def _show_versions(self, versions: Sequence[RegisteredTool]) -> None:
        self._versions = tuple(versions)
        connected, health = bool(versions) and self._is_connected(versions[0].tool.id), Content()
        if versions and self._health is not None:
            tool = versions[0].tool
            server = self.session.state.servers.get(tool.server)
            health = content.health_line(self._health.of(tool.id), server)
        self.write(content.detail(versions, connected=connected, health=health), "#detail")

    def opened(self, key: str) -> None:
        """Open the tool's page; read its versions if its server is not connected."""
        if self._is_connected(key):
            self.open_tool(key)
        else:
            self.query_one("#registry-right").focus()

    def action_open(self) -> None:
        """Do the same where the list has no focus."""
        self.opened(self.key)

    def action_filter(self) -> None:
        """Go to the filter of the list."""
        self.query_one("#registry-part").focus()

    @on(Input.Changed, "#registry-part")
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._part:
            self._part, self._found = event.value, None
            self._read()

    # The search by meaning.

    def action_ask(self) -> None:
        """Go to the search."""
        self.query_one("#registry-query").focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.list.focus()
        query, library = event.value.strip(), self._library
        if event.input.id != "registry-query" or library is None:
            return
        if query:
            self._find(library, query)
        else:
            self._list_all()

    def _find(self, library: RegistryLibrary, query: str) -> None:
        self.list.empty = content.SEARCHING
        search = partial(library.search, query, RESULTS)
        self.run_job("find", lambda _: search(), partial(self._show_found, query), failed=self.fail)

    def _show_found(self, query: str, found: tuple[Neighbour, ...]) -> None:
        self._found = found
        self.list.empty = content.NOT_FOUND
        self.list.columns = content.FOUND
        self.list.records = content.found_rows(found)
        self.query_one("#registry-left").border_title = Content(content.found_title(len(found), query))
        if found:
            self.list.move_to(found[0].found.tool.id)

    def _list_all(self) -> None:
        self._found = None
        self.query_one("#registry-query", PlainInput).value = ""
        self._draw_rows()

    async def action_leave(self) -> None:
        """Go from what was found back to the list, and from there to where one came from."""
        if self._found is None:
            await self.app.run_action("app.back")
        else:
            self._list_all()

    # What fills the registry.

    def action_sync(self) -> None:
        """Keep the tools of the servers that are connected now."""
        library, session = self._library, self.session
        if library is None or not self.may(FILL):
            return
        now = session.retrieval.clock.now()
        self.run_job(
            "sync",
            lambda _: synchronise(library.opened(), session, at=now),
            lambda done: self._filled(content.synchronised(done)),
        )

    def _filled(self, told: str) -> None:
        self.notify(told, title="Registry", markup=False, timeout=8)
        self.action_again()

    def action_embed(self) -> None:
        """Embed the tools that a search by meaning cannot find yet."""
        library = self._library
        if library is None or self.running is not None or not self.may(FILL):
            return
        self.run_stoppable(
            "embedding",
            lambda job: library.embed(lambda _what, done, total: job.report(done, total), job.stopped),
            lambda number: self._filled(f"{number:,} texts embedded"),
        )

"""The catalog as real clients get it: clients above, their tools below, the chosen one whole beside them."""

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import HeaderLine
from inspector.app.job import Job
from inspector.app.pages.tools.clients import content
from inspector.app.stream import View
from inspector.app.tool_keys import ToolKeys
from inspector.clients.client import Client, all_clients
from inspector.core.tool import Tool
from inspector.session.client_view import ClientView, instructions_of, view_as
from inspector.session.commands import Commands
from widgets import KeyBar, RecordList, RecordRows

_READING = "-reading"


class ClientsScreen(ToolKeys):
    """Every known client; the numbers come in one after another, counted in a thread."""

    page = "clients"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#clients RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "request", id="page.view"),
        Binding("a", "declare", "declare same", id="clients.declare"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "What the model in a real client sees of these tools. v shows Toolsight's next request.",
        "first call: tool tokens before any search. refused: tools the model never gets.",
        "cut: descriptions and instructions that the client truncates; the pane on the right shows where.",
        "A rule is as certain as the weakest fact behind it, marked ● ◐ ○; the text cites the sources.",
        "Press a to reconnect the servers with the client's capabilities; many then list different tools.",
        "This reveals no folders to servers; that takes your consent at startup.",
        "enter opens the chosen client or tool, esc goes back to the lists.",
        "In Search, u chooses a client's ranker: claude-code, codex, vscode, anthropic-bm25, regex.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._clients = all_clients()
        self._views: dict[str, ClientView] = {}
        self._seen: tuple[tuple[Tool, ...], dict[str, str]] | None = None
        self._shown: ClientView | None = None
        self._about_tool = False

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield Static(id="facts", markup=False)
        with Horizontal(id="parts"):
            with Vertical(id="lists"):
                yield RecordList(content.CLIENTS, header=True, empty=content.WORKING, id="clients")
                yield RecordList(content.TOOLS, header=True, empty=content.WORKING, id="tools")
            with VerticalScroll(id="reading", can_focus=True):
                yield Static(id="detail", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#clients").border_title = "Clients"
        self.show_view(self.view)

    def show_view(self, view: View) -> None:
        tools = self.session.catalog.tools
        instructions = instructions_of(view.state)
        if (tools, instructions) == self._seen:
            return
        self._seen = (tools, instructions)
        self._views, self._shown = {}, None
        declared = self.session.settings.client
        self.query_one("#facts", Static).update(content.facts(len(tools), declared))
        self.query_one("#tools", RecordList).empty = content.WORKING if tools else content.NO_TOOLS
        self._draw()
        count = self.session.accounting.meter.text

        def look(job: Job) -> None:
            for client in self._clients:
                if job.stopped():
                    return
                found = view_as(client, tools, instructions, count)
                job.tell(partial(self._found, found))

        self.run_job("clients", look, lambda _: None)

    def action_declare(self) -> None:
        """Declare to every server what the client does, and show which tools that changes."""
        client = self._client
        if self.session.settings.client == client.declares:
            self.warn(f"{client.title}'s capabilities are already declared.")
            return
        self.notify(content.declaring(client), title=client.title, markup=False)
        self.run_command(lambda commands: self._declare(commands, client))

    async def _declare(self, commands: Commands, client: Client) -> None:
        before = self._ids
        await commands.declare(client.declares)
        self._seen = None
        self.show_view(self.view)
        self.notify(content.difference(before, self._ids), title="Tools listed", markup=False, timeout=10)

    @property
    def _ids(self) -> frozenset[str]:
        return frozenset(tool.id for tool in self.session.catalog.tools)

    def _found(self, view: ClientView) -> None:
        self._views[view.client.name] = view
        self._draw()

    def _draw(self) -> None:
        self.query_one("#clients", RecordList).records = content.client_rows(self._clients, self._views)
        self._show_client()

    @property
    def _client(self) -> Client:
        current = self.query_one("#clients", RecordList).current
        return next((one for one in self._clients if current and one.name == current.key), self._clients[0])

    @on(RecordList.Highlighted, "#clients")
    def _show_client(self) -> None:
        view = self._views.get(self._client.name)
        if view is not self._shown:
            self._shown = view
            tools = self.query_one("#tools", RecordList)
            tools.border_title = f"Tools in {self._client.title}"
            tools.records = content.tool_rows(view) if view is not None else ()
        self._show_detail()

    @on(RecordList.Highlighted, "#tools")
    def _show_detail(self) -> None:
        reading = self.query_one("#reading")
        view, tool_id = self._shown, self.tool_id
        seen = view.tool(tool_id) if view is not None and tool_id else None
        reading.border_title = seen.tool.id if seen is not None else self._client.title
        if view is None:
            shown = Content(content.WORKING)
        else:
            shown = content.tool_detail(view, seen) if seen is not None else content.client_detail(view)
        self.query_one("#detail", Static).update(shown)

    def on_descendant_focus(self) -> None:
        """Show the client or the tool, whichever list is the one in use."""
        tools = self.query_one("#tools")
        if tools.has_focus_within or self.query_one("#clients").has_focus_within:
            self.remove_class(_READING)
            self._about_tool = tools.has_focus_within
            self._show_detail()

    @on(RecordList.Selected)
    def _read(self) -> None:
        """Read the text; where there is no room beside the lists, it takes their place."""
        self.add_class(_READING)
        self.query_one("#reading").focus()

    async def action_leave(self) -> None:
        """Go from the text back to the list, and from there to where one came from."""
        if not self.has_class(_READING):
            await super().action_leave()
            return
        self.remove_class(_READING)
        self.query_one("#tools" if self._about_tool else "#clients").query_one(RecordRows).focus()

    @property
    def tool_id(self) -> str:
        current = self.query_one("#tools", RecordList).current
        return current.key if self._about_tool and current is not None else ""

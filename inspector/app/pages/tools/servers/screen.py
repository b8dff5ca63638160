"""The servers page: the state of each connection, and the keys to change it."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.navigation import Destination, ServerPage
from inspector.app.pages.tools.servers.content import COLUMNS, NO_SERVER, server_detail, server_rows
from inspector.domain.server import ServerPhase
from inspector.domain.session import ServerState
from widgets import KeyBar, RecordList, TextView


class ServersScreen(BaseScreen):
    """The list of servers, with the facts and stderr of the one under the cursor."""

    page = "servers"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#servers RecordRows"
    help_lines: ClassVar[tuple[str, ...]] = (
        "Servers connect independently; one that fails does not hold up the others.",
        "r reconnects a server, s stops it, R reconnects every failed server.",
        "The other panes show what the server says about itself, and the end of its stderr.",
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "reconnect", "reconnect"),
        Binding("s", "stop", "stop"),
        Binding("R", "reconnect_failed", "reconnect failed", show=False),
    ]

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        with Container(id="servers-page"):
            yield RecordList(COLUMNS, header=True, empty=NO_SERVER, id="servers", classes="pane")
            with Vertical(id="server"):
                with VerticalScroll(classes="pane", id="server-facts"):
                    yield Static(id="server-detail", markup=False)
                yield TextView(empty="Nothing on stderr.", follow=True, id="server-stderr", classes="pane")
        yield KeyBar()

    def arrive(self, destination: Destination) -> None:
        """Put the cursor on the server that was asked for."""
        if isinstance(destination, ServerPage):
            self.query_one("#servers", RecordList).move_to(destination.name)
        else:
            super().arrive(destination)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#servers").border_title = "Servers"
        self.query_one("#server-facts").border_title = "Server"
        self.query_one("#server-stderr").border_title = "stderr, newest last"

    def show_view(self, view: View) -> None:
        self.query_one("#servers", RecordList).records = server_rows(view.state)
        self._show_selected()

    @on(RecordList.Highlighted, "#servers")
    def _show_selected(self) -> None:
        server = self._selected()
        name, state = server.name if server is not None else "", self.view.state
        held = sum(tool.server == name for tool in state.held.values())
        self.query_one("#server-detail", Static).update(server_detail(server, state.problems, held=held))
        self.query_one("#server-stderr", TextView).text = server.stderr_tail if server else ""

    def _selected(self) -> ServerState | None:
        current = self.query_one("#servers", RecordList).current
        return self.view.state.servers.get(current.key) if current else None

    def action_reconnect(self) -> None:
        if (server := self._selected()) is not None:
            self._reconnect(server.name)

    def action_stop(self) -> None:
        if (server := self._selected()) is not None:
            self.run_command(lambda commands: commands.stop(server.name))

    def action_reconnect_failed(self) -> None:
        servers = self.view.state.servers.values()
        failed = [server.name for server in servers if server.phase is ServerPhase.FAILED]
        for name in failed:
            self._reconnect(name)
        if not failed:
            self.notify("No server has failed.", markup=False, timeout=3)

    def _reconnect(self, name: str) -> None:
        self.run_command(lambda commands: commands.reconnect(name))

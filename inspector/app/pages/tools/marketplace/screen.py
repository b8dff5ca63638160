"""The marketplace: plugins on the left, the chosen one whole beside them, and what is needed above."""

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.navigation import Destination, MarketplacePage
from inspector.app.pages.tools.marketplace import content
from inspector.app.pages.tools.marketplace.dialog import (
    ChangeDialog,
    VariablesDialog,
    installation_body,
    removal_body,
)
from inspector.domain.error import ToolsightError
from inspector.domain.installation import Installation, Removal, ServerChange
from inspector.domain.marketplace import MarketplaceReport
from inspector.domain.plugin import Plugin
from inspector.engine.commands import Commands
from inspector.engine.marketplace.marketplace import INSTALL
from widgets import KeyBar, PlainInput, RecordList, RecordRows, visible

_READING = "-reading"
_FOUND = 20


class MarketplaceScreen(BaseScreen):
    """What could be installed. Nothing here changes anything before a yes in a dialog."""

    page = "marketplace"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#plugins RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "install", "install", id="marketplace.install"),
        Binding("delete,backspace", "remove", "remove", id="marketplace.remove"),
        Binding("f", "ask", "find", id="marketplace.find"),
        Binding("v", "read", "read", id="marketplace.read"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Servers from the catalogs in marketplace.catalogs and from imported catalogs.",
        "A search without results continues here. Only you can install, never a model.",
        "f: describe what you need; enter lists plugins that may fit, except installed ones.",
        "enter or i shows the exact command and the change to the file, then asks.",
        "The server starts first; if it fails, the file and the session stay unchanged.",
        "delete removes an installed plugin's server from the file and the session, and keeps a backup.",
        "File and network access are as the publisher states them. Toolsight does not verify them.",
        "v goes to the plugin's details, esc goes back to the list.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._query = ""
        self._report: MarketplaceReport | None = None
        self._seen: object = None

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        with Horizontal(id="ask"):
            yield PlainInput(placeholder="what you need, then enter", id="query")
        yield Static(id="facts", markup=False)
        with Horizontal(id="parts"):
            with Vertical(id="lists"):
                yield RecordList(content.COLUMNS, header=True, empty=content.NO_CATALOG, id="plugins")
            with VerticalScroll(id="reading", can_focus=True):
                yield Static(id="detail", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#plugins").border_title = "Plugins"
        self.show_view(self.view)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the session has the configuration
        """Draw again when servers or catalogs have changed."""
        market = self.session.marketplace
        now = (market.plugins, self.session.configuration.servers)
        if now != self._seen:
            self._seen = now
            self._search(self._query)

    def arrive(self, destination: Destination) -> None:
        """Show a plugin that another page names, among those that its query finds."""
        match destination:
            case MarketplacePage(plugin, query):
                self.query_one("#query", Input).value = query
                self._search(query)
                self._list.move_to(plugin)
                self.call_later(self._list.focus)

    @property
    def _list(self) -> RecordList:
        return self.query_one("#plugins", RecordList)

    @on(Input.Submitted, "#query")
    def _asked(self, event: Input.Submitted) -> None:
        event.stop()
        self._search(event.value.strip())
        self._list.focus()

    def _search(self, query: str) -> None:
        market = self.session.marketplace
        self._query = query
        try:
            self._report = market.look(query, _FOUND) if query else None
        except ToolsightError as error:
            self.fail(error)
            return
        plugins = market.plugins
        servers = {one.name: server for one in plugins if (server := market.server_of(one))}
        whole = self.session.sight.is_whole
        told = content.facts(plugins, len(servers), self._report, len(market.problems), whole=whole)
        self.query_one("#facts", Static).update(told)
        self._list.empty = (
            content.NOTHING_FITS if self._report is not None and plugins else content.NO_CATALOG
        )
        _fill(self._list, content.listed(plugins, self._report), servers)
        self._show_detail()

    @property
    def _plugin(self) -> Plugin | None:
        current = self._list.current
        plugins = self.session.marketplace.plugins
        return next((one for one in plugins if current is not None and one.name == current.key), None)

    @on(RecordList.Highlighted, "#plugins")
    def _show_detail(self) -> None:
        plugin, shown = self._plugin, self.query_one("#detail", Static)
        if plugin is None:
            shown.update("")
            return
        found = self._report.suggestions if self._report is not None else ()
        one = next((each for each in found if each.plugin == plugin.name), None)
        shown.update(content.detail(plugin, self.session.marketplace.server_of(plugin), one))

    def leave_input(self) -> None:
        """Go to the list."""
        self._list.focus()

    async def action_leave(self) -> None:
        """Go from the text to the list, then show every plugin again, then go back."""
        if self.has_class(_READING):
            self.remove_class(_READING)
            self._list.query_one(RecordRows).focus()
        elif self._query:
            self.query_one("#query", Input).value = ""
            self._search("")
        else:
            await super().action_leave()

    def action_read(self) -> None:
        """Read the chosen plugin; where there is no room beside the list, it takes its place."""
        self.add_class(_READING)
        self.query_one("#reading").focus()

    def action_ask(self) -> None:
        """Go to the query."""
        self.query_one("#query").focus()

    @on(RecordList.Selected, "#plugins")
    def action_install(self) -> None:
        """Ask for what the plugin needs, then show exactly what would happen, then ask."""
        plugin = self._plugin
        if not self.may(INSTALL):
            return
        if plugin is None:
            self.warn("Put the cursor on a plugin first.")
        elif server := self.session.marketplace.server_of(plugin):
            self.warn(f"Already installed as {server}. Press delete to remove it.")
        elif plugin.package.obstacle:
            self.warn(f"Cannot be installed: {visible(plugin.package.obstacle, limit=200, newlines=False)}.")
        elif plugin.package.variables:
            self.app.push_screen(VariablesDialog(plugin), lambda values: self._plan(plugin, values))
        else:
            self._plan(plugin, {})

    def _plan(self, plugin: Plugin, values: dict[str, str] | None) -> None:
        if values is None:
            return
        try:
            wanted = self.session.marketplace.plan(plugin.name, values)
        except ToolsightError as error:
            self.fail(error)
            return
        body = installation_body(wanted)
        dialog = ChangeDialog("Install and start this server?", body, "install and start it")
        self.app.push_screen(dialog, lambda answer: self._install(wanted, answer))

    def _install(self, wanted: Installation, answer: str | None) -> None:
        if not ChangeDialog.accepted(answer):
            return
        self.notify(f"Starting {wanted.server} …", markup=False)
        self.run_command(lambda commands: self._installed(commands, wanted), group="install")

    async def _installed(self, commands: Commands, wanted: Installation) -> None:
        await commands.install(wanted)
        tools = self.session.state.servers[wanted.server].tools
        self._tell_changed(f"{wanted.server} is connected with {tools} tools.", wanted.becomes)

    def action_remove(self) -> None:
        """Show what becomes of the file without the plugin's server, then ask."""
        plugin = self._plugin
        server = self.session.marketplace.server_of(plugin) if plugin is not None else ""
        if not server:
            self.warn("This plugin is not installed.")
            return
        try:
            wanted = self.session.marketplace.removal(server)
        except ToolsightError as error:
            self.fail(error)
            return
        dialog = ChangeDialog("Remove this server?", removal_body(wanted), "remove it")
        self.app.push_screen(dialog, lambda answer: self._remove(wanted, answer))

    def _remove(self, wanted: Removal, answer: str | None) -> None:
        if ChangeDialog.accepted(answer):
            self.run_command(lambda commands: self._removed(commands, wanted), group="install")

    async def _removed(self, commands: Commands, wanted: Removal) -> None:
        await commands.remove_server(wanted)
        self._tell_changed(f"{wanted.server} was removed.", wanted.becomes)

    def _tell_changed(self, what: str, becomes: ServerChange) -> None:
        where = (
            "The configuration file was updated." if becomes.change is not None else "For this session only."
        )
        self.notify(f"{what} {where}", markup=False)


def _fill(shown: RecordList, listed: content.Listed, servers: Mapping[str, str]) -> None:
    """Show these plugins, in the columns that they fill."""
    shown.columns = content.columns(listed)
    shown.records = content.rows(listed, servers)

"""The marketplace: plugins on the left, the chosen one whole beside them, and what is needed above."""

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.dialogs.approver import TEXT_AT, fact_line
from inspector.app.draw.line import MUTED
from inspector.app.pages.tools.marketplace import content
from inspector.app.place import Destination, MarketplacePage
from inspector.app.stream import View
from inspector.config.installation import Installation, Removal, ServerChange
from inspector.core.error import ToolsightError
from inspector.core.marketplace import MarketplaceReport
from inspector.core.plugin import Plugin, Variable
from inspector.core.redaction import clean
from inspector.registry.marketplace.marketplace import INSTALL
from inspector.session.commands import Commands
from widgets import (
    NOTHING,
    Choice,
    Field,
    GuardedConfirm,
    KeyBar,
    PlainInput,
    RecordList,
    RecordRows,
    SchemaForm,
    plain,
    visible,
)

# The questions before a server is installed or removed: its values, then exactly what happens.

_YES = "yes"
_SIGNS = {"+": "$text-success", "-": "$text-error"}


class ChangeDialog(GuardedConfirm):
    """Shows what would be started and what would be written. The focus is on no, and esc means no."""

    DEFAULT_CSS = "ChangeDialog > Vertical { width: 100; }"

    def __init__(self, title: str, body: Content, yes: str) -> None:
        choices = (Choice("", yes, _YES), Choice("", "no", "no"))
        super().__init__(title, body, choices, indent=TEXT_AT)

    @staticmethod
    def accepted(answer: str | None) -> bool:
        """Whether the dialog's answer is a yes."""
        return answer == _YES


class VariablesDialog(ModalScreen[dict[str, str] | None]):
    """Asks for the values that a plugin takes; None for a person who left."""

    DEFAULT_CSS = """
    VariablesDialog {
        align: center middle;
        & > Vertical {
            width: 84; max-width: 96%; height: auto; max-height: 90%;
            padding: 1 2; border: round $accent; background: $surface;
        }
        & SchemaForm { height: auto; max-height: 50vh; }
        & SchemaForm > Button { display: none; }
        & Static { height: auto; }
        & #variables-title { margin-bottom: 1; }
        & Horizontal { height: auto; margin-top: 1; }
        & Button { margin-right: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("ctrl+r", "go_on", "continue", show=False),
    ]

    def __init__(self, plugin: Plugin) -> None:
        super().__init__()
        self._plugin = plugin

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_subtitle = "ctrl+r continues   esc cancels"
            name = plain(self._plugin.name, newlines=False, limit=100).stylize("bold")
            yield Static(Content.assemble("Values for ", name), id="variables-title")
            yield SchemaForm(tuple(map(_field, self._plugin.package.variables)))
            yield Static(
                Content.styled(
                    "Values are written to the configuration file; ${NAME} refers to a variable instead.",
                    MUTED,
                )
            )
            with Horizontal():
                yield Button("continue", variant="primary", compact=True, id="variables-on")
                yield Button("cancel", compact=True, id="variables-leave")

    @on(SchemaForm.Submitted)
    def _filled_in(self, event: SchemaForm.Submitted) -> None:
        event.stop()
        self.dismiss({name: str(value) for name, value in event.values.items()})

    @on(Button.Pressed, "#variables-on")
    def action_go_on(self) -> None:
        """Check the values and go on."""
        self.query_one(SchemaForm).action_submit()

    @on(Button.Pressed, "#variables-leave")
    def action_leave(self) -> None:
        """Install nothing."""
        self.dismiss(None)


def _field(variable: Variable) -> Field:
    default = variable.default or NOTHING
    return Field(
        variable.name,
        "string",
        variable.required and not variable.default,
        variable.description,
        default,
        hidden=variable.secret,
    )


def installation_body(wanted: Installation) -> Content:
    """Return what would be started, what it says that it reaches, and what becomes of the file."""
    name = plain(wanted.plugin.name, newlines=False, limit=200).stylize("bold $accent")
    head = Content.assemble(name, " would be installed as ", plain(wanted.server).stylize("bold"))
    marked = sum(fact.warns for fact in wanted.facts())
    warning = [Content.styled(f"Check the lines marked ! ({marked})", "$text-warning")] if marked else []
    facts = [*warning, *map(fact_line, wanted.facts())]
    return Content("\n").join([head, *facts, Content(), _change(wanted.becomes)])


def removal_body(wanted: Removal) -> Content:
    """Return what becomes of the file without the server."""
    head = Content.assemble(
        plain(wanted.server).stylize("bold"), " will be disconnected and its tools removed."
    )
    return Content("\n").join([head, Content(), _change(wanted.becomes)])


def _change(becomes: ServerChange) -> Content:
    if becomes.change is None:
        return Content.styled(becomes.note, "$text-warning")
    path = plain(becomes.change.path, newlines=False, limit=300)
    head = Content.assemble(path.stylize("bold"), " would change; a backup is kept next to it:")
    return Content("\n").join([head, *map(_diff_line, becomes.diff(clean))])


def _diff_line(line: str) -> Content:
    return plain(line, newlines=False, limit=500).stylize(_SIGNS.get(line[:1], MUTED))


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

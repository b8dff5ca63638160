"""The marketplace: plugins on the left, the chosen one whole beside them, and what is needed above."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from inspector.app.dialogs.approver import QuestionDialog
from inspector.app.draw.line import MUTED
from inspector.app.list_page import ReadingPage
from inspector.app.place import Destination, MarketplacePage
from inspector.app.stream import View
from inspector.config.server_change import Addition, Removal, ServerChange
from inspector.core.error import ToolsightError
from inspector.core.marketplace import MarketplaceReport
from inspector.core.question import YES, Diff, Option, Question
from inspector.core.redaction import clean
from inspector.core.report import Fact, Facts
from inspector.features.marketplace import plugin_text as content
from inspector.features.marketplace.marketplace import marketplace_of
from inspector.features.marketplace.plugin import Plugin, Variable, installation_facts
from inspector.session.server_change import INSTALL
from inspector.session.view import Commands
from widgets import NOTHING, Field, PlainInput, RecordList, SchemaForm, plain, visible

LIMIT = 20
_NO = Option("no", "no")


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
            told = "Values are written to the configuration file; ${NAME} refers to a variable instead."
            yield Static(Content.styled(told, MUTED))
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
    required = variable.required and not variable.default
    return Field(variable.name, "string", required, variable.description, default, hidden=variable.secret)


def installation_question(plugin: Plugin, wanted: Addition) -> Question:
    """Whether to start a plugin's server: what it says that it reaches, and what becomes of the file."""
    known = installation_facts(plugin, wanted)
    marked = sum(fact.warns for fact in known)
    warning = [Fact("", f"Check the lines marked ! ({marked})", warns=True)] if marked else []
    head = Fact("", f"would be installed as {wanted.server}")
    facts = Facts((head, *warning, *known), plugin.name)
    title, yes = "Install and start this server?", Option(YES, "install and start it")
    return Question(title, (facts, _change(wanted.becomes)), (yes, _NO), is_exact=True)


def removal_question(wanted: Removal) -> Question:
    """Whether to take a server out of the file, and what becomes of that."""
    told = f"{wanted.server} will be disconnected and its tools removed."
    yes = Option(YES, "remove it")
    return Question("Remove this server?", (told, _change(wanted.becomes)), (yes, _NO))


def _change(becomes: ServerChange) -> Diff | str:
    if becomes.change is None:
        return becomes.note
    title = f"{becomes.change.path} would change; a backup is kept next to it:"
    return Diff(title, tuple(becomes.diff(clean)))


class MarketplaceScreen(ReadingPage):
    """What could be installed. Nothing here changes anything before a yes in a dialog."""

    page = "marketplace"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#plugins RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "install", "install", id="marketplace.install"),
        Binding("delete,backspace", "remove", "remove", id="marketplace.remove"),
        Binding("f", "ask", "find", id="marketplace.find"),
        Binding("v", "read", "read", id="marketplace.read"),
    ]
    titles: ClassVar[Mapping[str, str]] = {"plugins": "Plugins"}
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

    _query = ""
    _report: MarketplaceReport | None = None

    def head(self) -> ComposeResult:
        with Horizontal(id="ask"):
            yield PlainInput(placeholder="what you need, then enter", id="query")
        yield from super().head()

    def lists(self) -> ComposeResult:
        yield RecordList(content.COLUMNS, header=True, empty=content.NO_CATALOG, id="plugins")

    def drawn_from(self, view: View) -> object:  # noqa: ARG002 - the session has the configuration
        return marketplace_of(self.session).plugins, self.session.configuration.servers

    def draw(self) -> None:
        self._search(self._query)

    def arrive(self, destination: Destination) -> None:
        """Show a plugin that another page names, among those that its query finds."""
        match destination:
            case MarketplacePage(plugin, query):
                self.query_one("#query", Input).value = query
                self._search(query)
                self.list.move_to(plugin)
                self.call_later(self.list.focus)

    @on(Input.Submitted, "#query")
    def _asked(self, event: Input.Submitted) -> None:
        event.stop()
        self._search(event.value.strip())
        self.list.focus()

    def _search(self, query: str) -> None:
        market = marketplace_of(self.session)
        self._query = query
        try:
            self._report = market.look(query, LIMIT) if query else None
        except ToolsightError as error:
            self.fail(error)
            return
        plugins, whole = market.plugins, self.session.sight.is_whole
        servers = {one.name: server for one in plugins if (server := market.server_of(one))}
        self.write(content.facts(plugins, len(servers), self._report, len(market.problems), whole=whole))
        self.list.empty = content.NOTHING_FITS if self._report and plugins else content.NO_CATALOG
        listed = content.listed(plugins, self._report)
        self.list.columns = content.columns(listed)
        self.list.records = content.rows(listed, servers)
        self.draw_detail()

    @property
    def _plugin(self) -> Plugin | None:
        return next((one for one in marketplace_of(self.session).plugins if one.name == self.key), None)

    def draw_detail(self) -> None:
        plugin, found = self._plugin, self._report.suggestions if self._report is not None else ()
        if plugin is None:
            self.write("", "#detail")
            return
        one = next((each for each in found if each.plugin == plugin.name), None)
        self.write(content.detail(plugin, marketplace_of(self.session).server_of(plugin), one), "#detail")

    def leave_input(self) -> None:
        """Go to the list."""
        self.list.focus()

    async def action_leave(self) -> None:
        """Go from the text to the list, then show every plugin again, then go back."""
        if self.is_reading or not self._query:
            await super().action_leave()
        else:
            self.query_one("#query", Input).value = ""
            self._search("")

    def action_ask(self) -> None:
        """Go to the query."""
        self.query_one("#query").focus()

    def opened(self, key: str) -> None:  # noqa: ARG002 - it is the row under the cursor
        self.action_install()

    def action_install(self) -> None:
        """Ask for what the plugin needs, then show exactly what would happen, then ask."""
        plugin = self._plugin
        if not self.may(INSTALL):
            return
        if plugin is None:
            self.warn("Put the cursor on a plugin first.")
        elif server := marketplace_of(self.session).server_of(plugin):
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
            wanted = marketplace_of(self.session).plan(plugin.name, values)
        except ToolsightError as error:
            self.fail(error)
            return

        async def install(commands: Commands) -> None:
            self.notify(f"Starting {wanted.server} …", markup=False)
            await commands.install(wanted)
            tools = self.session.state.servers[wanted.server].tools
            self._tell_changed(f"{wanted.server} is connected with {tools} tools.", wanted.becomes)

        self._ask_to(installation_question(plugin, wanted), install)

    def _ask_to(self, question: Question, change: Callable[[Commands], Coroutine[Any, Any, None]]) -> None:
        def answered(answer: str | None) -> None:
            if answer == YES:
                self.run_command(change, group="install")

        self.app.push_screen(QuestionDialog(question), answered)

    def action_remove(self) -> None:
        """Show what becomes of the file without the plugin's server, then ask."""
        plugin = self._plugin
        server = marketplace_of(self.session).server_of(plugin) if plugin is not None else ""
        if not server:
            self.warn("This plugin is not installed.")
            return
        try:
            wanted = marketplace_of(self.session).removal(server)
        except ToolsightError as error:
            self.fail(error)
            return

        async def remove(commands: Commands) -> None:
            await commands.remove_server(wanted)
            self._tell_changed(f"{wanted.server} was removed.", wanted.becomes)

        self._ask_to(removal_question(wanted), remove)

    def _tell_changed(self, what: str, becomes: ServerChange) -> None:
        where = "The configuration file was updated." if becomes.change else "For this session only."
        self.notify(f"{what} {where}", markup=False)

"""The marketplace: plugins on the left, the chosen one whole beside them, and what is needed above."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

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
from inspector.config.server_change import ServerChange
from inspector.core.error import ToolsightError
from inspector.core.marketplace import (
    NO_CATALOG,
    MarketplaceReport,
    Suggestion,
    price_text,
    rating_text,
    terms_columns,
)
from inspector.core.number import bar, count, percent
from inspector.core.report import YES, Fact, Question
from inspector.features.marketplace.facts import installation_question, plugin_facts, removal_question
from inspector.features.marketplace.marketplace import marketplace_of
from inspector.features.marketplace.plugin import Plugin, Variable
from inspector.search.answer.answer_text import confidence_beside
from inspector.session.server_change import INSTALL
from widgets import NOTHING, Column, Field, PlainInput, Record, RecordList, SchemaForm, plain, visible

if TYPE_CHECKING:
    from inspector.session.workbench import Workbench

LIMIT = 20


class VariablesDialog(ModalScreen[dict[str, str] | None]):
    """Asks for the values that a plugin takes; None for a person who left."""

    CSS_PATH = "page.tcss"
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


Listed = Sequence[tuple[Plugin, Suggestion | None]]
"""Plugins in the order of the list, each with what a search says of it."""
COLUMNS = (
    Column("mark", "", width=1, weight=9),
    Column("plugin", "plugin", weight=5, min_width=16, shorten="middle"),
    Column("fits", "fits", align="right", weight=8),
    Column("category", "category", weight=2, min_width=8, hide_below=52),
    Column("price", "price", align="right", weight=4, min_width=5, hide_below=40),
    Column("rating", "rating", align="right", weight=6),
    Column("tools", "tools", align="right", weight=7),
)
NOTHING_FITS = "No plugin matches. esc shows all plugins."
YOURS = "only you can install, never a model"
NOT_YOURS = "only the administrator can install and remove"
INSTALLED, BLOCKED = "✓", "✕"
_UNKNOWN = "?"
_BAR, _LABEL = 6, 10
_TEXT, _NAMED = 2_000, 60


def headline(
    plugins: Sequence[Plugin],
    installed: int,
    report: MarketplaceReport | None,
    problems: int,
    *,
    whole: bool = True,
) -> Content:
    """Return how many plugins there are, and what a search found."""
    left_out = f"   {count(problems, 'entry', 'entries')} could not be read" if problems else ""
    if report is None:
        known = f"{count(len(plugins), 'plugin')}, {installed} installed {INSTALLED}"
        note = f"   {YOURS if whole else NOT_YOURS}"
        return Content.assemble((known, "bold"), (note, MUTED), (left_out, "$text-warning"))
    found = len(report.suggestions)
    sure = confidence_beside(report.probability, 0.0)
    return Content.assemble(
        (f"{found} of {count(report.considered, 'plugin')} may fit", "bold"),
        " “",
        plain(report.query, newlines=False, limit=_NAMED),
        ("   ".join(filter(None, ("”", sure, f"{report.installed} installed, left out"))), MUTED),
        (left_out, "$text-warning"),
    )


def columns(shown: Listed) -> tuple[Column, ...]:
    """Return the columns; fits, prices and ratings have none where no plugin of the list has one."""
    told = {column.header for column in terms_columns([plugin for plugin, _ in shown])}
    told |= {"fits"} if any(found is not None for _, found in shown) else set()
    return tuple(one for one in COLUMNS if one.key in told or one.key not in ("fits", "price", "rating"))


def row(plugin: Plugin, server: str, found: Suggestion | None, shown: Sequence[Column]) -> Record:
    """Return the row of a plugin in these columns; `server` is what it is installed as, if it is."""
    state = INSTALLED if server else BLOCKED if plugin.package.obstacle else ""
    cells = {
        "mark": state,
        "plugin": plugin.name,
        "fits": percent(found.similarity) if found is not None else "",
        "category": plugin.category,
        "price": price_text(plugin.price) or _UNKNOWN,
        "rating": rating_text(plugin.rating) or _UNKNOWN,
        "tools": str(len(plugin.tools)) if plugin.tools else _UNKNOWN,
    }
    shown_cells = tuple(cells[column.key] for column in shown)
    return Record(plugin.name, shown_cells, "muted" if state else "", copy=plugin.name)


def detail(plugin: Plugin, server: str, found: Suggestion | None) -> Content:
    """Return everything that is known of a plugin, with why it fits and what would be started."""
    version = plain(plugin.version, newlines=False, limit=_NAMED).stylize(MUTED)
    head = Content.assemble(_text(plugin.name).stylize("bold"), "   ", version)
    parts = [
        head,
        _text(plugin.description),
        Content("\n").join(map(_line, plugin_facts(plugin, server).facts)),
    ]
    if found is not None:
        parts.insert(1, _why(found))
    if plugin.tools:
        title = Content.styled(f"{count(len(plugin.tools), 'tool')}, according to its publisher", MUTED)
        named = (
            Content.assemble("• ", _text(one.name).stylize("bold"), "  ", _text(one.description))
            for one in plugin.tools
        )
        parts.append(Content("\n").join([title, *named]))
    else:
        parts.append(Content.styled("The catalog does not list its tools.", MUTED))
    return Content("\n\n").join(parts)


def _line(fact: Fact) -> Content:
    text = _text(fact.text)
    told = text.stylize("$text-warning") if fact.warns else text
    return Content.assemble((f"{fact.label:<{_LABEL}}", MUTED), told)


def _text(text: str) -> Content:
    return plain(text, newlines=False, limit=_TEXT)


def _why(found: Suggestion) -> Content:
    """Return how well it fits, and by which of its texts."""
    by = f"matches its tool {found.matched}" if found.matched else "matches its description"
    return Content.assemble(
        ("fits ", MUTED),
        (f"{bar(found.similarity, _BAR):<{_BAR}}", "$primary"),
        (f" {percent(found.similarity)}", "bold"),
        " ",
        _text(by),
    )


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
        "v goes to the plugin's details, esc goes back to the list.",
    )

    _query = ""
    _report: MarketplaceReport | None = None

    def head(self) -> ComposeResult:
        with Horizontal(id="ask"):
            yield PlainInput(placeholder="what you need, then enter", id="query")
        yield from super().head()

    def lists(self) -> ComposeResult:
        yield RecordList(COLUMNS, header=True, empty=NO_CATALOG, id="plugins")

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
        self.write(headline(plugins, len(servers), self._report, len(market.problems), whole=whole))
        self.list.empty = NOTHING_FITS if self._report and plugins else NO_CATALOG
        by_name = {one.name: one for one in plugins}
        listed: Listed = [(one, None) for one in plugins]
        if self._report is not None:
            found = self._report.suggestions
            listed = [(by_name[one.plugin], one) for one in found if one.plugin in by_name]
        shown = columns(listed)
        self.list.columns = shown
        self.list.records = tuple(row(one, servers.get(one.name, ""), fit, shown) for one, fit in listed)
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
        self.write(detail(plugin, marketplace_of(self.session).server_of(plugin), one), "#detail")

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

        async def install(commands: "Workbench") -> None:
            self.notify(f"Starting {wanted.server} …", markup=False)
            await commands.install(wanted)
            tools = self.session.state.servers[wanted.server].tools
            self._tell_changed(f"{wanted.server} is connected with {tools} tools.", wanted.becomes)

        self._ask_to(installation_question(plugin, wanted), install)

    def _ask_to(self, question: Question, change: "Callable[[Workbench], Coroutine[Any, Any, None]]") -> None:
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

        async def remove(commands: "Workbench") -> None:
            await commands.remove_server(wanted)
            self._tell_changed(f"{wanted.server} was removed.", wanted.becomes)

        self._ask_to(removal_question(wanted), remove)

    def _tell_changed(self, what: str, becomes: ServerChange) -> None:
        where = "The configuration file was updated." if becomes.change else "For this session only."
        self.notify(f"{what} {where}", markup=False)

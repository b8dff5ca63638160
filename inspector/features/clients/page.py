"""The catalog as real clients get it: a matrix of tools or behaviours by client, the chosen cell below."""

from collections import Counter
from collections.abc import Iterator, Set
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from inspector.app.base_screen import ToolKeys
from inspector.app.context import Job
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.draw.line import MUTED
from inspector.app.list_page import ReadingPage
from inspector.app.stream import View
from inspector.clients.client import Client, all_clients
from inspector.clients.delivery import Delivery
from inspector.config.configuration import in_words
from inspector.core.number import count
from inspector.core.report import Table
from inspector.core.settings import ClientCapabilities
from inspector.features.clients.behaviour import BEHAVIOURS, LEGEND, behaviour_table
from inspector.features.clients.cell import FATES, client_detail, tool_detail
from inspector.session.client_matrix import WAITING, fate_table, rows
from inspector.session.client_view import ClientView, declared, listed_in, view_as
from widgets import Column, Record, RecordList, ViewStrip, visible

if TYPE_CHECKING:
    from inspector.session.workbench import Workbench

WORKING = "Working out what each client sees …"
NO_TOOLS = "No server is ready yet, so there are no tools."
TOOLS, BEHAVIOUR = "tools", "behaviours"
_CELL = max(map(len, ("✕ refused", "~ changed")))


def facts(tools: int, declared: ClientCapabilities) -> Content:
    """Return what the page shows, and what is declared to the servers now."""
    # A declaration may be made under the name of another client.
    name = f" (as {visible(declared.name, newlines=False, limit=40)})" if declared.name else ""
    return Content.assemble(
        (count(tools, "tool"), "bold"),
        " in real clients",
        ("   declared to the servers: ", MUTED),
        f"{', '.join(in_words(declared)) or 'nothing'}{name}",
    )


def difference(before: Set[str], after: Set[str]) -> str:
    """Return which tools are new and which are gone."""
    signed = (("+", sorted(after - before)), ("−", sorted(before - after)))
    parts = [f"{sign} {visible(', '.join(ids), newlines=False, limit=200)}" for sign, ids in signed if ids]
    told = f"{count(len(after), 'tool')} instead of {len(before):,}: {'   '.join(parts)}"
    return told if parts else "The same tools as before."


def matrix_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns of a matrix: the names of its rows, and one for each client."""
    names, *clients = table.headers
    # Verdicts are not measured, for there are many. As names, columns of which all are the same stay, too.
    widths = ((one, max(len(one), _CELL) if names == "tool" else None) for one in clients)
    columns = (Column(one, one, width=width, shorten="name") for one, width in widths)
    return Column(names, names, min_width=26, shorten="name"), *columns


def matrix_records(table: Table) -> Iterator[Record]:
    """Yield the rows of a matrix; two tools of the same name are two rows."""
    cells = {text: _cell(text) for text in {text for row in table.rows for text in row[1:]}}
    times = Counter[str]()
    for name, *told in table.rows:
        times[name] += 1
        key = name if times[name] == 1 else f"{name}\0{times[name]}"
        yield Record(key, (name, *(cells[one] for one in told)), copy=name)


def _cell(text: str) -> Content:
    muted = text in (WAITING, "?") or text.endswith("–")
    return Content.styled(text, MUTED if muted else FATES.get(text[:1], ""))


class ClientsScreen(ReadingPage, ToolKeys):
    """Every known client; the numbers come in one after another, counted in a thread."""

    page = "clients"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#clients RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: a list would scroll, and hide it from the footer.
        Binding("left", "column(-1)", "client", key_display="←→", id="clients.column", priority=True),
        Binding("right", "column(1)", show=False, id="clients.next_column", priority=True),
        Binding("t", "next_group", "group", id="clients.group"),
        Binding("p", "choose", "pick client", id="clients.choose"),
        Binding("v", "other_view", "request", id="page.view"),
        Binding("a", "declare", "declare same", id="clients.declare"),
    ]
    when_not_typing: ClassVar[frozenset[str]] = frozenset({"column"})
    help_lines: ClassVar[tuple[str, ...]] = (
        "What each real client makes of these tools: whole, changed, refused or lost. ← → choose a client,",
        "enter shows the definition as declared beside it as sent: ~ changed, - lost, + added.",
        "p puts a client first, so that those you compare stand side by side.",
        "t turns to what clients do with names, pages, schemas, results, and what a first call costs.",
        "A rule is as certain as the weakest fact behind it, marked ● ◐ ○; the text below cites the sources.",
        "Press a to reconnect the servers with the client's capabilities; many then list different tools.",
        "This reveals no folders to servers; that takes your consent at startup.",
        "v shows Toolsight's next request. In Search, u chooses a client's ranker.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._clients = list(all_clients())
        self._views: dict[str, ClientView] = {}

    def lists(self) -> ComposeResult:
        strip = ViewStrip((TOOLS, BEHAVIOUR), id="clients-rows")
        strip.can_focus = False
        yield strip
        yield RecordList((), header=True, empty=WORKING, id="clients")

    def words(self) -> list[str]:
        named = [word for one in self._clients for word in ("--client", one.name)]
        return ["tools", *named, *self.context.opened.source] if self._is_of_tools else ["clients"]

    def on_mount(self) -> None:
        self.list.rows.choose(1)

    def drawn_from(self, view: View) -> object:
        return self.session.catalog.seen, {name: one.info for name, one in view.state.servers.items()}

    def draw(self) -> None:
        """Look at the tools as each client does, in a thread; the columns come in one after another."""
        session, tools = self.session, self.session.catalog.seen
        listed, measure = listed_in(session), session.accounting.meter.text
        self._views = {}
        self.list.empty = WORKING if tools else NO_TOOLS
        self._draw_matrix()
        self.draw_detail()

        def look(job: Job) -> None:
            for client in tuple(self._clients):
                if job.stopped():
                    return
                found = view_as(client, listed, measure)
                job.tell(partial(show, found))

        def show(view: ClientView) -> None:
            self._views[view.client.name] = view
            self._draw_matrix()
            if view.client is self._client:
                self.draw_detail()

        self.run_job("clients", look, lambda _: None)

    def _draw_matrix(self) -> None:
        if self._is_of_tools:
            self.write(facts(len(self.session.catalog.seen), self.session.settings.client))
            table = fate_table(self._clients, rows([*self._views.values()]))
        else:
            self.write(Content.styled(LEGEND, MUTED))
            table = behaviour_table(self._clients, self._views)
        self.list.columns = matrix_columns(table)
        self.list.records = tuple(matrix_records(table))

    @property
    def _is_of_tools(self) -> bool:
        return self.query_one(ViewStrip).current == TOOLS

    @on(ViewStrip.Chosen)
    def _chosen(self) -> None:
        self._draw_matrix()
        self.draw_detail()

    def action_next_group(self) -> None:
        """Show behaviours in place of tools, or tools again."""
        self.query_one(ViewStrip).step(1)

    def action_column(self, by: int) -> None:
        """Choose the next client, or the one before."""
        self.list.rows.choose(min(max(self._place + by, 1), len(self._clients)))

    def action_choose(self) -> None:
        """Choose a client by its name, and put it first."""

        def choose(name: str) -> None:
            self._clients.sort(key=lambda one: one.name != name)
            self._draw_matrix()
            self.list.rows.choose(1)

        current = self._client.name
        found = tuple(
            Record(
                one.name, ("✓" if one.name == current else " ", one.title, str(one.kind)), detail=one.about
            )
            for one in self._clients
        )
        self.app.push_screen(ChoiceDialog("Client", found, choose, current))

    def action_declare(self) -> None:
        """Declare to every server what the client does, and show which tools that changes."""
        client = self._client
        if self.session.settings.client == client.declares:
            self.warn(f"{client.title}'s capabilities are already declared.")
            return
        self.notify(f"Reconnecting and declaring {declared(client)}.", title=client.title, markup=False)
        self.run_command(lambda commands: self._declare(commands, client))

    async def _declare(self, commands: "Workbench", client: Client) -> None:
        before = {tool.id for tool in self.session.catalog.seen}
        await commands.declare(client.declares)
        self.draw()
        after = {tool.id for tool in self.session.catalog.seen}
        self.notify(difference(before, after), title="Tools listed", markup=False, timeout=10)

    @property
    def _place(self) -> int:
        """The chosen column: the client's place among all, from 1 on."""
        return self.list.rows.column or 1

    @property
    def _client(self) -> Client:
        return self._clients[self._place - 1]

    @property
    def _tool(self) -> Delivery | None:
        """The tool of the row under the cursor, as the client of the column gets it."""
        view = self._views.get(self._client.name)
        if view is None or not self._is_of_tools:
            return None
        name, _, number = self.key.partition("\0")
        same = [one for one in view.tools if one.id == name]
        return same[int(number or 1) - 1] if same else None

    def draw_detail(self) -> None:
        client, one = self._client, self._tool
        name = visible(self.key.partition("\0")[0], newlines=False)
        title = f"{name} in {client.title}" if name else client.title
        place = f"{self._place} of {len(self._clients)}"
        self.query_one("#reading").border_title = Content(f"{title} ({client.kind}), {place}")
        view = self._views.get(client.name)
        if view is None:
            shown = Content(WORKING)
        elif one is not None:
            shown = tool_detail(client, one, self.width)
        else:
            topic = next((each.topic for each in BEHAVIOURS if each.name == self.key), None)
            shown = client_detail(view, topic)
        self.write(shown, "#detail")

    def opened(self, key: str) -> None:  # noqa: ARG002 - the cell is in the column, too
        self.action_read()

    @property
    def tool_id(self) -> str:
        return one.id if (one := self._tool) else ""

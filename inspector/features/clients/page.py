"""The catalog as real clients get it: all clients, the tools or behaviours of one or two, the row below."""

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one

from inspector.app.base_screen import ToolKeys
from inspector.app.context import Job
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.draw.line import MUTED
from inspector.app.list_page import ReadingPage
from inspector.app.stream import View
from inspector.clients.client import HARMLESS, Client, all_clients
from inspector.clients.delivery import Delivery, Fate
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
CLIENTS = (
    Column("client", "client", min_width=12, weight=9),
    Column("whole", "✓", align="right", weight=8),
    Column("as_good", "≈", align="right", weight=8),
    Column("changed", "~", align="right", weight=8),
    Column("gone", "✕", align="right", weight=8),
    Column("first", "first call", align="right", weight=7),
    Column("kind", "kind", hide_below=70, weight=4),
    Column("knows", "model knows first", hide_below=70, weight=5),
    Column("results", "results give", hide_below=70, weight=3),
)
_IN_LIST = ("model knows first", "results give")


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
    """Return the columns of the rows: what they are of, one or two clients, and why a tool is not whole."""
    names, *clients = table.headers
    is_of_tools = names == "tool"
    widths = ((one, max(len(one), _CELL) if is_of_tools else None) for one in clients)
    columns = (Column(one, one, width=width, shorten="name", weight=6) for one, width in widths)
    why = (Column("why", "why", weight=5, min_width=16, hide_below=56),) if is_of_tools else ()
    return Column(names, names, min_width=20, shorten="name", weight=2), *columns, *why


def matrix_records(table: Table, whys: Iterable[str] = ()) -> Iterator[Record]:
    """Yield the rows; two tools of the same name are two rows."""
    cells = {text: _cell(text) for text in {text for row in table.rows for text in row[1:]}}
    times = Counter[str]()
    for (name, *told), why in zip(table.rows, chain(whys, repeat("")), strict=False):
        times[name] += 1
        key = name if times[name] == 1 else f"{name}\0{times[name]}"
        yield Record(key, (name, *(cells[one] for one in told), Content.styled(why, MUTED)), copy=name)


def client_record(client: Client, view: ClientView | None) -> Record:
    """Return a client in one line: what becomes of the tools there, and the tokens of its first call."""
    fates = Counter(one.fate for one in view.tools) if view is not None else Counter[Fate]()
    gone = fates[Fate.REFUSED] + fates[Fate.LOST]
    as_good = sum(one.is_as_good for one in view.tools) if view is not None else 0
    changed = fates[Fate.CHANGED] - as_good
    numbers = fates[Fate.WHOLE], as_good, changed, gone, view.before_search if view is not None else 0
    told = [f"{number:,}" if view is not None else WAITING for number in numbers]
    counted = (Content.styled(text, MUTED if text == "0" else "") for text in told[:3])
    lost = Content.styled(told[3], FATES["✕"] if gone else MUTED)
    known = (str(client.kind), *(one.told(client) for one in BEHAVIOURS if one.name in _IN_LIST))
    return Record(
        client.name, (client.name, *counted, lost, told[4], *known), search=client.title, copy=client.name
    )


def _why(one: Delivery) -> str:
    """Why it is changed, first by what costs a model something: the line is often cut."""
    reasons = sorted(one.reasons, key=lambda reason: reason.kind in HARMLESS)
    return "; ".join(reason.says.removeprefix("schema: ") for reason in reasons)


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
        Binding("left", "client(-1)", "client", key_display="←→", id="clients.column", priority=True),
        Binding("right", "client(1)", show=False, id="clients.next_column", priority=True),
        Binding("t", "next_group", "group", id="clients.group"),
        Binding("p", "choose", "pick client", id="clients.choose"),
        Binding("v", "other_view", "request", id="page.view"),
        Binding("a", "declare", "declare same", id="clients.declare"),
    ]
    when_not_typing: ClassVar[frozenset[str]] = frozenset({"client"})
    help_lines: ClassVar[tuple[str, ...]] = (
        "What each real client makes of these tools: ✓ whole, ≈ changed in nothing that a model is told or",
        "loses, ~ changed, ✕ refused or lost; and the tokens of tools in its first call. enter goes from the",
        "clients to the tools of one, and from a tool to its definition as declared beside it as sent:",
        "~ changed, - lost, + added. ← → change the client.",
        "p picks a client to compare: it stands beside the one under the cursor. p again, on it, drops it.",
        "t turns to what clients do with names, pages, schemas, results, and what a first call costs.",
        "A rule is as certain as the weakest fact behind it, marked ● ◐ ○; the text below cites the sources.",
        "Press a to reconnect the servers with the client's capabilities; many then list different tools.",
        "This reveals no folders to servers; that takes your consent at startup.",
        "v shows Toolsight's next request. In Search, u chooses a client's ranker.",
    )
    rows = query_one("#rows", RecordList)

    def __init__(self) -> None:
        super().__init__()
        self._clients = list(all_clients())
        self._views: dict[str, ClientView] = {}
        self._other = ""

    def lists(self) -> ComposeResult:
        strip = ViewStrip((TOOLS, BEHAVIOUR), id="clients-rows")
        strip.can_focus = False
        yield strip
        with Horizontal(id="pair"):
            yield RecordList(CLIENTS, header=True, id="clients")
            yield RecordList((), header=True, empty=WORKING, id="rows")

    def words(self) -> list[str]:
        named = [word for one in self._clients for word in ("--client", one.name)]
        return ["tools", *named, *self.context.opened.source] if self._is_of_tools else ["clients"]

    def drawn_from(self, view: View) -> object:
        return self.session.catalog.seen, {name: one.info for name, one in view.state.servers.items()}

    def draw(self) -> None:
        """Look at the tools as each client does, in a thread; the columns come in one after another."""
        session, tools = self.session, self.session.catalog.seen
        listed, measure = listed_in(session), session.accounting.meter.text
        self._views = {}
        self.rows.empty = WORKING if tools else NO_TOOLS
        self._draw_clients()

        def look(job: Job) -> None:
            for client in tuple(self._clients):
                if job.stopped():
                    return
                found = view_as(client, listed, measure)
                job.tell(partial(show, found))

        def show(view: ClientView) -> None:
            self._views[view.client.name] = view
            self._draw_clients(is_news=view.client.name in (self.key, self._other))

        self.run_job("clients", look, lambda _: None)

    def _draw_clients(self, *, is_news: bool = True) -> None:
        """Draw the clients, and the rows of the one under the cursor if they are others."""
        self.list.records = tuple(client_record(one, self._views.get(one.name)) for one in self._clients)
        if is_news:
            self.moved()

    def moved(self) -> None:
        """Draw the rows of the client under the cursor, and of the one beside it."""
        shown = [one for one in self._clients if one.name == self._other != self._client.name]
        chosen, whys = [self._client, *shown], list[str]()
        if self._is_of_tools:
            self.write(facts(len(self.session.catalog.seen), self.session.settings.client))
            views = [self._views[one.name] for one in chosen if one.name in self._views]
            table = fate_table(chosen, rows(views))
            tools = views[0].tools if views else ()
            whys = list(map(_why, tools))
        else:
            self.write(Content.styled(LEGEND, MUTED))
            table = behaviour_table(chosen, self._views)
        self.rows.columns = matrix_columns(table)
        self.rows.records = tuple(matrix_records(table, whys))
        self.draw_detail()

    @property
    def _is_of_tools(self) -> bool:
        return self.query_one(ViewStrip).current == TOOLS

    @on(ViewStrip.Chosen)
    def _chosen(self) -> None:
        self.moved()

    @on(RecordList.Highlighted, "#rows")
    def _on_row(self) -> None:
        self.draw_detail()

    @on(RecordList.Selected, "#rows")
    def _read(self) -> None:
        self.action_read()

    def action_next_group(self) -> None:
        """Show behaviours in place of tools, or tools again."""
        self.query_one(ViewStrip).step(1)

    def action_client(self, by: int) -> None:
        """Choose the next client, or the one before."""
        self.list.rows.action_step(by)

    async def action_leave(self) -> None:
        """Go from the text to the rows, from these to the clients, and from there to where one came from."""
        if self.rows.has_focus_within:
            self.list.focus()
        else:
            await super().action_leave()

    def action_choose(self) -> None:
        """Choose a client by its name to stand beside the current one; the same again takes it away."""

        def choose(name: str) -> None:
            self._other = "" if name == self._other else name
            self.moved()

        found = tuple(
            Record(
                one.name,
                ("✓" if one.name == self._other else " ", one.title, str(one.kind)),
                detail=one.about,
            )
            for one in self._clients
        )
        self.app.push_screen(ChoiceDialog("Compare with", found, choose, self._other or self._client.name))

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
    def _client(self) -> Client:
        return next((one for one in self._clients if one.name == self.key), self._clients[0])

    @property
    def _row(self) -> str:
        return self.key_in(self.rows)

    @property
    def _tool(self) -> Delivery | None:
        """The tool of the row under the cursor, as the client of the column gets it."""
        view = self._views.get(self._client.name)
        if view is None or not self._is_of_tools:
            return None
        name, _, number = self._row.partition("\0")
        same = [one for one in view.tools if one.id == name]
        return same[int(number or 1) - 1] if same else None

    def draw_detail(self) -> None:
        client, one = self._client, self._tool
        name = visible(self._row.partition("\0")[0], newlines=False)
        title = f"{name} in {client.title}" if name else client.title
        place = f"{self._clients.index(client) + 1} of {len(self._clients)}"
        self.query_one("#reading").border_title = Content(f"{title} ({client.kind}), {place}")
        view = self._views.get(client.name)
        if view is None:
            shown = Content(WORKING)
        elif one is not None:
            shown = tool_detail(client, one, self.width)
        else:
            topic = next((each.topic for each in BEHAVIOURS if each.name == self._row), None)
            shown = client_detail(view, topic)
        self.write(shown, "#detail")

    def opened(self, key: str) -> None:  # noqa: ARG002 - its rows are there already
        self.rows.focus()

    @property
    def tool_id(self) -> str:
        return one.id if (one := self._tool) else ""

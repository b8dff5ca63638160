"""The catalog as real clients get it: clients above, their tools below, the chosen one whole beside them."""

import json
from collections.abc import Iterator, Mapping, Set
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.getters import query_one

from inspector.app.base_screen import ToolKeys
from inspector.app.context import Job
from inspector.app.draw.line import MUTED
from inspector.app.list_page import ReadingPage
from inspector.app.stream import View
from inspector.clients.client import Client, Confidence, Topic, all_clients
from inspector.clients.delivery import Delivery
from inspector.clients.seen import Cut
from inspector.config.configuration import in_words
from inspector.core.number import count
from inspector.core.settings import ClientCapabilities
from inspector.features.clients.facts import KNOWN_FIRST
from inspector.session.client_view import (
    IN_THE_PROMPT,
    ClientView,
    changes,
    cut_at,
    declared,
    declares,
    first_call,
    knows,
    listed_in,
    parameters,
    view_as,
)
from widgets import Column, Record, RecordList, plain, visible

if TYPE_CHECKING:
    from inspector.session.workbench import Workbench

CLIENTS = (
    Column("client", "client", weight=4, min_width=15),
    Column("tokens", "first call", align="right", weight=9),
    Column("listed", "model knows first", weight=3, min_width=8),
    Column("trouble", "refused", align="right", weight=8),
    Column("cut", "cut", align="right", weight=7),
    Column("search", "searches by", weight=2, min_width=8, hide_below=72),
)
TOOLS = (
    Column("tool", "tool", weight=4, min_width=16, shorten="name"),
    Column("name", "name in client", weight=4, min_width=16, shorten="name", hide_below=60),
    Column("tokens", "tokens", align="right", weight=9),
    Column("change", "changes", weight=3, min_width=12),
)
WORKING = "Working out what each client sees …"
NO_TOOLS = "No server is ready yet, so there are no tools."
_MARKS = {
    Confidence.MEASURED: "●",
    Confidence.DOCUMENTED: "●",
    Confidence.OPEN_SOURCE: "●",
    Confidence.REPORTED: "◐",
    Confidence.ASSUMED: "○",
}
_LOST = "$text-warning"
_LIMIT = 20_000
_NAMED = 6


def facts(tools: int, declared: ClientCapabilities) -> Content:
    """Return what the page shows, what is declared to the servers now, and what the marks mean."""
    # A declaration may be made under the name of another client.
    name = f" (as {visible(declared.name, newlines=False, limit=40)})" if declared.name else ""
    marks = f"{_MARKS[Confidence.DOCUMENTED]} measured, documented or open source"
    marks += f"   {_MARKS[Confidence.REPORTED]} third-party reports   {_MARKS[Confidence.ASSUMED]} assumed"
    return Content.assemble(
        (count(tools, "tool"), "bold"),
        " as real clients see them",
        ("   declared to the servers: ", MUTED),
        f"{', '.join(in_words(declared)) or 'nothing'}{name}",
        (f"\n{marks}", MUTED),
    )


def difference(before: Set[str], after: Set[str]) -> str:
    """Return which tools are new and which are gone."""
    if before == after:
        return "The same tools as before."
    new, gone = sorted(after - before), sorted(before - after)
    parts = []
    for sign, ids in (("+", new), ("−", gone)):
        names = visible(", ".join(ids[:_NAMED]), newlines=False, limit=400)
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        parts += [f"{sign} {names}{more}"] if ids else []
    return f"{count(len(after), 'tool')} instead of {len(before):,}: {'   '.join(parts)}"


def _client_row(client: Client, view: ClientView | None) -> Record:
    """Return the row of a client; its numbers are dots until they are counted."""
    search = _marked(client, Topic.SEARCH, client.search.ranker) if client.search.ranker else "–"
    listed = _marked(client, Topic.LISTING, KNOWN_FIRST[client.listing.before])
    if view is None:
        return Record(client.name, (client.title, "…", listed, "…", "…", search), copy=client.name)
    refused = len(view.tools) - len(view.offered)
    shortened = sum(bool(seen.description.lost) for seen in view.offered)
    shortened += sum(bool(server.instructions.lost) for server in view.servers) * client.listing.instructions
    numbers = [f"{number:,}" if number else "–" for number in (refused, shortened)]
    cells = (client.title, f"{view.before_search:,}", listed, *numbers, search)
    return Record(client.name, cells, "warning" if refused else "", copy=client.name)


def _marked(client: Client, topic: Topic, text: str) -> str:
    return f"{_MARKS[client.confidence(topic)]} {text}"


def _tool_row(one: Delivery) -> Record:
    name = one.seen.name if one.seen else one.tool
    cells = (one.id, name, f"{one.tokens:,}", changes(one) or "–")
    return Record(one.id, cells, "" if one.reaches else "warning", copy=name)


def client_detail(view: ClientView, today: date) -> Content:
    """Return what the model knows before any search, and the facts behind it."""
    client = view.client
    first, would, less = first_call(view)
    lines = [
        Content.styled(knows(client), "bold"),
        Content.assemble(first, (would, MUTED), (f"   {less}" if less else "", "$text-success")),
        Content.assemble(declares(client), (f"   {_sure(client, Topic.PROTOCOL)}", MUTED)),
        *(plain(f"⚠ {problem}", newlines=False).stylize(_LOST) for problem in view.problems),
    ]
    if view.prompt:
        lines += [Content(""), Content.styled(IN_THE_PROMPT, MUTED)]
    for paragraph in view.paragraphs:
        lines.append(plain(paragraph.text, limit=_LIMIT))
        if paragraph.cut is not None and paragraph.cut.lost:
            lines.append(_lost(f"instructions from {paragraph.of}", paragraph.cut, client))
    return Content("\n").join([*lines, Content(""), *_known(client, today)])


def tool_detail(client: Client, one: Delivery) -> Content:
    """Return one tool as the client's model gets it, with every cut at its place."""
    seen = one.seen
    name = plain(seen.name if seen else one.tool, newlines=False).stylize("bold")
    lines = [
        Content.assemble(name, (f"   {_sure(client, Topic.NAMES)}", MUTED)),
        Content.styled(f"{count(one.tokens, 'token')} in {client.title}", MUTED),
    ]
    mark, color = ("⚠", _LOST) if one.reaches else (f"✕ {one.fate}:", "$text-error")
    lines += [plain(f"{mark} {reason.says}").stylize(color) for reason in one.reasons]
    if seen is None:
        return Content("\n").join(lines)
    lines += [Content(""), Content.styled("description", MUTED), plain(seen.description.shown, limit=_LIMIT)]
    if seen.description.lost:
        lines.append(_lost("description", seen.description, client))
    lines += [Content(""), Content.styled(f"parameters   {_sure(client, Topic.SCHEMAS)}", MUTED)]
    return Content("\n").join([*lines, plain(json.dumps(parameters(seen), indent=2), limit=_LIMIT)])


def _sure(client: Client, topic: Topic) -> str:
    """How sure the rules of a topic are."""
    confidence = client.confidence(topic)
    return f"{_MARKS[confidence]} {confidence.told}"


def _lost(what: str, text: Cut, client: Client) -> Content:
    """Return the line where a text is cut, and what the model does not read of it."""
    return Content.assemble(
        plain(cut_at(what, text), newlines=False).stylize(f"bold {_LOST}"),
        (f"   {_sure(client, Topic.CUTS)}\n", MUTED),
        plain(text.lost.strip("\n"), limit=_LIMIT).stylize("strike " + MUTED),
    )


def _known(client: Client, today: date) -> Iterator[Content]:
    """What is known of the client, topic by topic, with the source of each fact."""
    yield Content.styled(f"What is known about {client.title}", "bold")
    if client.fidelity is not None:
        yield Content(client.fidelity.told)
    for fact in client.facts:
        yield Content.assemble(
            (f"{_MARKS[fact.confidence]} {fact.topic}  ", MUTED),
            fact.says,
            (f"\n   {fact.evidence(today)}", MUTED),
            (f"\n   {fact.source}" if fact.source else "", MUTED),
        )


class ClientsScreen(ReadingPage, ToolKeys):
    """Every known client; the numbers come in one after another, counted in a thread."""

    page = "clients"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#clients RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "request", id="page.view"),
        Binding("a", "declare", "declare same", id="clients.declare"),
    ]
    titles: ClassVar[Mapping[str, str]] = {"clients": "Clients"}
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

    _tools = query_one("#tools", RecordList)

    def __init__(self) -> None:
        super().__init__()
        self._clients = all_clients()
        self._views: dict[str, ClientView] = {}
        self._shown: ClientView | None = None
        self._about_tool = False

    def lists(self) -> ComposeResult:
        yield RecordList(CLIENTS, header=True, empty=WORKING, id="clients")
        yield RecordList(TOOLS, header=True, empty=WORKING, id="tools")

    def drawn_from(self, view: View) -> object:
        return self.session.catalog.seen, {name: one.info for name, one in view.state.servers.items()}

    def draw(self) -> None:
        """Look at the tools as each client does, in a thread; the numbers come in one after another."""
        session, tools = self.session, self.session.catalog.seen
        listed, measure = listed_in(session), session.accounting.meter.text
        self._views, self._shown = {}, None
        self.write(facts(len(tools), session.settings.client))
        self._tools.empty = WORKING if tools else NO_TOOLS
        self._draw_clients()

        def look(job: Job) -> None:
            for client in self._clients:
                if job.stopped():
                    return
                found = view_as(client, listed, measure)
                job.tell(partial(show, found))

        def show(view: ClientView) -> None:
            self._views[view.client.name] = view
            self._draw_clients()

        self.run_job("clients", look, lambda _: None)

    def _draw_clients(self) -> None:
        self.list.records = tuple(_client_row(one, self._views.get(one.name)) for one in self._clients)
        self.moved()

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

    def moved(self) -> None:
        view = self._views.get(self._client.name)
        if view is not self._shown:
            self._shown = view
            self._tools.border_title = f"Tools in {self._client.title}"
            self._tools.records = tuple(map(_tool_row, view.tools)) if view else ()
        self.draw_detail()

    @on(RecordList.Highlighted, "#tools")
    def draw_detail(self) -> None:
        view = self._shown
        one = view.tool(self.tool_id) if view is not None and self.tool_id else None
        self.query_one("#reading").border_title = (
            visible(one.id, newlines=False) if one else self._client.title
        )
        if view is None:
            shown = Content(WORKING)
        else:
            today = datetime.fromtimestamp(self.session.retrieval.clock.now(), UTC).date()
            shown = tool_detail(view.client, one) if one is not None else client_detail(view, today)
        self.write(shown, "#detail")

    def on_descendant_focus(self) -> None:
        """Show the client or the tool, whichever list is the one in use."""
        if self.query_one("#lists").has_focus_within:
            self._about_tool = self._tools.has_focus_within
            self.draw_detail()

    @on(RecordList.Selected)
    def _read(self) -> None:
        self.action_read()

    @property
    def tool_id(self) -> str:
        return self.key_in(self._tools) if self._about_tool else ""

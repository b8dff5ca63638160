"""The budget now: a headline, the window, the what-if, and the table of what servers and tools cost."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from inspector.app.base_screen import VerdictLine
from inspector.app.draw import budget as present
from inspector.app.draw.definition import DefinitionCard
from inspector.app.draw.header import Canvas
from inspector.app.draw.line import MUTED
from inspector.app.draw.table import ICONS
from inspector.core.budget import Prices, ToolCost
from inspector.core.number import bar, count, percent, saving, tokens
from inspector.core.session import Binding, SessionState, ToolState
from inspector.tokens.accounting import spent
from widgets import Column, Meter, Record, RecordList, legend

_WIDE = 112
COLUMNS = (
    Column("icon", width=1),
    Column("name", "server and tool", weight=4, shorten="name", min_width=16),
    Column("tokens", "tokens", align="right", weight=9),
    Column("share", "share", align="right", weight=5),
    Column("state", "state", width=11, hide_below=60),
    Column("bar", "of all", width=10, hide_below=72),
    Column("name_tokens", "name", align="right", hide_below=_WIDE),
    Column("description", "descr.", align="right", hide_below=_WIDE),
    Column("schema", "schema", align="right", hide_below=_WIDE),
)
_BAR = 10
_SERVER = "server "


class Shown(Struct, frozen=True):
    """What the table shows besides the session: expanded servers, costs by part, and the what-if.

    `then` maps each tool id to its binding after the change (None if hidden); it is None without a change.
    """

    opened: frozenset[str] = frozenset()
    costs: Mapping[str, ToolCost] = field(default_factory=dict)
    then: Mapping[str, Binding | None] | None = None


def budget_rows(session: SessionState, shown: Shown) -> tuple[Record, ...]:
    """Return servers by cost, each expanded one followed by its tools by cost."""
    total = sum(tool.tokens for tool in session.tools.values())
    rows: list[Record] = []
    for server, tools in _by_server(session):
        rows.append(_server_row(server, tools, total, shown))
        if server in shown.opened:
            ordered = sorted(tools, key=lambda tool: -tool.tokens)
            rows += [_tool_row(tool, total, shown) for tool in ordered]
    return tuple(rows)


def opened_at_first(session: SessionState, rows: int) -> frozenset[str]:
    """Return as many of the most expensive servers as fit expanded into that many rows."""
    opened: set[str] = set()
    by_server = _by_server(session)
    room = rows - len(by_server)
    for server, tools in by_server:
        room -= len(tools)
        if room < 0:
            break
        opened.add(server)
    return frozenset(opened)


def _by_server(session: SessionState) -> list[tuple[str, list[ToolState]]]:
    """Return the tools of each server, the most expensive server first."""
    by_server: dict[str, list[ToolState]] = {}
    for tool in session.tools.values():
        by_server.setdefault(tool.server, []).append(tool)
    return sorted(by_server.items(), key=lambda pair: -sum(tool.tokens for tool in pair[1]))


def servers_of(tools: Collection[ToolState]) -> frozenset[str]:
    """Return the servers of these tools."""
    return frozenset(tool.server for tool in tools)


def is_server(key: str) -> bool:
    """Whether a row's key is that of a server; a tool's key has no space before its colon."""
    return key.startswith(_SERVER)


def server_of(key: str) -> str:
    """Return the server of a row, be it the server's own or one of its tools'."""
    return key.removeprefix(_SERVER) if is_server(key) else key.partition(":")[0]


def server_key(name: str) -> str:
    """Return the key of a server's row."""
    return f"{_SERVER}{name}"


def _server_row(server: str, tools: Sequence[ToolState], total: int, shown: Shown) -> Record:
    cost = sum(tool.tokens for tool in tools)
    cells = (
        "▾" if server in shown.opened else "▸",
        f"{server} ({count(len(tools), 'tool')})",
        tokens(cost),
        _share(cost, total),
        _server_state(tools, shown),
        Content.styled(bar(cost / max(total, 1), _BAR), "$primary"),
        *_parts(tools, shown),
    )
    return Record(server_key(server), cells, "accent", copy=server)


def _tool_row(tool: ToolState, total: int, shown: Shown) -> Record:
    icon, color = ICONS[tool.binding]
    cells = (
        Content.styled(icon, color),
        f"  {tool.id}",
        tokens(tool.tokens),
        _share(tool.tokens, total),
        _state(tool, shown),
        Content.styled(bar(tool.tokens / max(total, 1), _BAR), MUTED),
        *_parts([tool], shown),
    )
    return Record(tool.id, cells, copy=tool.id)


def _server_state(tools: Sequence[ToolState], shown: Shown) -> Content | str:
    now = _together([_start(tool.binding) for tool in tools])
    if shown.then is None:
        return now
    then = _together([shown.then.get(tool.id) for tool in tools])
    return now if then == now else _arrow(then)


def _state(tool: ToolState, shown: Shown) -> Content | str:
    now = tool.binding.value
    if shown.then is None:
        return now
    then = shown.then.get(tool.id)
    if then is _start(tool.binding):
        return now
    return _arrow("hidden" if then is None else then.value)


def _start(binding: Binding) -> Binding:
    """Return how a tool started out, before searches and guards changed its binding."""
    return Binding.PINNED if binding is Binding.PINNED else Binding.DEFERRED


def _together(bindings: Sequence[Binding | None]) -> str:
    words = {None: "hidden", Binding.PINNED: "bound", Binding.DEFERRED: "deferred"}
    kinds = set(bindings)
    if len(kinds) == 1:
        return words[kinds.pop()]
    return f"{sum(binding is Binding.PINNED for binding in bindings)} pinned"


def _arrow(text: str) -> Content:
    return Content.styled(f"→ {text}", "bold $text-accent")


def _parts(tools: Sequence[ToolState], shown: Shown) -> tuple[str, ...]:
    """Return tokens by part, once all are counted.

    A tool that is not connected now, as in a replay, has no definition to count.
    """
    costs = [shown.costs[tool.id] for tool in tools if tool.id in shown.costs]
    if len(costs) < len(tools):
        return ("–" if shown.costs else "…",) * 3
    parts = zip(*((cost.name, cost.description, cost.schema) for cost in costs), strict=True)
    return tuple(tokens(sum(part)) for part in parts)


def _share(cost: int, total: int) -> str:
    return percent(cost / total) if total else ""


_HINT = "What if?  d defers or binds a server   P pins a tool"


def headline(session: SessionState, width: int) -> Content:
    """Return what binding every tool costs, and what this session sends instead."""
    budget, owned = session.budget, len(session.tools)
    if budget is None or not owned:
        none = "No tools yet: no server is ready (see Tools)."
        return present.no_budget(session, none).stylize("$text-warning")
    servers = len({tool.server for tool in session.tools.values()})
    all_bound = Content.assemble(
        f"{count(servers, 'server')}, {count(owned, 'tool')}: binding them all costs ",
        (tokens(budget.static_tools), "bold $text-warning"),
        " tokens per call",
    )
    if not session.has_search and not session.pool:
        none = "all bound; press d on a server to see what discovery would save"
        return present.flow([all_bound, Content.styled(none, MUTED)], width)
    color = f"bold {'$text-success' if budget.saved >= 0 else '$text-warning'}"
    next_call = Content.assemble(
        "the next call ",
        (tokens(budget.parts.discovery_tokens), color),
        " with searches: ",
        (f"{'' if budget.saved >= 0 else '⚠ '}{saving(budget.saved_fraction)}", color),
    )
    return present.flow([all_bound, next_call], width)


def hint(width: int) -> Content:
    """Return what can be tried, while nothing is."""
    return Content.styled(_HINT, MUTED).truncate(width, ellipsis=True)


# Lines of the page in a small terminal that are not table rows.
_ABOVE = 18
_NO_TOOLS = "No tools yet: no server is ready (see Tools)."


class NowView(Vertical):
    """Draws a session's budget and the costs of its tools, as far as they are counted."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._session = SessionState()
        self._prices: Prices | None = None
        self._opened: frozenset[str] | None = None
        self._costs: Mapping[str, ToolCost] = {}
        self._then: Mapping[str, Binding | None] | None = None
        self._effect: Callable[[int], Content] = hint

    def compose(self) -> ComposeResult:
        yield Canvas(lambda width, _: headline(self._session, width), id="budget-headline")
        yield VerdictLine(id="budget-verdict")
        yield Meter(tick=0.7, id="budget-meter")
        yield Canvas(self._legend, id="budget-legend")
        yield Canvas(self._facts, id="budget-facts")
        yield Canvas(lambda width, _: self._effect(width), id="budget-effect")
        with Horizontal(id="budget-both"):
            yield RecordList(COLUMNS, header=True, empty=_NO_TOOLS, id="budget-table")
            yield DefinitionCard(id="budget-tool")

    def on_mount(self) -> None:
        self.query_one("#budget-table").border_title = "If every tool were bound"
        self.watch(self.query_one("#budget-table"), "filter_text", self._show_rows, init=False)

    def show(self, session: SessionState, prices: Prices | None) -> None:
        """Draw the session at this moment."""
        self._session, self._prices = session, prices
        if self._opened is None and session.tools:
            self._opened = opened_at_first(session, self.app.size.height - _ABOVE)
        self.query_one(VerdictLine).look()
        self._show()
        self._show_rows()

    def show_costs(self, costs: Mapping[str, ToolCost]) -> None:
        """Fill in the costs by part."""
        self._costs = costs
        self._show_rows()

    def show_effect(
        self, effect: Callable[[int], Content], then: Mapping[str, Binding | None] | None
    ) -> None:
        """Show the what-if, in words (for a given width) and in the rows."""
        self._effect = effect
        self.query_one("#budget-effect", Canvas).redraw()
        self.set_class(then is not None, "-trying")
        if then != self._then:
            self._then = then
            self._show_rows()

    @property
    def current(self) -> Record | None:
        """The row under the cursor."""
        return self.query_one("#budget-table", RecordList).current

    def toggle(self, server: str) -> None:
        """Expand or collapse a server; the cursor goes to its row."""
        self._opened = (self._opened or frozenset()) ^ {server}
        self._show_rows()
        self.query_one("#budget-table", RecordList).move_to(server_key(server))

    def toggle_all(self) -> None:
        """Expand every server, or collapse all if all are expanded."""
        every = servers_of(self._session.tools.values())
        self._opened = frozenset() if self._opened == every else every
        self._show_rows()

    def _show(self) -> None:
        budget = self._session.budget
        if budget is not None:
            meter = self.query_one(Meter)
            meter.segments, meter.total = present.segments(budget.parts), float(budget.window)
            meter.tick, meter.label = budget.warn_at, present.window_label(budget)
        for canvas in self.query(Canvas):
            canvas.redraw()

    def _legend(self, width: int, _height: int) -> Content:
        budget = self._session.budget
        parts = present.segments(budget.parts) if budget else ()
        return present.flow(
            (legend([one], number=lambda value: tokens(round(value))) for one in parts), width
        )

    def _facts(self, width: int, _height: int) -> Content:
        session, budget = self._session, self._session.budget
        facts = [*present.facts(session), *self._spent()]
        if budget is not None:
            exact = "exact" if budget.tokenizer.exact else "estimate"
            facts.insert(0, present.fact("tokenizer", budget.tokenizer.name, exact))
        return present.flow(facts, width)

    def _spent(self) -> Iterator[Content]:
        """What the session has cost so far, if there are calls and prices."""
        if self._session.costs and self._prices is not None:
            yield present.fact("session", *spent(self._session.costs, self._prices))

    def _show_rows(self) -> None:
        records = self.query_one("#budget-table", RecordList)
        opened = self._opened or frozenset()
        if records.filter_text:
            opened = servers_of(self._session.tools.values())
        shown = Shown(opened, self._costs, self._then)
        records.records = budget_rows(self._session, shown)

    @on(RecordList.Highlighted, "#budget-table")
    def _show_tool(self) -> None:
        """Show the definition of the tool under the cursor, where there is room."""
        card, key = self.query_one(DefinitionCard), self.current.key if self.current is not None else ""
        if card.size.width:
            card.show_tool("" if is_server(key) else key)

    def on_resize(self) -> None:
        """Draw what depends on the width."""
        self.call_after_refresh(self._show_tool)

    @on(RecordList.Selected, "#budget-table")
    def _open_server(self, event: RecordList.Selected) -> None:
        if is_server(event.key):
            event.stop()
            self.toggle(server_of(event.key))

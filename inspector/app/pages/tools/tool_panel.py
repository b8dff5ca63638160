"""Everything about one tool, one view at a time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.app.draw.line import MUTED
from inspector.app.draw.table import fact
from inspector.app.pages.tools import tool_text
from inspector.app.pages.tools.call_panel import CallPanel
from inspector.app.place import WhyNotPage
from inspector.core.budget import Prices, Tokenizer, ToolCost
from inspector.core.events import SearchPerformed
from inspector.core.number import bar, count, money, percent
from inspector.core.session import ToolState
from inspector.core.tool import Tool
from inspector.reliability.approval import why_ask
from widgets import Column, Record, RecordList, SchemaTree, TextView, ViewStrip, plain, visible

# What a tool costs: its tokens by part, bound in every call, and deferred.

_BAR, _LABELS = 20, 18


@dataclass(frozen=True, slots=True)
class ToolBill:
    """A tool's cost, and what to compare it with.

    `all_tools` are the tokens of every permitted tool, `tools` is their number; `mention` are the tokens of
    the tool's name in the manifest, 0 if the manifest does not name it.
    """

    cost: ToolCost
    all_tools: int
    tools: int
    mention: int
    tokenizer: Tokenizer
    prices: Prices | None = None


def bill_lines(bill: ToolBill, width: int = 0) -> Content:
    """Return the bill in lines of `width`: parts first, then what the tool costs bound and deferred."""
    cost, total = bill.cost, bill.cost.tokens
    share = percent(total / bill.all_tools, 1) if bill.all_tools else ""
    of_all = f"   {share} of the {bill.all_tools:,} tokens for all {count(bill.tools, 'tool')}"
    bound = f"{total:,} tokens in every model call"
    if bill.prices is not None:
        price = money(total * bill.prices.input)
        bound += f": {price} per call at {bill.prices.model} prices, without a prompt cache"
    named = f"{count(bill.mention, 'token')} for its name in the manifest" if bill.mention else "nothing"
    deferred = f"{named} until a search finds it, then {total:,} in every call"
    counted = f"tokens counted by {bill.tokenizer.label} in the compact JSON that is sent"
    return Content("\n").join(
        [
            Content.assemble((f"{total:,} tokens", "bold"), of_all if share else ""),
            Content(""),
            _part("name", cost.name, total),
            _part("description", cost.description, total),
            _part("parameters", cost.schema, total),
            _part("JSON around them", cost.framing, total),
            Content(""),
            fact("bound", plain(bound), _LABELS, width),
            fact("deferred", plain(deferred), _LABELS, width),
            Content(""),
            Content.styled(counted, MUTED),
        ]
    )


def _part(label: str, tokens: int, total: int) -> Content:
    share = tokens / total if total else 0.0
    numbers = f"{tokens:>7,}  {percent(share):>5}  "
    return Content.assemble((f"{label:<{_LABELS}}", MUTED), numbers, bar(share, _BAR))


# Which searches of the session found a tool, and which did not.

COLUMNS = (
    Column("query", "searched for", weight=5, min_width=16),
    Column("rank", "rank", align="right", weight=4),
    Column("outcome", "outcome", weight=3, min_width=12),
    Column("by", "by", weight=1, min_width=4, hide_below=56),
)
EMPTY = "No searches in this session yet. Press w to see in Search what finds this tool."
MOST = 50


def _search_row(number: int, tool_id: str, event: SearchPerformed) -> Record:
    """Return how a tool stood in a search; the key is the search's place in the list."""
    report = event.report
    hit = next((hit for hit in report.hits if hit.tool_id == tool_id), None)
    if hit is None:
        rank, outcome = "", f"not in the top {len(report.hits)}" if report.hits else "nothing found"
    else:
        rank, outcome = str(hit.rank), hit.outcome.value
    cells = (report.request.label(), rank, outcome, event.by)
    return Record(str(number), cells, "" if hit is not None and hit.outcome.is_result else "muted")


OUTPUT = "output"
VIEWS = ("about", "parameters", "schema", "JSON", OUTPUT, "call", "cost", "why")
_GONE = "Its server may have stopped, or a toolset may hide it. It reappears once it is available."


class ToolPanel(InContext, Vertical):
    """The views of the tool that `show` names; only the one on screen is drawn."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._tool_id = ""
        self._drawn: dict[str, object] = {}
        self._searches: tuple[SearchPerformed, ...] = ()

    def compose(self) -> ComposeResult:
        yield ViewStrip(VIEWS, id="tool-views")
        yield Static(id="tool-title")
        yield Static(_GONE, id="tool-gone", markup=False)
        with Container(id="tool-parts", classes="parts"):
            with Vertical(classes="part about"):
                yield Static(id="tool-facts")
                with VerticalScroll(id="changed-parts"):
                    yield Static(id="changed")
                yield TextView(empty="The server gives no description.", id="description")
            yield SchemaTree(empty="No parameters.", id="parameters", classes="part parameters")
            yield TextView(id="schema", classes="part schema")
            yield TextView(id="definition", classes="part JSON")
            yield SchemaTree(empty="Nothing declared.", id="output", classes=f"part {OUTPUT}")
            with Container(classes="part call"):
                yield CallPanel(id="call")
            with VerticalScroll(classes="part cost", can_focus=True):
                yield Static(id="cost")
            yield RecordList(COLUMNS, header=True, empty=EMPTY, id="searches", classes="part why")

    def on_mount(self) -> None:
        self.query_one("#description").border_title = "Server's description"
        self._show_part()

    def on_resize(self) -> None:
        """Draw what depends on the width."""
        if self._tool_id:
            self.draw()

    @property
    def strip(self) -> ViewStrip:
        return self.query_one("#tool-views", ViewStrip)

    @property
    def call(self) -> CallPanel:
        return self.query_one(CallPanel)

    @property
    def tool(self) -> Tool | None:
        """The tool, as it was listed last while its server is away; None if it is gone."""
        return self.session.catalog.get(self._tool_id) or self.session.state.recorded(self._tool_id)

    @property
    def _width(self) -> int:
        """The cells that a line of text has."""
        return max(self.size.width - 3, 20)

    @property
    def _state(self) -> ToolState | None:
        return self.session.state.known(self._tool_id)

    def show(self, tool_id: str) -> None:
        """Show a tool, in the view that was chosen last."""
        self._tool_id = tool_id
        self.draw()

    def draw(self) -> None:
        """Draw what changed of the chosen view."""
        tool, title = self.tool, self.query_one("#tool-title", Static)
        self.set_class(tool is None, "-gone")
        if tool is None:
            name = visible(self._tool_id, limit=200, newlines=False)
            title.update(Content.styled(f"{name} is no longer in the catalog.", "$text-warning"))
            return
        views = VIEWS if tool.output_schema is not None else tuple(v for v in VIEWS if v != OUTPUT)
        self.strip.views = views
        if self.strip.current not in views:
            self.strip.current = views[0]
            self._show_part()
        title.update(tool_text.title(tool, self._state, self._width))
        _DRAW[self.strip.current](self, tool)

    @on(ViewStrip.Chosen, "#tool-views")
    def _chosen(self) -> None:
        self._show_part()
        self.draw()

    def _show_part(self) -> None:
        for part in self.query(".part"):
            part.display = part.has_class(self.strip.current)

    def _is_new(self, view: str, *seen: object) -> bool:
        """Whether a view has to be drawn again: what it shows is not what it showed last."""
        if self._drawn.get(view) == seen:
            return False
        self._drawn[view] = seen
        return True

    def _draw_about(self, tool: Tool) -> None:
        why = why_ask(tool, self.session.state)
        state, tags = self.session.state, self.session.retrieval.rules.tags.of(tool)
        facts = tool_text.facts(tool, self._state, why, self._width, tags)
        versions, change = state.versions(self._tool_id), state.changes.get(self._tool_id)
        changed = tool_text.changed(self._state, versions, change)
        self.write(facts, "#tool-facts")
        self.write(changed, "#changed")
        self.query_one("#changed-parts").display = bool(changed.plain)
        if self._is_new("about", tool.description):
            self.query_one("#description", TextView).text = tool.description

    def _draw_parameters(self, tool: Tool) -> None:
        if self._is_new("parameters", tool.id, tool.input_schema):
            self.query_one("#parameters", SchemaTree).value = tool.input_schema

    def _draw_schema(self, tool: Tool) -> None:
        if self._is_new("schema", tool.input_schema):
            self.query_one("#schema", TextView).text = tool_text.schema_json(tool.input_schema)

    def _draw_definition(self, tool: Tool) -> None:
        if self._is_new("JSON", tool):
            self.query_one("#definition", TextView).text = tool_text.exact_json(tool)

    def _draw_output(self, tool: Tool) -> None:
        if self._is_new(OUTPUT, tool.id, tool.output_schema):
            self.query_one("#output", SchemaTree).value = tool.output_schema

    def _draw_call(self, tool: Tool) -> None:
        self.call.show(tool)

    def _draw_cost(self, tool: Tool) -> None:
        state, accounting = self.session.state, self.session.accounting
        if self._is_new("cost", tool, state.tools, state.manifest, accounting.meter, self._width):
            bill = ToolBill(
                accounting.cost(tool),
                sum(one.tokens for one in state.tools.values()),
                len(state.tools),
                accounting.meter.text(tool.name) if tool.name in state.manifest else 0,
                accounting.meter.tokenizer,
                accounting.prices(),
            )
            self.write(bill_lines(bill, self._width), "#cost")

    def _draw_searches(self, tool: Tool) -> None:
        feed = self.context.shown.feed
        newest = next((record.seq for record in reversed(feed) if record.kind == SearchPerformed.kind), 0)
        if not self._is_new("why", tool.id, newest, self.session.session_id):
            return
        records = reversed(self.session.records((SearchPerformed.kind,))[-MOST:])
        found = (record.event for record in records)
        self._searches = tuple(event for event in found if isinstance(event, SearchPerformed))
        rows = tuple(_search_row(number, tool.id, event) for number, event in enumerate(self._searches))
        self.query_one("#searches", RecordList).records = rows

    @on(RecordList.Selected, "#searches")
    def _explain(self, event: RecordList.Selected) -> None:
        event.stop()
        self.open(WhyNotPage(self._tool_id, self._searches[int(event.key)].report.request))


_DRAW: Mapping[str, Callable[[ToolPanel, Tool], None]] = {
    "about": ToolPanel._draw_about,
    "parameters": ToolPanel._draw_parameters,
    "schema": ToolPanel._draw_schema,
    "JSON": ToolPanel._draw_definition,
    OUTPUT: ToolPanel._draw_output,
    "call": ToolPanel._draw_call,
    "cost": ToolPanel._draw_cost,
    "why": ToolPanel._draw_searches,
}

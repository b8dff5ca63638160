"""Everything about one tool, one view at a time."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.app.draw.line import MUTED
from inspector.app.draw.table import fact
from inspector.app.pages.tools.catalog import tool_text
from inspector.app.pages.tools.catalog.call_panel import CallPanel
from inspector.app.place import WhyNotPage
from inspector.app.stream import View
from inspector.core.budget import Prices, Tokenizer, ToolCost
from inspector.core.events import SearchPerformed
from inspector.core.number import bar, count, money, percent
from inspector.core.ranking import SearchReport
from inspector.core.session import ToolState
from inspector.core.tool import Tool
from inspector.reliability.approval import why_ask
from widgets import Column, Record, RecordList, SchemaTree, TextView, ViewStrip, plain, visible

# What a tool costs: its tokens by part, bound in every call, and deferred.

_BAR = 20
_LABELS = 18


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
    total = bill.cost.tokens
    head = Content.assemble((f"{total:,} tokens", "bold"), _share(bill))
    parts = (
        ("name", bill.cost.name),
        ("description", bill.cost.description),
        ("parameters", bill.cost.schema),
        ("JSON around them", bill.cost.framing),
    )
    return Content("\n").join(
        [
            head,
            Content(""),
            *(_part(label, tokens, total) for label, tokens in parts),
            Content(""),
            fact("bound", plain(_bound(bill)), _LABELS, width),
            fact("deferred", plain(_deferred(bill)), _LABELS, width),
            Content(""),
            Content.styled(
                f"tokens counted by {bill.tokenizer.label} in the compact JSON that is sent", MUTED
            ),
        ]
    )


def _part(label: str, tokens: int, total: int) -> Content:
    share = tokens / total if total else 0.0
    return Content.assemble(
        (f"{label:<{_LABELS}}", MUTED), f"{tokens:>7,}  {percent(share):>5}  ", bar(share, _BAR)
    )


def _share(bill: ToolBill) -> str:
    if not bill.all_tools:
        return ""
    share = percent(bill.cost.tokens / bill.all_tools, 1)
    return f"   {share} of the {bill.all_tools:,} tokens for all {count(bill.tools, 'tool')}"


def _bound(bill: ToolBill) -> str:
    text = f"{bill.cost.tokens:,} tokens in every model call"
    if bill.prices is None:
        return text
    price = money(bill.cost.tokens * bill.prices.input)
    return f"{text}: {price} per call at {bill.prices.model} prices, without a prompt cache"


def _deferred(bill: ToolBill) -> str:
    named = f"{count(bill.mention, 'token')} for its name in the manifest" if bill.mention else "nothing"
    return f"{named} until a search finds it, then {bill.cost.tokens:,} in every call"


# Which searches of the session found a tool, and which did not.

COLUMNS = (
    Column("query", "searched for", weight=5, min_width=16),
    Column("rank", "rank", align="right", weight=4),
    Column("outcome", "outcome", weight=3, min_width=12),
    Column("by", "by", weight=1, min_width=4, hide_below=56),
)
EMPTY = "No searches in this session yet. Press w to see in Search what finds this tool."
MOST = 50


def search_rows(tool_id: str, searches: Iterable[SearchPerformed]) -> tuple[Record, ...]:
    """Return one row per search, in the order given; the key is its position."""
    return tuple(_row(number, tool_id, event) for number, event in enumerate(searches))


def _row(number: int, tool_id: str, event: SearchPerformed) -> Record:
    rank, outcome, found = _standing(tool_id, event.report)
    cells = (event.report.request.label(), rank, outcome, event.by)
    return Record(str(number), cells, "" if found else "muted")


def _standing(tool_id: str, report: SearchReport) -> tuple[str, str, bool]:
    hit = next((hit for hit in report.hits if hit.tool_id == tool_id), None)
    if hit is None:
        return "", f"not in the top {len(report.hits)}" if report.hits else "nothing found", False
    return str(hit.rank), hit.outcome.value, hit.outcome.is_result


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
                yield Static(id="facts")
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
        self._draw_view(tool)

    @on(ViewStrip.Chosen, "#tool-views")
    def _chosen(self) -> None:
        self._show_part()
        self.draw()

    def _show_part(self) -> None:
        for part in self.query(".part"):
            part.display = part.has_class(self.strip.current)

    def _draw_view(self, tool: Tool) -> None:
        draw = _DRAWN[self.strip.current]
        draw(self, tool)

    def _is_new(self, view: str, *seen: object) -> bool:
        """Whether a view has to be drawn again: what it shows is not what it showed last."""
        if self._drawn.get(view) == seen:
            return False
        self._drawn[view] = seen
        return True

    def draw_about(self, tool: Tool) -> None:
        """Draw the facts and what changed."""
        why = why_ask(tool, self.session.state)
        state, tags = self.session.state, self.session.retrieval.rules.tags.of(tool)
        self.query_one("#facts", Static).update(tool_text.facts(tool, self._state, why, self._width, tags))
        changed = tool_text.changed(
            self._state, state.versions(self._tool_id), state.changes.get(self._tool_id)
        )
        self.query_one("#changed", Static).update(changed)
        self.query_one("#changed-parts").display = bool(changed.plain)
        if self._is_new("about", tool.description):
            self.query_one("#description", TextView).text = tool.description

    def draw_parameters(self, tool: Tool) -> None:
        """Draw the parameters as a tree."""
        if self._is_new("parameters", tool.id, tool.input_schema):
            self.query_one("#parameters", SchemaTree).value = tool.input_schema

    def draw_schema(self, tool: Tool) -> None:
        """Draw the schema of the parameters as its server declares it."""
        if self._is_new("schema", tool.input_schema):
            self.query_one("#schema", TextView).text = tool_text.schema_json(tool.input_schema)

    def draw_definition(self, tool: Tool) -> None:
        """Draw the definition as it is sent to the model."""
        if self._is_new("JSON", tool):
            self.query_one("#definition", TextView).text = tool_text.exact_json(tool)

    def draw_output(self, tool: Tool) -> None:
        """Draw the schema of the structured result."""
        if self._is_new(OUTPUT, tool.id, tool.output_schema):
            self.query_one("#output", SchemaTree).value = tool.output_schema

    def draw_call(self, tool: Tool) -> None:
        """Draw the form."""
        self.call.show(tool)

    def draw_cost(self, tool: Tool) -> None:
        """Draw the tokens by part, and what they cost."""
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
            self.query_one("#cost", Static).update(bill_lines(bill, self._width))

    def draw_searches(self, tool: Tool) -> None:
        """Draw how the tool stood in the searches of the session, the newest first."""
        newest = next((r.seq for r in reversed(self._view.feed) if r.kind == SearchPerformed.kind), 0)
        if not self._is_new("why", tool.id, newest, self.session.session_id):
            return
        records = reversed(self.session.records((SearchPerformed.kind,))[-MOST:])
        found = (record.event for record in records)
        self._searches = tuple(event for event in found if isinstance(event, SearchPerformed))
        self.query_one("#searches", RecordList).records = search_rows(tool.id, self._searches)

    @property
    def _view(self) -> View:
        return self.context.shown

    @on(RecordList.Selected, "#searches")
    def _explain(self, event: RecordList.Selected) -> None:
        event.stop()
        self.open(WhyNotPage(self._tool_id, self._searches[int(event.key)].report.request))


_DRAWN: Mapping[str, Callable[[ToolPanel, Tool], None]] = {
    "about": ToolPanel.draw_about,
    "parameters": ToolPanel.draw_parameters,
    "schema": ToolPanel.draw_schema,
    "JSON": ToolPanel.draw_definition,
    OUTPUT: ToolPanel.draw_output,
    "call": ToolPanel.draw_call,
    "cost": ToolPanel.draw_cost,
    "why": ToolPanel.draw_searches,
}

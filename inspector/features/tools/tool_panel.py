"""Everything about one tool, one view at a time; what is known about it in words."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.app.draw.line import MUTED, change_lines
from inspector.app.draw.table import ICONS, fact, fact_lines
from inspector.app.place import WhyNotPage
from inspector.core.budget import Prices, Tokenizer, ToolCost
from inspector.core.definition import definition_changes
from inspector.core.events import DefinitionChanged, SearchPerformed
from inspector.core.number import bar, count, money, percent, shown_moment, tokens
from inspector.core.session import ToolState
from inspector.core.tool import Tool, definition
from inspector.features.tools.call_panel import CallPanel
from inspector.features.tools.facts import tool_facts
from inspector.loop.approval import why_ask
from inspector.session.setup import exemptions
from widgets import (
    Column,
    Record,
    RecordList,
    SchemaTree,
    TextView,
    ViewPanel,
    ViewStrip,
    middle,
    plain,
    visible,
)

# Enough of a hash to tell definitions apart by eye.
_DIGITS = 12
_LABELS = 21


def title_line(tool: Tool, state: ToolState | None, width: int) -> Content:
    """Return id and binding in one line, and below its tokens and uses."""
    if state is None:
        binding, counts = Content("not in this session"), ""
    else:
        icon, color = ICONS[state.binding]
        binding = Content.styled(f"{icon} {state.binding.value}", color)
        uses = f"used {state.uses}x" if state.uses else "not used yet"
        counts = f"\n{tokens(state.tokens)} tokens   {uses}"
    room = max(width - binding.cell_length - 3, 12)
    name = plain(middle(visible(tool.id, newlines=False), room)).stylize("bold")
    return Content.assemble(name, "   ", binding, (counts, MUTED))


def changed_text(
    state: ToolState | None, versions: Sequence[Tool], change: DefinitionChanged | None = None
) -> Content:
    """Return how a tool's definition differs from the one before; empty if it never changed.

    `versions` are its definitions in the session, the current one last, and `change` is what the last change
    means for a caller.
    """
    if state is None or len(versions) < 2:
        return Content("")
    changes = definition_changes(*versions[-2:])
    parts = ", ".join(change.part for change in changes) or "only parts that are not recorded"
    known = f"now {state.definition[:_DIGITS]}, {count(len(versions), 'definition')}"
    since = f"since {shown_moment(change.since)} UTC" if change and change.since else ""
    text = f"{parts}; {known} {since or 'in this session'}"
    changed = fact("changed", plain(text, limit=300, newlines=False), _LABELS, 0)
    return Content("\n").join([changed, *_verdict(change), *change_lines(changes)])


def _verdict(change: DefinitionChanged | None) -> Iterator[Content]:
    """What a change means for a caller: the verdict, and what speaks for it, the worst first."""
    if change is None or change.verdict == "same":
        return
    label = "wording only" if change.verdict == "words" else change.verdict
    color = "$text-error" if change.verdict == "breaking" else ""
    yield fact("for a caller", Content.styled(label, color), _LABELS, 0)
    for number, reason in enumerate(change.reasons):
        color = "$text-error" if number < change.breaking else MUTED
        yield plain(f"  {reason}", limit=300, newlines=False).stylize(color)


def exact_json(tool: Tool) -> str:
    """Return the definition as sent to the model, indented."""
    return json.dumps(definition(tool), ensure_ascii=False, indent=2, default=str)


_BAR, _BILL_LABELS = 20, 18


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
            fact("bound", plain(bound), _BILL_LABELS, width),
            fact("deferred", plain(deferred), _BILL_LABELS, width),
            Content(""),
            Content.styled(counted, MUTED),
        ]
    )


def _part(label: str, tokens: int, total: int) -> Content:
    share = tokens / total if total else 0.0
    numbers = f"{tokens:>7,}  {percent(share):>5}  "
    return Content.assemble((f"{label:<{_BILL_LABELS}}", MUTED), numbers, bar(share, _BAR))


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


class ToolPanel(InContext, ViewPanel):
    """The views of the tool that `show` names; only the one on screen is drawn."""

    call = query_one(CallPanel)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
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
        self.show_part()

    @property
    def tool(self) -> Tool | None:
        """The tool, as it was listed last while its server is away; None if it is gone."""
        return self.session.catalog.get(self._tool_id) or self.session.state.recorded(self._tool_id)

    @property
    def _state(self) -> ToolState | None:
        return self.session.state.known(self._tool_id)

    def show(self, tool_id: str) -> None:
        """Show a tool, in the view that was chosen last."""
        self._tool_id = tool_id
        self.draw()

    def open_call(self) -> None:
        """Choose the view with the form."""
        self.strip.current = "call"
        self.show_part()

    def draw(self) -> None:
        """Draw what changed of the chosen view."""
        if not self._tool_id:
            return
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
            self.show_part()
        title.update(title_line(tool, self._state, self.text_width))
        _DRAW[self.strip.current](self, tool)

    def _is_new(self, view: str, *seen: object) -> bool:
        """Whether a view has to be drawn again: what it shows is not what it showed last."""
        if self._drawn.get(view) == seen:
            return False
        self._drawn[view] = seen
        return True

    def _draw_about(self, tool: Tool) -> None:
        why = why_ask(tool, self.session.state)
        state, tags = self.session.state, self.session.retrieval.tags.of(tool)
        exempt = exemptions(self.session.setup, tool.id)
        facts = fact_lines(tool_facts(tool, self._state, why, tags, exempt), _LABELS, self.text_width)
        versions, change = state.versions(self._tool_id), state.changes.get(self._tool_id)
        changed = changed_text(self._state, versions, change)
        self.write(facts, "#tool-facts")
        self.write(changed, "#changed")
        self.query_one("#changed-parts").display = bool(changed.plain)
        if self._is_new("about", tool.description):
            self.query_one("#description", TextView).text = tool.description

    def _draw_tree(self, tool: Tool) -> None:
        view = self.strip.current
        value = tool.output_schema if view == OUTPUT else tool.input_schema
        if self._is_new(view, tool.id, value):
            self.query_one(f"#{view}", SchemaTree).value = value

    def _draw_text(self, tool: Tool) -> None:
        view = self.strip.current
        schema = json.dumps(tool.input_schema, ensure_ascii=False, indent=2, default=str)
        id_, text = ("schema", schema) if view == "schema" else ("definition", exact_json(tool))
        if self._is_new(view, text):
            self.query_one(f"#{id_}", TextView).text = text

    def _draw_cost(self, tool: Tool) -> None:
        state, accounting = self.session.state, self.session.accounting
        if self._is_new("cost", tool, state.tools, state.manifest, accounting.meter, self.text_width):
            bill = ToolBill(
                accounting.cost(tool),
                sum(one.tokens for one in state.tools.values()),
                len(state.tools),
                accounting.meter.text(tool.name) if tool.name in state.manifest else 0,
                accounting.meter.tokenizer,
                accounting.prices(),
            )
            self.write(bill_lines(bill, self.text_width), "#cost")

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
    "parameters": ToolPanel._draw_tree,
    "schema": ToolPanel._draw_text,
    "JSON": ToolPanel._draw_text,
    OUTPUT: ToolPanel._draw_tree,
    "call": lambda panel, tool: panel.call.show(tool),
    "cost": ToolPanel._draw_cost,
    "why": ToolPanel._draw_searches,
}

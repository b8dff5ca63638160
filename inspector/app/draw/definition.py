"""A tool's definition to read: what it is called and costs, its description, its parameters."""

from collections.abc import Iterable, Iterator

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.app.draw.line import MUTED
from inspector.app.draw.table import ICONS
from inspector.core.budget import ToolCost
from inspector.core.number import tokens
from inspector.core.session import ToolState
from inspector.core.text import shortened
from inspector.core.tool import Tool
from inspector.session.view import SessionView
from widgets import Hanging, middle, outline, plain, visible

_BRIEF, _LONGEST = 600, 8_000
# From so many cells on, the tokens of the parts have room.
_SPLIT = 50


def title_line(tool: Tool, state: ToolState | None, width: int, cost: ToolCost | None = None) -> Content:
    """Return id and binding in one line, and below its tokens, with `cost` those of its parts, and uses."""
    if state is None:
        binding, counts = Content("not in this session"), ""
    else:
        icon, color = ICONS[state.binding]
        binding = Content.styled(f"{icon} {state.binding.value}", color)
        uses = f"used {state.uses}x" if state.uses else "not used yet"
        parts = (
            {}
            if cost is None or width < _SPLIT
            else {"name": cost.name, "text": cost.description, "schema": cost.schema}
        )
        split = " + ".join(f"{name} {tokens(number)}" for name, number in parts.items())
        counts = f"\n{tokens(state.tokens)} tokens{f' ({split})' if split else ''}   {uses}"
    name = visible(tool.id, newlines=False)
    beside = width - binding.cell_length - 3
    if state is not None and len(name) > beside >= 0:
        # Rather than cut the name, the binding goes into the line below.
        counts, binding, beside = f"   {counts[1:]}", Content("\n") + binding, width
    else:
        binding = Content("   ") + binding
    return Content.assemble(plain(middle(name, max(beside, 12))).stylize("bold"), binding, (counts, MUTED))


def section(title: str, note: str = "") -> Content:
    """Return the heading of a part of a text."""
    return Content.assemble((f"\n{title}", "bold $text-accent"), (f"   {note}" if note else "", MUTED))


def definition_lines(tool: Tool) -> Iterator[Content]:
    """Yield the description, then what the tool takes and what it returns, each below its heading.

    Of a long description the beginning comes first, so that the parameters are in sight, and the whole last.
    """
    brief = shortened(tool.description, _BRIEF)
    yield plain(brief) or Content.styled("No description.", MUTED)
    takes = list(outline(tool.input_schema))
    yield section("Parameters", "* required" if takes else "none")
    yield from (Content(" ") + line for line in takes)
    if tool.output_schema is not None:
        yield section("Returns")
        yield from (Content(" ") + line for line in outline(tool.output_schema))
    if brief != tool.description:
        yield section("Whole description")
        yield plain(tool.description, limit=_LONGEST)


def hanging(lines: Iterable[Content]) -> Hanging:
    """Return lines whose wrapped rows are further in than the lines below a heading begin."""
    text = Content("\n").join(lines)
    rows = (row.plain for row in text.split("\n", allow_blank=True))
    return Hanging(text, [len(row) - len(row.lstrip()) + 2 if row[:1] == " " else 0 for row in rows])


def cost_of(session: SessionView, tool: Tool) -> ToolCost | None:
    """Return what a tool's definition costs by part; None of one that is not in the catalog now."""
    return session.accounting.meter.cost(tool) if session.catalog.get(tool.id) is tool else None


class DefinitionCard(InContext, VerticalScroll, can_focus=True):
    """The definition of one tool, as its server declares it."""

    DEFAULT_CSS = """
    DefinitionCard { padding: 0 1; scrollbar-size-vertical: 1; }
    DefinitionCard Static { height: auto; }
    """

    _drawn: object = None

    def compose(self) -> ComposeResult:
        yield Static(classes="definition")

    def show_tool(self, tool_id: str, notes: tuple[Content, ...] = ()) -> None:
        """Show a tool below `notes`; "" shows that there is none."""
        state, width = self.session.state, self.size.width - 2
        tool = self.session.catalog.get(tool_id) or state.recorded(tool_id)
        drawn = tool, state.known(tool_id), width, notes, self.session.accounting.meter
        if drawn == self._drawn:
            return
        self._drawn = drawn
        lines = [Content.styled("A tool's definition appears here.", MUTED)]
        if tool is not None:
            title = title_line(tool, drawn[1], width, cost_of(self.session, tool))
            lines = [title, *notes, Content(), *definition_lines(tool)]
        self.query_one(Static).update(hanging(lines))

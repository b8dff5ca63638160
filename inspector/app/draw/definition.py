"""A tool's definition as text to read: what it is called and costs, its description, its parameters."""

from collections.abc import Iterator

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import ICONS
from inspector.core.number import tokens
from inspector.core.session import ToolState
from inspector.core.text import shortened
from inspector.core.tool import Tool
from widgets import Hanging, middle, outline, plain, visible

_BRIEF, _LONGEST = 600, 8_000


def title_line(tool: Tool, state: ToolState | None, width: int) -> Content:
    """Return id and binding in one line, and below its tokens and uses."""
    if state is None:
        binding, counts = Content("not in this session"), ""
    else:
        icon, color = ICONS[state.binding]
        binding = Content.styled(f"{icon} {state.binding.value}", color)
        uses = f"used {state.uses}x" if state.uses else "not used yet"
        counts = f"\n{tokens(state.tokens)} tokens   {uses}"
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


def definition_text(tool: Tool, state: ToolState | None, width: int, *notes: Content) -> Hanging:
    """Return a tool's definition below `notes`; its wrapped rows begin where their lines do."""
    lines = title_line(tool, state, width), *notes, Content(), *definition_lines(tool)
    return Hanging(Content("\n").join(lines))

"""The person's own tool: where it stands, however far down."""

from collections.abc import Collection
from dataclasses import dataclass

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.pages.find.pane import outcome, score
from inspector.core.ranking import Hit
from widgets import middle, plain, visible

OWN = "▸"
_OWN = "your tool"
_NONE_OWN = "p: pick your tool; its rank stays on this line"
_GAP = "   "
# From here on there is room for the score too; the list has it in any case.
_WIDE = 76


@dataclass(frozen=True, slots=True)
class Own:
    """The person's own tool: its hit, None while that is being looked for, and of how many tools."""

    tool_id: str
    hit: Hit | None = None
    of: int = 0
    problem: str = ""


NO_TOOL = Own("")


def own_line(own: Own, bound: Collection[str], width: int) -> Content:
    """Return where the person's own tool stands, in at most `width` cells if the name allows."""
    if not own.tool_id:
        return Content.styled(_NONE_OWN, MUTED)
    place = own.problem or ("…" if own.hit is None else f"{own.hit.rank:,} of {own.of:,}")
    end = Content.styled(_OWN, "$accent")
    if own.hit is not None:
        value = (f"   {score(own.hit.score.value)}   " if width >= _WIDE else "   ", MUTED)
        end = Content.assemble(outcome(own.hit, own.tool_id in bound), value, end)
    else:
        end = Content.assemble("   ", end)
    lead = Content.assemble((f"{OWN} ", "bold $accent"), (place, "bold"), "  ")
    room = max(width - lead.cell_length - end.cell_length - len(_GAP), 12)
    name = plain(middle(visible(own.tool_id, limit=200, newlines=False), room))
    gap = max(width - lead.cell_length - name.cell_length - end.cell_length, 1)
    return Content.assemble(lead, name, " " * gap, end)

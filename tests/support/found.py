"""Finding tools without a search."""

from collections.abc import Sequence

from inspector.core.stream import Session
from inspector.loop.tool_context import Found, ToolContext


def find(
    session: Session, context: ToolContext, tool_ids: Sequence[str], reason: str = "a search"
) -> tuple[str, ...]:
    """Bind what a search found, as the meta-tool does; return the tools that are newly bound."""
    before = session.state.load_order
    placement = context.place([Found(tuple(tool_ids), reason)])
    for event in (*placement.loads[0], *placement.evictions):
        session.emit(event)
    return tuple(tool_id for tool_id in session.state.load_order if tool_id not in before)

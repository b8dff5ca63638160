"""One event's effect on the state; every subject registers its events here."""

from dataclasses import replace
from functools import singledispatch

from inspector.domain.events import (
    Event,
)
from inspector.domain.session import SessionState


@singledispatch
def step(_event: Event, state: SessionState) -> SessionState:
    """Ignore events that only the conversation or the feed shows."""
    return state


def with_tool(state: SessionState, tool_id: str, **changes: object) -> SessionState:
    tool = state.known(tool_id)
    if tool is None:
        return state
    changed = replace(tool, **changes)  # type: ignore[arg-type]
    if tool_id in state.tools:
        return replace(state, tools={**state.tools, tool_id: changed})
    return replace(state, held={**state.held, tool_id: changed})

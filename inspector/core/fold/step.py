"""One event's effect on the state; every subject registers its events here."""

from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from inspector.core.events import Event
from inspector.core.session import SessionState

__all__ = ["evolve", "step", "with_tool"]

if TYPE_CHECKING:
    # The same to a type checker, which checks the fields by name and type.
    from dataclasses import replace as evolve
else:

    def evolve(state: SessionState, **changes: Any) -> SessionState:
        """A copy of the state with some fields changed.

        `dataclasses.replace` looks at each of the sixty fields and takes thirty times as long: over a long
        stream, most of the time of a fold.
        """
        new = object.__new__(type(state))
        new.__dict__.update(state.__dict__, **changes)
        return new


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
        return evolve(state, tools={**state.tools, tool_id: changed})
    return evolve(state, held={**state.held, tool_id: changed})

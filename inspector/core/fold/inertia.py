"""What predictions and the calls after them change: what came true is known only by what follows.

Only the first use of a tool is scored: a tool that was called before is bound as a rule, and half of all
calls are of the tool called last, which anybody could tell.
"""

from collections.abc import Sequence
from dataclasses import replace

from inspector.core.events import NextPredicted
from inspector.core.fold.step import evolve, step
from inspector.core.inertia_state import Hits, InertiaState
from inspector.core.session import SessionState

_TOP = 3


@step.register
def _next_predicted(event: NextPredicted, state: SessionState) -> SessionState:
    return evolve(state, inertia=replace(state.inertia, predicted=event))


def with_call(state: SessionState, tool_id: str) -> SessionState:
    """The state as the model calls a tool."""
    inertia = state.inertia
    is_first = tool_id not in state.used
    if is_first and inertia.predicted is not None and inertia.predicted.after == inertia.called:
        inertia = replace(inertia, hits=_scored(inertia.hits, inertia.predicted, tool_id))
    known = state.known(tool_id)
    if known is not None and known.is_ahead:
        inertia = replace(inertia, used=inertia.used | {tool_id})
    return evolve(state, inertia=replace(inertia, called=tool_id))


def with_message(inertia: InertiaState) -> InertiaState:
    """What is left as the user says something: another task, which begins with no call."""
    return replace(inertia, called="", predicted=None)


def _scored(hits: Hits, said: NextPredicted, tool_id: str) -> Hits:
    return Hits(
        hits.first_uses + 1,
        _counted(hits.order_1, [one.tool for one in said.predicted], tool_id),
        _counted(hits.most_used, said.most_used, tool_id),
        _counted(hits.same_server, said.same_server, tool_id),
    )


def _counted(so_far: tuple[int, int], guesses: Sequence[str], tool_id: str) -> tuple[int, int]:
    first, three = so_far
    return first + (tool_id in guesses[:1]), three + (tool_id in guesses[:_TOP])

"""Folds events into session state: `state = apply(state, record)`.

The steps of each subject's events are in its module, as the events are in `core.events`.
"""

from collections.abc import Iterable

from inspector.core.events import Record
from inspector.core.fold import call as call, session as session, tool as tool
from inspector.core.fold.tool import evolve, step
from inspector.core.session import SessionState


def fold(records: Iterable[Record], state: SessionState | None = None) -> SessionState:
    """Fold a stream from the start, or from `state` on."""
    current = state or SessionState()
    for record in records:
        current = apply(current, record)
    return current


def apply(state: SessionState, record: Record) -> SessionState:
    """The state after one more event."""
    state = evolve(state, at=record.at, conversation=state.conversation.after(record))
    return step(record.event, state)

"""Versions of definitions: what changed between two listings, and the note to the model about it."""

from collections.abc import Sequence
from itertools import accumulate

from inspector.core.events import VersionTold
from inspector.core.live import LiveSettings
from inspector.core.message import NoteMessage
from inspector.core.number import count
from inspector.core.session import SessionState
from inspector.core.stream import Session

MOST_NOTED = 10
"""More changed tools than these are counted in a note to the model, not named."""
_MOST_REASONS, _LONGEST_REASON, _LONGEST_NOTE = 5, 200, 4_000
_REBOUND = "Its definition in this request is the new one: use that."
_UNLOADED = "It was unloaded: find it again with search_tools before you call it."


class VersionNotes:
    """Tells the model of breaking changes of tools that it has read of, once each."""

    def __init__(self, session: Session, live: LiveSettings) -> None:
        self._session = session
        self._live = live

    def notes(self) -> tuple[NoteMessage, ...]:
        """What the next model call has to say; () mostly. A tool whose server is away waits for it."""
        state = self._session.state
        told = {tool: why for tool, why in state.untold.items() if tool in state.tools}
        if not told or not self._live.settings.versions.tell:
            return ()
        lines = [_line(state, tool, why) for tool, why in told.items()]
        shown = _fitting(lines)
        more = (f"And {count(len(lines) - shown, 'more tool')}.",) if shown < len(lines) else ()
        text = "\n".join(("[The definition of a tool that you know changed.", *lines[:shown], *more))
        self._session.emit(VersionTold(tuple(told), f"{text}]"))
        return (NoteMessage(f"{text}]"),)


def _fitting(lines: Sequence[str]) -> int:
    """How many of these lines a note has room for; the first always has."""
    ends = accumulate(map(len, lines[:MOST_NOTED]))
    return sum(number == 0 or end <= _LONGEST_NOTE for number, end in enumerate(ends))


def _line(state: SessionState, tool: str, why: Sequence[str]) -> str:
    reasons = [
        one if len(one) <= _LONGEST_REASON else f"{one[:_LONGEST_REASON]}…" for one in why[:_MOST_REASONS]
    ]
    more = f"; and {len(why) - _MOST_REASONS} more" if len(why) > _MOST_REASONS else ""
    return f"{tool}: {'; '.join(reasons)}{more}. {_now(state, tool)}"


def _now(state: SessionState, tool: str) -> str:
    return _REBOUND if state.tools[tool].binding.is_bound else _UNLOADED

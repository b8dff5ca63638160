"""Counts what the model did and reports loops to the session."""

from inspector.core.events import LoopDetected
from inspector.core.ports import Clock
from inspector.core.stream import LiveSettings, Session
from inspector.loop.guards.iteration import IterationGuard, Outcome
from inspector.schema.json_value import JsonObject


class LoopWatch:
    """The iteration guard on a session's stream: every count and every loop becomes an event."""

    def __init__(self, session: Session, guard: IterationGuard, clock: Clock, live: LiveSettings) -> None:
        self._session = session
        self._guard = guard
        self._clock = clock
        self._live = live

    def note(self, tool: str, arguments: JsonObject, outcome: Outcome) -> LoopDetected | None:
        """Count what the model did and return the loop if that is one."""
        if outcome.counted != "call" and not self._live.settings.guard.all_calls:
            return None
        verdict = self._guard.after_call(tool, arguments, self._clock.monotonic(), outcome)
        self._session.emit(verdict.counted)
        if verdict.loop is not None:
            self._session.emit(verdict.loop)
        return verdict.loop

"""Follows one session, event by event, and collects what the model called for each user message."""

from collections.abc import Iterator

from inspector.core.events.base import Actor
from inspector.core.inertia import TaskCalls
from inspector.core.persona_trail import PersonaTrail


class TaskTrail(PersonaTrail):
    """The calls of one message at a time; a message without calls is no task."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[str, float]] = []

    def called(self, by: Actor, tool: str, at: float) -> None:
        """A tool was called; only the model's calls count."""
        if by == "model":
            self._calls.append((tool, at))

    def said(self) -> Iterator[TaskCalls]:
        """The user said something, or the session ended: the task before it, if there was one."""
        if self._calls:
            yield TaskCalls(self.persona, tuple(self._calls))
        self._calls = []

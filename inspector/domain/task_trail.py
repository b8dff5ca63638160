"""Follows one session, event by event, and tells what the model called for each message of the user."""

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.domain.events.base import Actor
from inspector.domain.inertia import TaskCalls, persona_of


def chosen_persona(settings: Mapping[str, Any]) -> str:
    """The name that recorded settings give to a session's habits; "" in records of older versions."""
    section = settings.get("inertia")
    chosen = section.get("persona") if isinstance(section, Mapping) else ""
    return chosen if isinstance(chosen, str) else ""


class TaskTrail:
    """The calls of one message at a time; a message without calls is no task."""

    def __init__(self) -> None:
        self._agent = self._toolset = self._chosen = ""
        self._calls: list[tuple[str, float]] = []

    def started(self, agent: str, chosen: str, toolset: str) -> None:
        """The session began: an imported one of that agent, or Toolsight's own."""
        self._agent, self._chosen, self._toolset = agent, chosen, toolset

    def set(self, chosen: str) -> None:
        """The settings changed: the name of the session's habits is this one now."""
        self._chosen = chosen

    def called(self, by: Actor, tool: str, at: float) -> None:
        """A tool was called; only the model's calls count."""
        if by == "model":
            self._calls.append((tool, at))

    def said(self) -> Iterator[TaskCalls]:
        """The user said something, or the session ended: the task before it, if there was one."""
        if self._calls:
            persona = persona_of(self._agent, self._chosen, self._toolset)
            yield TaskCalls(persona, tuple(self._calls))
        self._calls = []

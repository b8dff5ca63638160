"""Follows one session, event by event, and notes whose habits it shows."""

from collections.abc import Mapping
from typing import Any

from inspector.core.inertia import persona_of


def chosen_persona(settings: Mapping[str, Any]) -> str:
    """The name that recorded settings give to a session's habits; "" in records of older versions."""
    section = settings.get("inertia")
    chosen = section.get("persona") if isinstance(section, Mapping) else ""
    return chosen if isinstance(chosen, str) else ""


class PersonaTrail:
    """The persona of a session, which its settings can change while it runs."""

    def __init__(self) -> None:
        self._agent = self._toolset = self._chosen = self._user = ""

    def started(self, agent: str, chosen: str, toolset: str, user: str = "") -> None:
        """The session began: an imported one of that agent, or Toolsight's own, of that user if any."""
        self._agent, self._chosen, self._toolset, self._user = agent, chosen, toolset, user

    def set(self, chosen: str) -> None:
        """The settings changed: the name of the session's habits is this one now."""
        self._chosen = chosen

    @property
    def persona(self) -> str:
        """Whose habits the session shows now."""
        return persona_of(self._agent, self._chosen, self._toolset, self._user)

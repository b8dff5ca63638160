"""What a session runs on now.

A person may exchange any of it while the session runs. So whoever depends on one of these holds the object,
not its parts, and reads them at the moment of use.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.domain.configuration import Configuration
from inspector.domain.settings import Settings
from inspector.engine.ports import ChatModel

if TYPE_CHECKING:
    from inspector.engine.discovery.retrieval import Retrieval


@dataclass(slots=True)
class LiveSettings:
    """The settings in force."""

    settings: Settings


@dataclass(slots=True)
class LiveModel(LiveSettings):
    """The settings in force, and the model that answers."""

    model: ChatModel

    @property
    def window(self) -> int:
        """The model's context window in tokens."""
        return self.model.window

    @property
    def warn_at(self) -> float:
        """The share of the window from which on the budget warns."""
        return self.settings.budget.warn_at


@dataclass(slots=True)
class Live(LiveModel):
    """Everything of a session that can be exchanged. `toolset` is "" where all tools are permitted."""

    configuration: Configuration
    retrieval: "Retrieval"
    toolset: str = ""

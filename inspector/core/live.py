"""The parts of a session that can be replaced while it runs.

Code that depends on them holds the object, not its parts, and reads the parts when it uses them.
"""

from dataclasses import dataclass

from inspector.core.ports import ChatModel
from inspector.core.settings import Settings
from inspector.schema.model_feature import ModelFeatures


@dataclass(slots=True)
class LiveSettings:
    """The current settings."""

    settings: Settings


@dataclass(slots=True)
class LiveModel(LiveSettings):
    """The current settings and model."""

    model: ChatModel

    @property
    def window(self) -> int:
        """The model's context window in tokens."""
        return self.model.window

    @property
    def features(self) -> ModelFeatures:
        """What the model's provider takes beyond a plain request."""
        return self.model.features

    @property
    def warn_at(self) -> float:
        """The share of the window at which the budget warns."""
        return self.settings.budget.warn_at

"""Which calls are retried, and how many retries a turn has left."""

from inspector.core.composition_settings import RetrySettings
from inspector.core.live import LiveSettings
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.core.tool_pattern import matches
from inspector.reliability.approval import is_repeatable


class RetryRules:
    """The rules of a session's retries; the settings are read whenever one is asked for."""

    def __init__(self, session: Session, live: LiveSettings) -> None:
        self._session = session
        self._live = live

    @property
    def settings(self) -> RetrySettings:
        return self._live.settings.retry

    @property
    def left(self) -> int:
        """How many retries the turn still has, over all its calls."""
        return max(self.settings.per_turn - self._session.state.turn_retries, 0)

    def may_retry(self, tool: Tool) -> bool:
        """Whether repeating a call of the tool is harmless, or allowed by name."""
        if not self.settings.enabled:
            return False
        return matches(tool.id, self.settings.tools) or is_repeatable(tool, self._session.state)

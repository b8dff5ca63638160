"""Which calls are retried after which pauses (tenacity), and how many retries a turn has left."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from inspector.core.breaker import retry_after_of
from inspector.core.error import ToolsightError
from inspector.core.message import ToolResult
from inspector.reliability.ports import RetryPlan

if TYPE_CHECKING:
    from tenacity import RetryCallState
from inspector.core.access import matches
from inspector.core.settings import RetrySettings
from inspector.core.stream import LiveSettings, Session
from inspector.core.tool import Tool
from inspector.reliability.approval import is_repeatable

# No single pause is longer unless the server asks for it.
_LONGEST_PAUSE = 10.0


class TenacityRetrier:
    """See `Retrier`. `sleep` waits: a cancelled task ends it."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep

    async def run(self, attempt: Callable[[], Awaitable[ToolResult]], plan: RetryPlan) -> ToolResult:
        """Make attempts until one succeeds or the plan ends. Raises the last attempt's error."""
        from tenacity import AsyncRetrying, retry_if_exception, wait_exponential_jitter

        backoff = wait_exponential_jitter(multiplier=plan.pause, max=_LONGEST_PAUSE, jitter=plan.pause)

        def pause(state: "RetryCallState") -> float:
            error = _error(state)
            asked = retry_after_of(error) if error is not None else None
            return max(backoff(state), asked or 0.0)

        def told(state: "RetryCallState") -> None:
            error = _error(state)
            if error is not None:
                plan.told(state.attempt_number, error, state.upcoming_sleep)

        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=lambda state: state.attempt_number >= plan.attempts or not plan.fits(state.upcoming_sleep),
            wait=pause,
            retry=retry_if_exception(lambda error: isinstance(error, ToolsightError) and plan.wants(error)),
            before_sleep=told,
            reraise=True,
        )
        return await retrying(attempt)


def _error(state: "RetryCallState") -> ToolsightError | None:
    error = state.outcome.exception() if state.outcome is not None else None
    return error if isinstance(error, ToolsightError) else None


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

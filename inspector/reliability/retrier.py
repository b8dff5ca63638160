"""A `Retrier` with tenacity: exponential pauses with jitter, and longer ones where a server asks for them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from inspector.core.error import ToolsightError
from inspector.core.failure import retry_after_of
from inspector.core.message import ToolResult
from inspector.reliability.ports import RetryPlan

if TYPE_CHECKING:
    from tenacity import RetryCallState

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

"""A model call that is made again, by the rules of tool calls and for no more than a turn's money."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.core.error import ModelError
from inspector.core.events import ModelRetried
from inspector.core.message import ModelReply
from inspector.core.ports import Clock
from inspector.core.stream import LiveSettings, Session
from inspector.loop.tool_call import Bounds

if TYPE_CHECKING:
    from tenacity import RetryCallState


@dataclass(eq=False)
class ModelRetry:
    """Sends a request again after a failure that may pass.

    A repeated model call is the most expensive retry there is (layered composition, layer 4), so what those
    of a turn may cost is bounded too. `sleep` waits between attempts: a cancelled task ends it.
    """

    session: Session
    live: LiveSettings
    clock: Clock
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def __call__(
        self, ask: Callable[[], Awaitable[ModelReply]], *, call: int, dollars: float | None
    ) -> ModelReply:
        """The answer to model call number `call`, which costs some `dollars`. Raises ModelError."""
        if not self.live.settings.retry.enabled:
            return await ask()
        from tenacity import AsyncRetrying, retry_if_exception

        attempts = _Attempts(Bounds(self.session, self.live, self.clock), call, dollars)
        retrying = AsyncRetrying(
            sleep=self.sleep,
            stop=attempts.is_last,
            wait=lambda state: attempts.bounds.pause(state, _failed(state).retry_after),
            retry=retry_if_exception(attempts.may_help),
            before_sleep=attempts.tell,
            reraise=True,
        )
        return await retrying(ask)


@dataclass(eq=False)
class _Attempts:
    """The attempts at one model call."""

    bounds: Bounds
    call: int
    dollars: float | None

    def may_help(self, error: BaseException) -> bool:
        """Whether the same request may succeed a little later."""
        self.bounds.failed()
        return isinstance(error, ModelError) and error.failure is not None

    def is_last(self, state: "RetryCallState") -> bool:
        """Whether the attempts, their time or the turn's money are used up."""
        spent = self.bounds.session.state.turn_dollars + (self.dollars or 0.0)
        return spent > self.bounds.settings.max_dollars or self.bounds.is_last(state)

    def tell(self, state: "RetryCallState") -> None:
        """Record that an attempt failed, and that the next one comes after the pause."""
        error = _failed(state)
        assert error.failure is not None
        self.bounds.session.emit(
            ModelRetried(
                call=self.call,
                attempt=state.attempt_number,
                of=self.bounds.settings.attempts,
                wait=state.upcoming_sleep,
                failure=error.failure,
                retry_after=error.retry_after,
                left=self.bounds.left - 1,
                dollars=self.dollars,
            )
        )


def _failed(state: "RetryCallState") -> ModelError:
    error = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(error, ModelError)
    return error

"""Calls of tools and of models that are made again after a failure that may pass."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from inspector.core.access import matches
from inspector.core.error import CircuitOpen, ModelError, ToolsightError
from inspector.core.events import CallRetried, ModelRetried
from inspector.core.message import ModelReply, ToolResult
from inspector.core.ports import Clock
from inspector.core.stream import LiveSettings, Session
from inspector.core.tool import Tool
from inspector.loop.approval import is_repeatable
from inspector.loop.session_breakers import Breakers
from inspector.loop.tool_call import Call, Request, Restarts, failure_of, retry_after_of

if TYPE_CHECKING:
    from tenacity import RetryCallState

Made = TypeVar("Made")
Sleep = Callable[[float], Awaitable[None]]
# In seconds, before the first retry: they double, and none is longer unless the server asks for it.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0
# Retries of one user message, across all its calls: twice what one call has, so that many calls that fail at
# once do not multiply the load on a server in trouble.
_RETRIES_A_TURN = 6
# No attempt starts later than this after the first failure.
_MOST_SECONDS = 15.0


class Again(Struct, frozen=True):
    """That a call is made again: after which attempt and error, in how many seconds, and what `left` is."""

    attempt: int
    error: ToolsightError
    wait: float
    left: int


@dataclass(eq=False)
class Attempts:
    """The attempts at one call, bounded by their number, their time, and the retries left to the turn.

    `sleep` waits between them: a cancelled task ends it. `is_over` may end them earlier. The settings are
    read whenever they are needed.
    """

    session: Session
    live: LiveSettings
    clock: Clock
    sleep: Sleep
    may_help: Callable[[ToolsightError], bool]
    tell: Callable[[Again], None]
    is_over: Callable[[], bool] = lambda: False
    _first_failure: float | None = field(default=None, init=False)

    async def run(self, attempt: Callable[[], Awaitable[Made]]) -> Made:
        """What an attempt returns, or the error of the last."""
        from tenacity import AsyncRetrying, retry_if_exception

        retrying = AsyncRetrying(
            sleep=self.sleep,
            stop=self._is_last,
            wait=self._pause,
            retry=retry_if_exception(self._may_help),
            before_sleep=self._tell,
            reraise=True,
        )
        return await retrying(attempt)

    @property
    def _left(self) -> int:
        """How many retries the turn still has, over all its calls."""
        return max(_RETRIES_A_TURN - self.session.state.turn_retries, 0)

    def _may_help(self, error: BaseException) -> bool:
        if self._first_failure is None:
            self._first_failure = self.clock.monotonic()
        return isinstance(error, ToolsightError) and self.may_help(error)

    def _pause(self, state: "RetryCallState") -> float:
        """They double each time, with up to as much again at random; never fewer than are asked for."""
        from tenacity import wait_exponential_jitter

        backoff = wait_exponential_jitter(multiplier=_FIRST_PAUSE, max=_LONGEST_PAUSE, jitter=_FIRST_PAUSE)
        return max(backoff(state), retry_after_of(_failed(state)) or 0.0)

    def _is_last(self, state: "RetryCallState") -> bool:
        """Whether the attempts are used up, or the next one would come too late."""
        since = self.clock.monotonic() - (self._first_failure or 0.0)
        is_in_time = since + state.upcoming_sleep <= _MOST_SECONDS
        is_used_up = state.attempt_number >= self.live.settings.retry.attempts or self._left <= 0
        return is_used_up or not is_in_time or self.is_over()

    def _tell(self, state: "RetryCallState") -> None:
        self.tell(Again(state.attempt_number, _failed(state), state.upcoming_sleep, self._left - 1))


def _failed(state: "RetryCallState") -> ToolsightError:
    error = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(error, ToolsightError)
    return error


@dataclass(eq=False)
class Retry:
    """Makes a model's call of a tool again after a failure that may pass, where that is harmless.

    A person's call is not repeated: they see what happened.
    """

    call: Call
    session: Session
    live: LiveSettings
    breakers: Breakers
    restarts: Restarts
    clock: Clock
    sleep: Sleep

    async def __call__(self, request: Request) -> ToolResult:
        if request.by != "model" or not self._may_retry(request.tool):
            return await self.call(request)
        may_help, tell = partial(self._may_help, request), partial(self._tell, request)
        attempts = Attempts(self.session, self.live, self.clock, self.sleep, may_help, tell)
        return await attempts.run(partial(self._attempt, request))

    def _may_retry(self, tool: Tool) -> bool:
        """Whether repeating a call of the tool is harmless, or allowed by name."""
        settings = self.live.settings.retry
        if not settings.enabled:
            return False
        return matches(tool.id, settings.tools) or is_repeatable(tool, self.session.state)

    async def _attempt(self, request: Request) -> ToolResult:
        """Make an attempt; the second and later ones are allowed anew. Raises ToolsightError."""
        if (last := request.failed) is not None:
            request.failed = None  # Whatever is raised from here on for want of permission is final.
            if not await self._is_allowed_again(request):
                raise last
        try:
            return await self.call(request)
        except ToolsightError as error:
            request.failed = error
            raise

    async def _is_allowed_again(self, request: Request) -> bool:
        """Whether there can be another attempt; much may have changed in the pause."""
        tool = request.tool
        try:
            if self._may_retry(tool) and await self.restarts.is_there(tool) and self._may_retry(tool):
                request.permits = self.breakers.admit(tool)
                return True
        except CircuitOpen:
            pass
        return False

    def _may_help(self, request: Request, error: ToolsightError) -> bool:
        """Whether another attempt may help after that error, and is allowed.

        A breaker that this failure opened ends the attempts, and so does a server that stays away.
        """
        tool = request.tool
        if request.failed is None or not failure_of(error).is_transient or not self._may_retry(tool):
            return False
        return self.restarts.may_be_there(tool) and self.breakers.is_healthy(tool)

    def _tell(self, request: Request, again: Again) -> None:
        self.session.emit(
            CallRetried(
                call_id=request.call.id,
                tool=request.tool.id,
                attempt=again.attempt,
                of=self.live.settings.retry.attempts,
                wait=again.wait,
                failure=failure_of(again.error),
                retry_after=retry_after_of(again.error),
                milliseconds=request.milliseconds,
                left=again.left,
            )
        )
        self.breakers.tell(request.noted)


@dataclass(eq=False)
class ModelRetry:
    """Sends a request to a model again after a failure that may pass.

    A repeated model call is the most expensive retry there is (layered composition, layer 4), so what those
    of a turn may cost is bounded too.
    """

    session: Session
    live: LiveSettings
    clock: Clock
    sleep: Sleep = asyncio.sleep

    async def __call__(
        self, ask: Callable[[], Awaitable[ModelReply]], *, call: int, dollars: float | None
    ) -> ModelReply:
        """The answer to model call number `call`, which costs some `dollars`. Raises ModelError."""
        settings = self.live.settings.retry
        if not settings.enabled:
            return await ask()

        def is_over() -> bool:
            return self.session.state.turn_dollars + (dollars or 0.0) > settings.max_dollars

        def tell(again: Again) -> None:
            error = again.error
            assert isinstance(error, ModelError)
            assert error.failure is not None
            self.session.emit(
                ModelRetried(
                    call=call,
                    attempt=again.attempt,
                    of=settings.attempts,
                    wait=again.wait,
                    failure=error.failure,
                    retry_after=error.retry_after,
                    left=again.left,
                    dollars=dollars,
                )
            )

        attempts = Attempts(self.session, self.live, self.clock, self.sleep, _may_pass, tell, is_over)
        return await attempts.run(ask)


def _may_pass(error: ToolsightError) -> bool:
    """Whether the same request may succeed a little later."""
    return isinstance(error, ModelError) and error.failure is not None

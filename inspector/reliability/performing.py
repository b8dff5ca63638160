"""Calls a tool on its server, again if that may help: each start, retry and end is an event."""

from collections.abc import Callable
from typing import Protocol

from inspector.core.breaker import FailureKind, failure_of, retry_after_of
from inspector.core.error import CircuitOpen, ServerExited, ToolsightError
from inspector.core.events import Actor, CallFinished, CallRetried, CallStarted
from inspector.core.message import ToolResult
from inspector.core.ports import Clock
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.reliability.breaking import Breakers, Permits
from inspector.reliability.ports import Retrier
from inspector.reliability.restarting import Restarts
from inspector.reliability.retrying import RetryRules
from inspector.schema.json_value import JsonObject


class ToolCaller(Protocol):
    """Sends a call to a connected server; raises ToolsightError. `catch_up` is as in `Connecting`."""

    async def call(self, server: str, tool: str, arguments: JsonObject) -> ToolResult: ...
    def catch_up(self) -> None: ...


class Performer:
    """Makes the calls of a session, those of the model and those of a person.

    A person's own calls are never refused, and not repeated: they see what happened.
    """

    def __init__(
        self,
        session: Session,
        caller: ToolCaller,
        *,
        breakers: Breakers,
        restarts: Restarts,
        rules: RetryRules,
        retrier: Retrier,
        clock: Clock,
    ) -> None:
        self.session = session
        self.caller = caller
        self.breakers = breakers
        self.restarts = restarts
        self.rules = rules
        self.clock = clock
        self._retrier = retrier

    async def perform(self, call_id: str, tool: Tool, arguments: JsonObject, *, by: Actor) -> ToolResult:
        """Call a tool on its server. Raises ToolsightError; CircuitOpen if no attempt was made."""
        call = _Call(self, call_id, tool, arguments, self._admit(tool, by))
        self.session.emit(CallStarted(call_id, tool.id, arguments, by))
        try:
            if by == "model" and self.rules.may_retry(tool):
                result = await self._retrier.run(call.attempt, call)
            else:
                result = await call.attempt()
        except ToolsightError as error:
            call.finish(failure_of(error), error_text(error), error=error)
            raise
        except BaseException:
            call.finish(FailureKind.CANCELLED, "cancelled")
            raise
        call.finish(FailureKind.TOOL if result.is_error else None, result.text, result=result)
        return result

    def _admit(self, tool: Tool, by: Actor) -> Permits:
        try:
            return self.breakers.admit(tool)
        except CircuitOpen:
            if by == "model":
                raise
            return ()


class _Call:
    """One call with all its attempts; as a `RetryPlan`, what bounds them."""

    def __init__(
        self, performer: Performer, call_id: str, tool: Tool, arguments: JsonObject, permits: Permits
    ) -> None:
        self._its = performer
        self._id = call_id
        self._tool = tool
        self._arguments = arguments
        self._permits = permits
        self._tell: Callable[[], None] = lambda: None
        self._made = 0
        self._began = performer.clock.monotonic()
        self._milliseconds = 0.0
        self._first_failure: float | None = None
        self._last: ToolsightError | None = None
        self._is_over = False

    async def attempt(self) -> ToolResult:
        """Make an attempt; the second and later ones are allowed anew. Raises ToolsightError."""
        if self._last is not None:
            await self._allow_again(self._last)
        self._made += 1
        self._began = self._its.clock.monotonic()
        try:
            result = await self._its.caller.call(self._tool.server, self._tool.name, self._arguments)
        except ToolsightError as error:
            self._note(failure_of(error), retry_after_of(error))
            self._last = error
            if isinstance(error, ServerExited):
                await self._its.restarts.noticed(self._tool)
            raise
        except BaseException:
            self._note(FailureKind.CANCELLED)
            raise
        self._note(FailureKind.TOOL if result.is_error else None)
        return result

    async def _allow_again(self, last: ToolsightError) -> None:
        """Raise the last error if there cannot be another attempt; much may have changed in the pause."""
        may_retry = self._its.rules.may_retry
        try:
            if (
                may_retry(self._tool)
                and await self._its.restarts.is_there(self._tool)
                and may_retry(self._tool)
            ):
                self._permits = self._its.breakers.admit(self._tool)
                return
        except CircuitOpen:
            pass
        self._is_over = True
        raise last

    def _note(self, failure: FailureKind | None, retry_after: float | None = None) -> None:
        """Take down how an attempt ended and how long it took, without the pause after it.

        The breakers tell of it after the attempt's own event.
        """
        self._milliseconds = (self._its.clock.monotonic() - self._began) * 1000
        subjects = self._its.breakers.note(self._permits, failure, retry_after)
        self._permits = ()
        self._tell = lambda: self._its.breakers.tell(subjects)

    def finish(
        self,
        failure: FailureKind | None,
        text: str,
        *,
        result: ToolResult | None = None,
        error: ToolsightError | None = None,
    ) -> None:
        """Emit the end of the call."""
        self._its.session.emit(
            CallFinished(
                call_id=self._id,
                tool=self._tool.id,
                ok=failure is None,
                text=text,
                milliseconds=self._milliseconds,
                structured=result.structured if result is not None else None,
                failure=failure,
                retry_after=retry_after_of(error) if error is not None else None,
                attempts=max(self._made, 1),
            )
        )
        self._tell()

    @property
    def attempts(self) -> int:
        return self._its.rules.settings.attempts

    @property
    def pause(self) -> float:
        return self._its.rules.settings.pause_seconds

    def wants(self, error: ToolsightError) -> bool:
        """See `RetryPlan`.

        A breaker that this failure opened ends the attempts, and so does a server that stays away.
        """
        if self._first_failure is None:
            self._first_failure = self._its.clock.monotonic()
        is_transient = failure_of(error).is_transient and not self._is_over
        if not is_transient or not self._its.rules.may_retry(self._tool):
            return False
        return self._its.restarts.may_be_there(self._tool) and self._its.breakers.is_healthy(self._tool)

    def fits(self, pause: float) -> bool:
        """See `RetryPlan`."""
        since = self._its.clock.monotonic() - (self._first_failure or 0.0)
        return self._its.rules.left > 0 and since + pause <= self._its.rules.settings.max_seconds

    def told(self, attempt: int, error: ToolsightError, pause: float) -> None:
        """See `RetryPlan`."""
        self._its.session.emit(
            CallRetried(
                call_id=self._id,
                tool=self._tool.id,
                attempt=attempt,
                of=self.attempts,
                wait=pause,
                failure=failure_of(error),
                retry_after=retry_after_of(error),
                milliseconds=self._milliseconds,
                left=self._its.rules.left - 1,
            )
        )
        self._tell()
        self._tell = lambda: None


def error_text(error: ToolsightError) -> str:
    """An error as a model reads it."""
    return f"{error.message} ({error.hint})" if error.hint else error.message

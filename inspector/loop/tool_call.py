"""A tool call as a chain: every link is called with a request, does one thing, and calls the link inside it.

From the outside in: `Break` lets the call through, `Record` writes it down, `Retry` makes it again, and each
`Attempt` goes to the server. `inspector.loop.tool_call` puts them together, and more around a model's calls.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from inspector.core.access import matches
from inspector.core.definition import definition_hash
from inspector.core.error import (
    ArgumentsRejected,
    CallTimeout,
    CircuitOpen,
    FailureKind,
    ProtocolError,
    RateLimited,
    ServerExited,
    StoreError,
    ToolsightError,
)
from inspector.core.events import Actor, CallFinished, CallRetried, CallStarted, TaskChanged
from inspector.core.message import OnTask, TaskState, ToolCall, ToolResult
from inspector.core.ports import Clock
from inspector.core.server import ServerPhase
from inspector.core.settings import RetrySettings
from inspector.core.stream import LiveSettings, Session
from inspector.core.tool import Tool
from inspector.loop.approval import is_repeatable
from inspector.loop.breaking import Breakers, Permits, Subject
from inspector.schema.json_value import JsonObject

if TYPE_CHECKING:
    from tenacity import RetryCallState

# In seconds, before the first retry: they double, and none is longer unless the server asks for it.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0
# Retries of one user message, across all its calls: twice what one call has, so that many calls that fail at
# once do not multiply the load on a server in trouble.
_RETRIES_A_TURN = 6
# No attempt starts later than this after the first failure.
_MOST_SECONDS = 15.0
# Turns of the event loop after which a connection that closed is known to have.
_TURNS = 20


def failure_of(error: ToolsightError) -> FailureKind:
    """The kind of failure that an error of a call is."""
    match error:
        case RateLimited():
            return FailureKind.RATE_LIMIT
        case CallTimeout():
            return FailureKind.TIMEOUT
        case ArgumentsRejected():
            return FailureKind.SCHEMA
        case ProtocolError():
            return FailureKind.PROTOCOL
        case StoreError():
            # Our own trouble: it says nothing of the tool, and the call may have run.
            return FailureKind.CANCELLED
        case _:
            return FailureKind.TRANSPORT


def retry_after_of(error: ToolsightError) -> float | None:
    """The seconds after which the server wants to be asked again, None if it does not say."""
    return error.retry_after if isinstance(error, RateLimited) else None


@dataclass(slots=True)
class Request:
    """A call of a tool, and what its links know of it so far.

    `permits` are what its next attempt is allowed by, `noted` whose breakers were told of the last one.
    """

    call: ToolCall
    tool: Tool
    by: Actor = "model"
    permits: Permits = ()
    noted: tuple[Subject, ...] = ()
    attempts: int = 0
    milliseconds: float = 0.0


Call = Callable[[Request], Awaitable[ToolResult]]
"""Makes a call. Raises ToolsightError; CircuitOpen if no attempt was made."""


class Servers(Protocol):
    """The servers that calls go to."""

    async def call(self, server: str, tool: str, arguments: JsonObject, on_task: OnTask) -> ToolResult:
        """Send a call to a connected server. Raises ToolsightError."""

    async def reconnect(self, server: str) -> None:
        """Reopen a connection as it was consented to, and wait until the server is ready or has failed."""

    def catch_up(self) -> None:
        """Put what the servers have changed into the catalog."""


@dataclass(eq=False)
class Restarts:
    """Brings servers back that failed; one that a person stopped stays stopped.

    `current` returns the tool with an id as its server lists it now.
    """

    session: Session
    servers: Servers
    breakers: Breakers
    current: Callable[[str], Tool | None]

    async def bring_back(self, tool: Tool) -> bool:
        """Connect the failed server of a tool; return whether it is ready. Raises CircuitOpen."""
        if not self.breakers.is_on or self._phase(tool.server) is not ServerPhase.FAILED:
            return False
        permits = self.breakers.admit_server(tool.server)
        failure: FailureKind | None = FailureKind.CANCELLED
        try:
            await self.servers.reconnect(tool.server)
            is_ready = self._phase(tool.server) is ServerPhase.READY
            # A start is no answered call; but a breaker that waits for one sign of life has it.
            is_probe = any(permit.probe for _, permit in permits)
            ready = None if is_probe else FailureKind.CANCELLED
            failure = ready if is_ready else FailureKind.TRANSPORT
        finally:
            self.breakers.tell(self.breakers.note(permits, failure))
        return is_ready

    async def is_there(self, tool: Tool) -> bool:
        """Whether a tool can be called again, with its server brought back if needed. Raises CircuitOpen.

        A tool that came back with another definition is not the one that was allowed.
        """
        if self._phase(tool.server) is not ServerPhase.READY and not await self.bring_back(tool):
            return False
        now = self.current(tool.id)
        return now is not None and definition_hash(now) == definition_hash(tool)

    async def noticed(self, tool: Tool) -> None:
        """Let the session notice that a server has gone: a call on it may end a moment earlier."""
        for _ in range(_TURNS):
            if self._phase(tool.server) is not ServerPhase.READY:
                return
            await asyncio.sleep(0)

    def may_be_there(self, tool: Tool) -> bool:
        """Whether the server of a tool is ready or may be brought back."""
        phase = self._phase(tool.server)
        return phase is ServerPhase.READY or (self.breakers.is_on and phase is ServerPhase.FAILED)

    def _phase(self, server: str) -> ServerPhase | None:
        state = self.session.state.servers.get(server)
        return state.phase if state is not None else None


@dataclass(eq=False)
class Attempt:
    """Sends a call to its server, and tells the breakers that allowed it how that ended.

    What the session has to know of it is told by the links outside, after the attempt's own event.
    """

    servers: Servers
    breakers: Breakers
    restarts: Restarts
    clock: Clock

    async def __call__(self, request: Request) -> ToolResult:
        request.attempts += 1
        tool, began = request.tool, self.clock.monotonic()

        def on_task(state: TaskState) -> None:
            self.restarts.session.emit(TaskChanged(request.call.id, tool.id, state))

        try:
            result = await self.servers.call(tool.server, tool.name, request.call.arguments, on_task)
        except ToolsightError as error:
            self._note(request, began, failure_of(error), retry_after_of(error))
            if isinstance(error, ServerExited):
                await self.restarts.noticed(tool)
            raise
        except BaseException:
            self._note(request, began, FailureKind.CANCELLED)
            raise
        self._note(request, began, FailureKind.TOOL if result.is_error else None)
        return result

    def _note(
        self, request: Request, began: float, failure: FailureKind | None, retry_after: float | None = None
    ) -> None:
        request.milliseconds = (self.clock.monotonic() - began) * 1000
        request.noted = self.breakers.note(request.permits, failure, retry_after)
        request.permits = ()


@dataclass(slots=True)
class Bounds:
    """What bounds the attempts at one call: their number, their time, and the retries left to the turn."""

    session: Session
    live: LiveSettings
    clock: Clock
    first_failure: float | None = None

    @property
    def settings(self) -> RetrySettings:
        return self.live.settings.retry

    @property
    def left(self) -> int:
        """How many retries the turn still has, over all its calls."""
        return max(_RETRIES_A_TURN - self.session.state.turn_retries, 0)

    def failed(self) -> None:
        """An attempt failed: the time runs from the first."""
        if self.first_failure is None:
            self.first_failure = self.clock.monotonic()

    def pause(self, state: "RetryCallState", asked: float | None) -> float:
        """The seconds before the next attempt, never fewer than are `asked` for.

        They double each time, with up to as much again at random.
        """
        from tenacity import wait_exponential_jitter

        backoff = wait_exponential_jitter(multiplier=_FIRST_PAUSE, max=_LONGEST_PAUSE, jitter=_FIRST_PAUSE)
        return max(backoff(state), asked or 0.0)

    def is_last(self, state: "RetryCallState") -> bool:
        """Whether the attempts are used up, or the next one would come too late."""
        since = self.clock.monotonic() - (self.first_failure or 0.0)
        is_in_time = since + state.upcoming_sleep <= _MOST_SECONDS
        return state.attempt_number >= self.settings.attempts or self.left <= 0 or not is_in_time


@dataclass(eq=False)
class Retry:
    """Makes a model's call again after a failure that may pass, where that is harmless.

    A person's call is not repeated: they see what happened. The settings are read whenever they are needed.
    `sleep` waits between attempts: a cancelled task ends it.
    """

    call: Call
    session: Session
    live: LiveSettings
    breakers: Breakers
    restarts: Restarts
    clock: Clock
    sleep: Callable[[float], Awaitable[None]]

    async def __call__(self, request: Request) -> ToolResult:
        if request.by != "model" or not self.may_retry(request.tool):
            return await self.call(request)
        from tenacity import AsyncRetrying, retry_if_exception

        attempts = _Attempts(self, request)
        retrying = AsyncRetrying(
            sleep=self.sleep,
            stop=attempts.bounds.is_last,
            wait=attempts.pause,
            retry=retry_if_exception(attempts.may_help),
            before_sleep=attempts.tell,
            reraise=True,
        )
        return await retrying(attempts.make)

    @property
    def settings(self) -> RetrySettings:
        return self.live.settings.retry

    def may_retry(self, tool: Tool) -> bool:
        """Whether repeating a call of the tool is harmless, or allowed by name."""
        if not self.settings.enabled:
            return False
        return matches(tool.id, self.settings.tools) or is_repeatable(tool, self.session.state)


class _Attempts:
    """The attempts at one call, and what bounds them, as tenacity asks for it."""

    def __init__(self, link: Retry, request: Request) -> None:
        self._link = link
        self._request = request
        self.bounds = Bounds(link.session, link.live, link.clock)
        self._last: ToolsightError | None = None

    async def make(self) -> ToolResult:
        """Make an attempt; the second and later ones are allowed anew. Raises ToolsightError."""
        if (last := self._last) is not None:
            self._last = None  # Whatever is raised from here on for want of permission is final.
            if not await self._is_allowed_again():
                raise last
        try:
            return await self._link.call(self._request)
        except ToolsightError as error:
            self._last = error
            raise

    async def _is_allowed_again(self) -> bool:
        """Whether there can be another attempt; much may have changed in the pause."""
        link, tool = self._link, self._request.tool
        try:
            if link.may_retry(tool) and await link.restarts.is_there(tool) and link.may_retry(tool):
                self._request.permits = link.breakers.admit(tool)
                return True
        except CircuitOpen:
            pass
        return False

    def may_help(self, error: BaseException) -> bool:
        """Whether another attempt may help after that error, and is allowed.

        A breaker that this failure opened ends the attempts, and so does a server that stays away.
        """
        if not isinstance(error, ToolsightError):
            return False
        link, tool = self._link, self._request.tool
        self.bounds.failed()
        if self._last is None or not failure_of(error).is_transient or not link.may_retry(tool):
            return False
        return link.restarts.may_be_there(tool) and link.breakers.is_healthy(tool)

    def pause(self, state: "RetryCallState") -> float:
        """The seconds before the next one, never fewer than the server asks for."""
        return self.bounds.pause(state, retry_after_of(self._last) if self._last is not None else None)

    def tell(self, state: "RetryCallState") -> None:
        """Record that an attempt failed, and that the next one comes after the pause."""
        if (error := self._last) is None:
            return
        request, link = self._request, self._link
        link.session.emit(
            CallRetried(
                call_id=request.call.id,
                tool=request.tool.id,
                attempt=state.attempt_number,
                of=link.settings.attempts,
                wait=state.upcoming_sleep,
                failure=failure_of(error),
                retry_after=retry_after_of(error),
                milliseconds=request.milliseconds,
                left=self.bounds.left - 1,
            )
        )
        link.breakers.tell(request.noted)


@dataclass(eq=False)
class Record:
    """Records that a call began and how it ended, with all its attempts."""

    call: Call
    session: Session

    async def __call__(self, request: Request) -> ToolResult:
        call, tool = request.call, request.tool
        self.session.emit(CallStarted(call.id, tool.id, call.arguments, request.by))
        try:
            result = await self.call(request)
        except ToolsightError as error:
            failure, text = failure_of(error), error_text(error)
            self._finish(request, failure, text, retry_after=retry_after_of(error))
            raise
        except BaseException:
            self._finish(request, FailureKind.CANCELLED, "cancelled")
            raise
        failure_told = FailureKind.TOOL if result.is_error else None
        told, whole = result.text, result.whole
        self._finish(request, failure_told, told, structured=result.structured, whole=whole)
        return result

    def _finish(
        self,
        request: Request,
        failure: FailureKind | None,
        text: str,
        *,
        structured: JsonObject | None = None,
        retry_after: float | None = None,
        whole: int = 0,
    ) -> None:
        self.session.emit(
            CallFinished(
                call_id=request.call.id,
                tool=request.tool.id,
                ok=failure is None,
                text=text,
                milliseconds=request.milliseconds,
                structured=structured,
                failure=failure,
                retry_after=retry_after,
                attempts=max(request.attempts, 1),
                whole=whole,
            )
        )


@dataclass(eq=False)
class Break:
    """Lets a call through if its breakers do; a person's own calls are never refused."""

    call: Call
    breakers: Breakers

    async def __call__(self, request: Request) -> ToolResult:
        try:
            request.permits = self.breakers.admit(request.tool)
        except CircuitOpen:
            if request.by == "model":
                raise
        try:
            return await self.call(request)
        finally:
            self.breakers.tell(request.noted)


def error_text(error: ToolsightError) -> str:
    """An error as a model reads it."""
    return f"{error.message} ({error.hint})" if error.hint else error.message

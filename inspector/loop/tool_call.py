"""A tool call as a chain: every link is called with a request, does one thing, and calls the link inside it.

From the outside in: `Break` lets the call through, `Record` writes it down, `Retry` (`inspector.loop.retry`)
makes it again, and each `Attempt` goes to the server. `inspector.loop.chain` puts them together, and more
around a model's calls.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from inspector.core.definition import definition_hash
from inspector.core.error import (
    ArgumentsRejected,
    CallTimeout,
    CircuitOpen,
    FailureKind,
    ModelError,
    ProtocolError,
    RateLimited,
    ServerExited,
    StoreError,
    ToolsightError,
)
from inspector.core.events import Actor, CallFinished, CallStarted, TaskChanged
from inspector.core.message import OnTask, TaskState, ToolCall, ToolResult
from inspector.core.ports import Clock
from inspector.core.server import ServerPhase
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.session_breakers import Breakers, Permits, Subject
from inspector.schema.json_value import JsonObject

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
    return error.retry_after if isinstance(error, RateLimited | ModelError) else None


class Request(Struct):
    """A call of a tool, and what its links know of it so far.

    `permits` are what its next attempt is allowed by, `noted` whose breakers were told of the last one, and
    `failed` is its error.
    """

    call: ToolCall
    tool: Tool
    by: Actor = "model"
    permits: Permits = ()
    noted: tuple[Subject, ...] = ()
    failed: ToolsightError | None = None
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

"""Calls a tool on its server: what its breakers allow, with its start and its end as events."""

from typing import Protocol

from inspector.domain.error import CircuitOpen, ToolsightError
from inspector.domain.events import Actor, CallFinished, CallStarted
from inspector.domain.failure import FailureKind, failure_of, retry_after_of
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolResult
from inspector.domain.tool import Tool
from inspector.engine.composition.breaking import Breakers, Permits
from inspector.engine.ports import Clock
from inspector.engine.session import Session


class ToolCaller(Protocol):
    """Sends a call to a connected server; raises ToolsightError. `catch_up` is as in `Connecting`."""

    async def call(self, server: str, tool: str, arguments: JsonObject) -> ToolResult: ...
    def catch_up(self) -> None: ...


class Performer:
    """Makes the calls of a session, those of the model and those of a person."""

    def __init__(self, session: Session, caller: ToolCaller, breakers: Breakers, clock: Clock) -> None:
        self._session = session
        self._caller = caller
        self._breakers = breakers
        self._clock = clock

    async def perform(self, call_id: str, tool: Tool, arguments: JsonObject, *, by: Actor) -> ToolResult:
        """Call a tool on its server and emit its start and finish.

        Raises ToolsightError; CircuitOpen only before the start, and never for what a person calls.
        """
        permits = self._admit(tool, by)
        self._session.emit(CallStarted(call_id, tool.id, arguments, by))
        started = self._clock.monotonic()

        def finished(failure: FailureKind | None, text: str, error: ToolsightError | None = None) -> None:
            self._session.emit(
                CallFinished(
                    call_id=call_id,
                    tool=tool.id,
                    ok=failure is None,
                    text=text,
                    milliseconds=(self._clock.monotonic() - started) * 1000,
                    structured=result.structured if result is not None else None,
                    failure=failure,
                    retry_after=retry_after_of(error) if error is not None else None,
                )
            )

        result: ToolResult | None = None
        try:
            result = await self._caller.call(tool.server, tool.name, arguments)
        except ToolsightError as error:
            finished(failure_of(error), error_text(error), error)
            self._breakers.note(permits, failure_of(error), retry_after_of(error))
            raise
        except BaseException:
            finished(FailureKind.CANCELLED, "cancelled")
            self._breakers.note(permits, FailureKind.CANCELLED)
            raise
        failure = FailureKind.TOOL if result.is_error else None
        finished(failure, result.text)
        self._breakers.note(permits, failure)
        return result

    def _admit(self, tool: Tool, by: Actor) -> Permits:
        try:
            return self._breakers.admit(tool)
        except CircuitOpen:
            if by == "model":
                raise
            return ()


def error_text(error: ToolsightError) -> str:
    """An error as a model reads it."""
    return f"{error.message} ({error.hint})" if error.hint else error.message

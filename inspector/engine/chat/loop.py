"""The discovery loop for one user message (PRD section 2.7)."""

import asyncio
from collections.abc import Callable

from inspector.domain.budget import Budget
from inspector.domain.error import ModelError
from inspector.domain.event import (
    AnswerStreamed,
    BudgetMeasured,
    Failed,
    ModelRequested,
    ModelResponded,
    TurnEnded,
    UserSaid,
)
from inspector.domain.message import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    TextDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from inspector.engine.chat.dispatch import Dispatcher
from inspector.engine.ports import ChatModel, Clock
from inspector.engine.session import Session

# A streamed answer is stored in pieces of about this many characters or seconds: every piece is a row.
_FLUSH_CHARACTERS = 80
_FLUSH_SECONDS = 0.05
_CANCELLED = "Cancelled by the user before it finished."


class DiscoveryLoop:
    """Holds the conversation as the model gets it, and runs it on, one user message at a time."""

    def __init__(
        self,
        session: Session,
        model: Callable[[], ChatModel],
        request: Callable[[tuple[Message, ...]], ModelRequest],
        measure: Callable[[ModelRequest], Budget],
        dispatcher: Dispatcher,
        clock: Clock,
        max_steps: int,
    ) -> None:
        self.messages: tuple[Message, ...] = ()
        self._session = session
        self._model = model
        self._request = request
        self._measure = measure
        self._dispatcher = dispatcher
        self._clock = clock
        self._max_steps = max_steps

    async def run(self, text: str) -> TurnEnded:
        """Answer one user message. Cancelling the task ends the turn cleanly."""
        self._session.emit(UserSaid(text))
        self.messages = (*self.messages, UserMessage(text))
        try:
            ended = await self._steps()
        except ModelError as error:
            self._session.emit(Failed(self._model().name, error.message, error.hint))
            ended = TurnEnded("failed", error.message)
        except asyncio.CancelledError:
            self._session.emit(TurnEnded("cancelled", "You cancelled this turn."))
            raise
        except BaseException as error:
            self._session.emit(Failed("chat", f"{type(error).__name__}: {error}"))
            self._session.emit(TurnEnded("failed", str(error)))
            raise
        self._session.emit(ended)
        return ended

    async def _steps(self) -> TurnEnded:
        for _ in range(self._max_steps):
            reply = await self._ask()
            self.messages = (*self.messages, AssistantMessage(reply.text, reply.tool_calls))
            if not reply.tool_calls:
                return TurnEnded("answered", reply.text)
            await self._answer_calls(reply.tool_calls)
        return TurnEnded(
            "capped",
            f"Stopped after {self._max_steps} model calls without an answer. "
            "Ask again more narrowly, or raise the limit.",
        )

    async def _answer_calls(self, calls: tuple[ToolCall, ...]) -> None:
        """Every call gets a result, even a cancelled one: providers refuse a history with an open call."""
        for index, call in enumerate(calls):
            try:
                text = await self._dispatcher.dispatch(call)
            except BaseException:
                open_calls = calls[index:]
                self.messages += tuple(ToolMessage(c.id, c.name, _CANCELLED) for c in open_calls)
                raise
            self.messages = (*self.messages, ToolMessage(call.id, call.name, text))

    async def _ask(self) -> ModelReply:
        request = self._request(self.messages)
        turn = self._session.state.turn + 1
        budget = self._measure(request)
        self._session.emit(BudgetMeasured(budget))
        bound = self._session.state.bound_ids
        self._session.emit(ModelRequested(turn, bound, budget.parts, len(request.messages)))
        started = self._clock.monotonic()
        reply = await self._stream(request)
        elapsed = (self._clock.monotonic() - started) * 1000
        self._session.emit(
            ModelResponded(turn, reply.text, reply.tool_calls, reply.usage, reply.finish_reason, elapsed)
        )
        return reply

    async def _stream(self, request: ModelRequest) -> ModelReply:
        pending = ""
        flushed = self._clock.monotonic()
        reply: ModelReply | None = None
        try:
            async for chunk in self._model().stream(request):
                if not isinstance(chunk, TextDelta):
                    reply = chunk
                    continue
                pending += chunk.text
                now = self._clock.monotonic()
                if len(pending) >= _FLUSH_CHARACTERS or now - flushed >= _FLUSH_SECONDS:
                    self._session.emit(AnswerStreamed(pending))
                    pending, flushed = "", now
        finally:
            if pending:
                self._session.emit(AnswerStreamed(pending))
        if reply is None:
            raise ModelError("the model ended without an answer", hint="Ask again, or switch the model.")
        return reply

"""The discovery loop for one user message (PRD section 2.7), and the chat that it is part of."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import islice
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.error import ModelError, refusal
from inspector.core.events import (
    AnswerStreamed,
    BudgetMeasured,
    Failed,
    ModelRequested,
    ModelResponded,
    TurnEnded,
    TurnWaited,
    UserSaid,
    VersionTold,
)
from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    NoteMessage,
    TextDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from inspector.core.number import count
from inspector.core.ports import Approver, Clock
from inspector.core.session import SessionState
from inspector.core.stream import Session
from inspector.core.text import shortened
from inspector.loop.binder import Binder
from inspector.loop.chain import Around, Dispatcher, chain
from inspector.loop.headroom import Headroom
from inspector.loop.inertia import Inertia
from inspector.loop.iteration_guard import IterationGuard, LoopWatch
from inspector.loop.rejection import Rejections, written_calls
from inspector.loop.retry import ModelRetry
from inspector.loop.search_tools import Further, RedundancyDetector, SearchTools, nowhere
from inspector.loop.session_breakers import Breakers
from inspector.loop.tool_call import Servers
from inspector.search.answer.retrieval import Live
from inspector.tokens.synthetic import Answer

# A streamed answer is stored in pieces of about this many characters or seconds; each piece is a row.
_FLUSH_CHARACTERS = 80
_FLUSH_SECONDS = 0.05
_CANCELLED = "Cancelled by the user before it finished."
_THINK = (
    "[You are repeating yourself. Before any further call, say in a few words what you have learned, why "
    "repeating it cannot help, and what you will do instead. Do not call a tool now.]"
)
_GO_ON = "[Continue with that: search for another tool, call one that you have, or answer.]"


class ChatServers(Servers, Protocol):
    """The servers of a session, of which some may be connecting."""

    @property
    def connecting(self) -> tuple[str, ...]: ...

    async def settled(self) -> None:
        """Wait until none is connecting."""


# Of more changed tools than these the others are counted, and so are the characters of what changed of each.
_MOST_NOTED, _LONGEST_REASONS = 10, 400
_REBOUND = "Its definition in this request is the new one: use that."
_UNLOADED = "It was unloaded: find it again with search_tools before you call it."


def _version_notes(session: Session) -> tuple[NoteMessage, ...]:
    """What the next model call has to say of breaking changes of tools that the model knows, once each.

    It is () mostly. A tool whose server is away waits for it.
    """
    state = session.state
    told = {tool: why for tool, why in state.untold.items() if tool in state.tools}
    if not told:
        return ()
    lines = [_line(state, tool, why) for tool, why in islice(told.items(), _MOST_NOTED)]
    more = len(told) - len(lines)
    lines += [f"And {count(more, 'more tool')}."] if more else []
    text = "\n".join(("[The definition of a tool that you know changed.", *lines))
    session.emit(VersionTold(tuple(told), f"{text}]"))
    return (NoteMessage(f"{text}]", tools=tuple(told)),)


def _line(state: SessionState, tool: str, why: Sequence[str]) -> str:
    advice = _REBOUND if state.tools[tool].binding.is_bound else _UNLOADED
    return f"{tool}: {shortened('; '.join(why), _LONGEST_REASONS)}. {advice}"


class DiscoveryLoop(Struct, eq=False):
    """Holds the conversation as sent to the model and continues it, one user message at a time."""

    _session: Session
    _binder: Binder
    _headroom: Headroom
    _dispatcher: Dispatcher
    _clock: Clock
    _live: Live
    _guards: tuple[IterationGuard, RedundancyDetector]
    _servers: ChatServers
    _inertia: Inertia
    _retry: ModelRetry
    messages: tuple[Message, ...] = ()
    _offered: frozenset[str] = frozenset()
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, text: str) -> TurnEnded:
        """Answer one user message, after those that came before. Canceling the task ends the turn cleanly."""
        async with self._turn:
            return await self._answer(text)

    async def _answer(self, text: str) -> TurnEnded:
        self._session.emit(UserSaid(text))
        for guard in self._guards:
            guard.new_message()
        self.messages = (*self.messages, UserMessage(text))
        try:
            ended = await self._steps()
        except ModelError as error:
            self._session.emit(Failed(self._live.model.name, error.message, error.hint, error.raw))
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
        steps, is_loop = 0, False
        await self._wait_for_servers()
        await self._inertia.settled()
        # Read the limit each time: it may change while the model is working.
        while steps < self._live.settings.chat.max_steps:
            steps += 1
            self._servers.catch_up()
            # At each step: a server may have changed its tools, so that a restriction matches none any more.
            if refused := refusal(self._session.state.problems):
                return TurnEnded("refused", refused)
            changed = _version_notes(self._session)
            self.messages = (*self.messages, *changed, *self._binder.news.notes(self.messages))
            if is_loop:
                await self._think()
                is_loop = False
                continue
            reply = await self._ask()
            self.messages = (*self.messages, AssistantMessage(reply.text, reply.tool_calls))
            if not reply.tool_calls:
                return TurnEnded("answered", reply.text)
            is_loop = await self._answer_calls(reply.tool_calls)
        return TurnEnded(
            "capped",
            f"Stopped after {steps} model calls without an answer. Ask again more narrowly, or raise "
            "chat.max_steps.",
        )

    async def _wait_for_servers(self) -> None:
        """Wait until no server is connecting: a search before that would miss their tools."""
        connecting = self._servers.connecting
        if connecting:
            self._session.emit(TurnWaited(connecting))
            await self._servers.settled()

    async def _think(self) -> None:
        """Let the model reassess before the next call, as node `think` in the paper's section 7.5."""
        self.messages = (*self.messages, NoteMessage(_THINK))
        reply = await self._ask(think=True)
        thought = AssistantMessage(reply.text or "…", thought=True)
        self.messages = (*self.messages, thought, NoteMessage(_GO_ON))

    async def _answer_calls(self, calls: tuple[ToolCall, ...]) -> bool:
        """Run the calls and return whether the guard detected a loop.

        Every call gets a result, even a canceled one: providers refuse a history with an unanswered call.
        """
        is_loop, offered, answered = False, self._offered, 0
        try:
            # The model took its time: servers may have changed their tools meanwhile.
            self._servers.catch_up()
            for call, own in zip(calls, self._dispatcher.own(calls), strict=True):
                self._servers.catch_up()
                done = own if isinstance(own, Answer) else await self._dispatcher.dispatch(own, offered)
                is_loop = is_loop or bool(done.guidance)
                result = ToolMessage(call.id, call.name, done.said, done.failed, definitions=done.definitions)
                self.messages = (*self.messages, result)
                answered += 1
        except BaseException:
            open_calls = calls[answered:]
            self.messages += tuple(ToolMessage(c.id, c.name, _CANCELLED, failed=True) for c in open_calls)
            raise
        return is_loop

    async def _ask(self, *, think: bool = False) -> ModelReply:
        if not think:
            self._binder.before_call(self.messages)
            self._inertia.before_call()
        fitted = self._headroom.fit(self.messages, think=think)
        self.messages = fitted.messages
        self._session.emit(BudgetMeasured(fitted.budget))
        self._headroom.require_room(fitted)
        request, budget = fitted.request, fitted.budget
        number, sent = self._session.state.model_calls + 1, self._binder.sent(request)
        charge, terms = self._binder.charge(request, sent)
        self._offered = frozenset(self._session.state.bound_ids)
        self._session.emit(
            ModelRequested(
                call=number,
                bound=self._session.state.bound_ids,
                tokens=budget.parts,
                messages=len(request.messages),
                delivery=self._binder.delivery,
                same=sent.same,
                resent=sent.resent,
                change=sent.change,
                think=think,
                charge=charge,
                terms=terms,
                breakpoints=request.breakpoints,
            )
        )
        started = self._clock.monotonic()
        answer = await self._retry(
            partial(self._stream, request), call=number, dollars=self._binder.dollars(budget.parts.input)
        )
        reply, written = self._understood(answer, request, number)
        self._session.emit(
            ModelResponded(
                call=number,
                text=reply.text,
                tool_calls=reply.tool_calls,
                usage=reply.usage,
                finish_reason=reply.finish_reason,
                milliseconds=(self._clock.monotonic() - started) * 1000,
                thought=think,
                written=written,
                counted=self._binder.answer(reply),
            )
        )
        return reply

    def _understood(self, reply: ModelReply, request: ModelRequest, number: int) -> tuple[ModelReply, str]:
        """The reply, and the text that was understood as its calls; it goes on as calls without that text."""
        if reply.tool_calls or request.think:
            return reply, ""
        found = written_calls(reply.text, {tool["function"]["name"] for tool in request.tools})
        calls = tuple(ToolCall(f"written_{number}_{at}", *call) for at, call in enumerate(found))
        return (replace(reply, text="", tool_calls=calls), reply.text) if calls else (reply, "")

    async def _stream(self, request: ModelRequest) -> ModelReply:
        pending, has_begun, flushed = "", False, self._clock.monotonic()
        reply: ModelReply | None = None
        try:
            async for chunk in self._live.model.stream(request):
                if not isinstance(chunk, TextDelta):
                    reply = chunk
                    continue
                pending, has_begun = pending + chunk.text, True
                now = self._clock.monotonic()
                if len(pending) >= _FLUSH_CHARACTERS or now - flushed >= _FLUSH_SECONDS:
                    self._session.emit(AnswerStreamed(pending))
                    pending, flushed = "", now
        except ModelError as error:
            if not has_begun:
                raise
            # What people have begun to read is not begun again.
            raise ModelError(error.message, hint=error.hint, raw=error.raw) from error
        finally:
            if pending:
                self._session.emit(AnswerStreamed(pending))
        if reply is None:
            raise ModelError("the model ended without an answer", hint="Ask again or switch the model.")
        return reply


class Chat:
    """The discovery loop with its guards; `calls` are the tool calls of the session."""

    def __init__(
        self,
        session: Session,
        live: Live,
        *,
        clock: Clock,
        approver: Approver,
        binder: Binder,
        servers: ChatServers,
        inertia: Inertia,
        breakers: Breakers,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        further: Further = nowhere,
    ) -> None:
        """`sleep` waits between the attempts at a call."""
        self.iteration = IterationGuard(live)
        self.redundancy = RedundancyDetector(live)
        watch = LoopWatch(session, self.iteration, clock, live)
        search = SearchTools(
            session, binder, watch, self.redundancy, clock, live, inertia=inertia, further=further
        )
        rejections = Rejections(session, binder, watch, live)
        around = Around(
            session, live, clock, binder, servers, breakers, watch, search, rejections, approver, sleep
        )
        self.calls = chain(around)
        self.dispatcher = Dispatcher(session, binder, search, rejections, self.calls.by_model)
        self.loop = DiscoveryLoop(
            session,
            binder,
            Headroom(session, binder),
            self.dispatcher,
            clock,
            live,
            (self.iteration, self.redundancy),
            servers,
            inertia,
            ModelRetry(session, live, clock, sleep),
        )

"""What happens around a model's tool call, as links like those of `inspector.loop.tool_call`.

From the outside in: `Substitute` lets a similar tool answer for one that is not available, `Restart` brings a
failed server back, `Permit` asks settings and preconditions, `Approve` a person, and `Guard` notices loops.
Inside them are the links that a person's call passes too.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.definition import definition_hash
from inspector.core.error import CircuitOpen, ToolsightError, refusal
from inspector.core.events import ToolSubstituted
from inspector.core.events.call import REFUSED
from inspector.core.message import ToolCall, ToolResult
from inspector.core.ports import Approver, Clock
from inspector.core.session import Binding
from inspector.core.stream import Session
from inspector.core.text import paragraphs
from inspector.core.tool import Tool
from inspector.loop.approval import Approvals
from inspector.loop.binder import Binder
from inspector.loop.fallback import MOST_TRIED, Fallbacks, Substitution
from inspector.loop.iteration_guard import LoopWatch, Outcome
from inspector.loop.rejection import Rejections
from inspector.loop.retry import Retry
from inspector.loop.script_runner import ScriptRunner
from inspector.loop.search_tools import SearchTools
from inspector.loop.session_breakers import Breakers
from inspector.loop.tool_call import (
    Attempt,
    Break,
    Call,
    Record,
    Request,
    Restarts,
    Servers,
    error_text,
    failure_of,
)
from inspector.schema.json_value import JsonObject
from inspector.search.answer.retrieval import Live
from inspector.tokens.manifest import RUN_SCRIPT
from inspector.tokens.synthetic import CODE, SYNTHETIC, Answer


class ModelsRequest(Request):
    """A call of a model; `offered` holds the tools of the request that it answers."""

    offered: Collection[str] = ()


ModelsCall = Callable[[ModelsRequest], Awaitable[Answer]]
"""Makes a call for a model. Raises CircuitOpen and ServerAway, which `Substitute` answers."""


class Chain(Struct, frozen=True):
    """The calls of a session: a person's, and a model's, which are the same with more around them."""

    by_person: Call
    by_model: ModelsCall
    retry: Retry


class Around(Struct, frozen=True):
    """What the links of a session's calls share."""

    session: Session
    live: Live
    clock: Clock
    binder: Binder
    servers: Servers
    breakers: Breakers
    watch: LoopWatch
    search: SearchTools
    rejections: Rejections
    approver: Approver
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


def chain(around: Around) -> Chain:
    """Put the links together, from the server outwards."""
    session, breakers, binder, clock = around.session, around.breakers, around.binder, around.clock
    restarts = Restarts(session, around.servers, breakers, binder.current)
    approvals = Approvals(session, around.approver)
    fallbacks = Fallbacks(session, around.live, binder=binder, breakers=breakers)

    attempt = Attempt(around.servers, breakers, restarts, clock)
    retry = Retry(
        attempt, session, around.live, breakers=breakers, restarts=restarts, clock=clock, sleep=around.sleep
    )
    by_person = Break(Record(retry, session), breakers)

    guard = Guard(by_person, around)
    approve = Approve(guard, around, approvals)
    permit = Permit(approve, around)
    restart = Restart(permit, around, restarts)
    by_model = Substitute(restart, around, fallbacks, approvals, by_person, guard)
    return Chain(by_person, by_model, retry)


@dataclass(eq=False)
class Guard:
    """Counts what calls return; it evicts a tool that goes round in circles only after the call."""

    call: Call
    around: Around

    async def __call__(self, request: ModelsRequest) -> Answer:
        try:
            result = await self.call(request)
        except CircuitOpen:
            raise
        except ToolsightError as error:
            result = ToolResult(f"Error: {error_text(error)}", is_error=True)
            return replace(self.counted(request, result), error=error)
        return self.counted(request, result)

    def counted(self, request: Request, result: ToolResult) -> Answer:
        """The answer to a call that returned that, with guidance if it is a loop."""
        tool, session = request.tool, self.around.session
        state = session.state.tools.get(tool.id)
        outcome = Outcome(
            result.text,
            changes=not result.is_error and not tool.annotations.read_only,
            evictable=state is not None and state.binding is Binding.LOADED,
            can_search=session.state.has_search,
            alternatives=lambda: self.around.search.alternatives(tool.id),
        )
        loop = self.around.watch.note(tool.id, request.call.arguments, outcome)
        if loop is None:
            return Answer(result.text, failed=result.is_error, result=result)
        self.around.binder.context.evict(tool.id, "loop", f"loop guard: {loop.count} equal calls")
        return Answer(result.text, loop.guidance, failed=result.is_error, result=result)


@dataclass(eq=False)
class Approve:
    """Makes a call if the user allows the tool as it is when they have answered, which may take long.

    Nobody is asked about a call that a circuit breaker would refuse.
    """

    call: ModelsCall
    around: Around
    approvals: Approvals

    async def __call__(self, request: ModelsRequest) -> Answer:
        self.around.breakers.check(request.tool)
        while await self.approvals.allows(request.tool, request.call.arguments):
            self.around.servers.catch_up()
            tool, now = request.tool, self.around.binder.current(request.tool.id)
            if now is None:
                return self.around.rejections.missing(request.call)
            request.tool = now
            if now is tool or definition_hash(now) == definition_hash(tool):
                return await self.call(request)
        refused = f"The user refused the call to {request.tool.id}."
        return self.around.rejections.reject(request.call, REFUSED, refused)


@dataclass(eq=False)
class Permit:
    """Rejects a call that settings or preconditions forbid, or of a tool that the model was not offered.

    A tool that was offered can be called even if an earlier call of the same reply unloaded it: the guard
    never blocks (paper, section 7.1).
    """

    call: ModelsCall
    around: Around

    async def __call__(self, request: ModelsRequest) -> Answer:
        call, tool, state = request.call, request.tool, self.around.session.state
        if refused := refusal(state.problems):
            return self.around.rejections.reject(call, "settings", refused, (tool.id,))
        if unmet := self.around.binder.unmet_of(tool.id):
            text = f"{tool.id} cannot be used yet: {'; '.join(unmet)} does not hold."
            return self.around.rejections.reject(call, "precondition not met", text, (tool.id,))
        binding = state.tools[tool.id].binding
        if not binding.is_bound and tool.id not in request.offered:
            return self.around.rejections.unbound(call, tool, binding)
        return await self.call(request)


class ServerAway(ToolsightError):
    """A call's server is away, and did not come back."""


@dataclass(eq=False)
class Restart:
    """Brings a tool's server back if it had failed and only its absence keeps the tool from being called."""

    call: ModelsCall
    around: Around
    restarts: Restarts

    async def __call__(self, request: ModelsRequest) -> Answer:
        away, binder = request.tool, self.around.binder
        if binder.current(away.id) is not None:
            return await self.call(request)
        if not self._could_call(away):
            return self.around.rejections.missing(request.call)
        if not await self.restarts.bring_back(away):
            raise ServerAway(binder.away.absence(away.server))
        self.around.servers.catch_up()
        tool = binder.only(request.call.name)
        if tool is None:
            return self.around.rejections.missing(request.call)
        request.tool = tool
        return await self.call(request)

    def _could_call(self, away: Tool) -> bool:
        state = self.around.session.state
        known = state.known(away.id)
        was_bound = known is not None and known.held_as in (Binding.LOADED, Binding.PINNED)
        return was_bound and not refusal(state.problems) and not self.around.binder.unmet_of(away.id)


@dataclass(eq=False)
class Substitute:
    """Lets another tool answer where the one that was called is not available, and says so.

    A substitute is called as any other tool is: approved, counted, and with events of its own. `substitute`
    calls one that is approved, and `guard` counts it.
    """

    call: ModelsCall
    around: Around
    fallbacks: Fallbacks
    approvals: Approvals
    substitute: Call
    guard: Guard

    async def __call__(self, request: ModelsRequest) -> Answer:
        self.fallbacks.remember(request.tool)
        try:
            answer = await self.call(request)
        except CircuitOpen as error:
            return await self._instead(request, error.message) or await self._refused(request, error)
        except ServerAway as error:
            return await self._instead(request, error.message) or self.around.rejections.missing(request.call)
        if answer.error is None or not (failure := failure_of(answer.error)).is_transient:
            return answer
        done = await self._instead(request, failure.words)
        return (
            replace(done, guidance=paragraphs(done.guidance, answer.guidance)) if done is not None else answer
        )

    async def _refused(self, request: Request, error: CircuitOpen) -> Answer:
        """The answer to a call that a breaker refuses: what could be called."""
        tool = request.tool
        similar = await self.fallbacks.named(tool)
        others = f" Similar tools that work: {', '.join(similar)}." if similar else ""
        text = f"{tool.id} is not called: {error.message}. {error.hint}{others}"
        return self.around.rejections.reject(request.call, "circuit open", text, (tool.id, *similar))

    async def _instead(self, request: Request, why: str) -> Answer | None:
        """The answer of the first substitute that gives one; None if there is none."""
        tool, tried = request.tool, 0
        for one in await self.fallbacks.find(tool, request.call.arguments):
            if tried == MOST_TRIED:
                return None
            if not await self._is_allowed(one):
                continue
            tried += 1
            other = Request(replace(request.call, arguments=one.arguments), one.tool)
            self.around.session.emit(
                ToolSubstituted(
                    call_id=request.call.id,
                    instead_of=tool.id,
                    tool=one.tool.id,
                    mapping=one.mapping,
                    similarity=one.similarity,
                    why=why,
                )
            )
            try:
                result = await self.substitute(other)
            except ToolsightError:
                # Its failure is in the stream; the next one is tried.
                continue
            done = self.guard.counted(other, result)
            return replace(done, text=paragraphs(_note(tool, one, why), done.text))
        return None

    async def _is_allowed(self, one: Substitution) -> bool:
        """Whether the user allows it, and it is still what they allowed."""
        if not await self.approvals.allows(one.tool, one.arguments):
            return False
        now = self.around.binder.current(one.tool.id)
        return now is not None and definition_hash(now) == definition_hash(one.tool)


def _note(tool: Tool, one: Substitution, why: str) -> str:
    """The note to the model before the answer."""
    renamed = {name: other for name, other in one.mapping.items() if name != other}
    given = f", with {', '.join(f'{name} as {other}' for name, other in renamed.items())}" if renamed else ""
    return f"[{tool.id} is not available: {why}. {one.tool.id} answered instead{given}.]"


@dataclass(eq=False)
class Dispatcher:
    """Turns a model's call into the text it reads. Never raises because of what a model or server does."""

    session: Session
    binder: Binder
    meta_tool: SearchTools
    rejections: Rejections
    call: ModelsCall

    @cached_property
    def scripts(self) -> ScriptRunner:
        """Runs scripts, whose calls are dispatched one by one."""
        return ScriptRunner(self.session, self.binder, self.rejections, self.meta_tool.live, self.dispatch)

    def own(self, calls: Sequence[ToolCall]) -> Sequence[Answer | ToolCall]:
        """What each call of a reply comes to: an answer of Toolsight's own tools, or a call to dispatch.

        They are answered before the other calls, all of a tool together, so that no search takes the room of
        another: see `binding.room`.
        """
        done: list[Answer | ToolCall] = list(calls)
        for tool in sorted(SYNTHETIC.values(), key=lambda tool: not tool.forwards):
            left = {n: call for n, call in enumerate(done) if isinstance(call, ToolCall)}
            mine = {n: call for n, call in left.items() if call.name == tool.name and not call.error}
            beside = [call.name for call in left.values() if call.name != tool.name]
            answers = tool.answer(tuple(mine.values()), beside, self) if mine else ()
            for position, answer in zip(mine, answers, strict=True):
                done[position] = answer
        return done

    def search(self, searches: Sequence[JsonObject], beside: Sequence[str]) -> list[Answer]:
        """Run the searches of one reply; `beside` names the other tools that it calls."""
        others = map(self.binder.only, beside)
        return self.meta_tool.execute(searches, {tool.id for tool in others if tool is not None})

    async def dispatch(self, call: ToolCall, offered: Collection[str]) -> Answer:
        """Make a call of a server's tool; `offered` holds the tools of the request that it answers."""
        if call.error:
            text = f"The arguments could not be read: {call.error}"
            return self.rejections.reject(call, "unreadable arguments", text)
        if call.name == RUN_SCRIPT and self.binder.delivery == CODE:
            return await self.scripts.run(call, offered)
        binder = self.binder
        tool = binder.only(call.name) or binder.away.named(call.name, binder.catalog)
        if tool is None:
            return self.rejections.missing(call)
        return await self.call(ModelsRequest(call, tool, offered=offered))

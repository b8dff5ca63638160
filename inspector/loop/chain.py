"""What happens around a model's tool call, as links like those of `inspector.reliability.tool_call`.

From the outside in: `Substitute` lets a similar tool answer for one that is not available, `Restart` brings a
failed server back, `Permit` asks settings and preconditions, `Approve` a person, and `Guard` notices loops.
Inside them are the links that a person's call passes too.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from inspector.core.definition import definition_hash
from inspector.core.error import CircuitOpen, ToolsightError
from inspector.core.events import ToolSubstituted
from inspector.core.message import ToolCall, ToolResult
from inspector.core.ports import Approver, Clock
from inspector.core.session import Binding
from inspector.core.setting_problem import refusal
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.binder import Binder
from inspector.loop.fallback import Fallbacks, Substitution
from inspector.loop.iteration_guard import LoopWatch, Outcome
from inspector.loop.rejection import Answer, Rejections, paragraphs
from inspector.loop.search_tools import SearchTools
from inspector.reliability.approval import Approvals
from inspector.reliability.breaker import failure_of
from inspector.reliability.breaking import Breakers
from inspector.reliability.tool_call import (
    Attempt,
    Break,
    Call,
    Record,
    Request,
    Restarts,
    Retry,
    Servers,
    error_text,
)
from inspector.search.retrieval import Live
from inspector.tokens.manifest import CALL_TOOL


@dataclass(slots=True)
class ModelsRequest(Request):
    """A call of a model; `offered` holds the tools of the request that it answers."""

    offered: Collection[str] = ()


ModelsCall = Callable[[ModelsRequest], Awaitable[Answer]]
"""Makes a call for a model. Never raises because of what a model or server does."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The calls of a session: a person's, and a model's, which are the same with more around them."""

    by_person: Call
    by_model: ModelsCall
    retry: Retry


@dataclass(frozen=True, slots=True)
class Around:
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


class Guard:
    """Counts what calls return; it evicts a tool that goes round in circles only after the call."""

    def __init__(self, call: Call, around: Around) -> None:
        self._call = call
        self._its = around

    async def __call__(self, request: ModelsRequest) -> Answer:
        try:
            result = await self._call(request)
        except CircuitOpen:
            raise
        except ToolsightError as error:
            result = ToolResult(f"Error: {error_text(error)}", is_error=True)
            return replace(self.counted(request, result), failure=failure_of(error))
        return self.counted(request, result)

    def counted(self, request: Request, result: ToolResult) -> Answer:
        """The answer to a call that returned that, with guidance if it is a loop."""
        tool, session = request.tool, self._its.session
        state = session.state.tools.get(tool.id)
        outcome = Outcome(
            result.text,
            changes=not result.is_error and not tool.annotations.read_only,
            evictable=state is not None and state.binding is Binding.LOADED,
            can_search=session.state.has_search,
            alternatives=lambda: self._its.search.alternatives(tool.id),
        )
        loop = self._its.watch.note(tool.id, request.call.arguments, outcome)
        if loop is None:
            return Answer(result.text, failed=result.is_error)
        self._its.binder.context.evict(tool.id, "loop", f"loop guard: {loop.count} equal calls")
        return Answer(result.text, loop.guidance, failed=result.is_error)


class Approve:
    """Makes a call if the user allows the tool as it is when they have answered, which may take long.

    Nobody is asked about a call that a circuit breaker would refuse.
    """

    def __init__(self, call: ModelsCall, around: Around, approvals: Approvals) -> None:
        self._call = call
        self._its = around
        self._approvals = approvals

    async def __call__(self, request: ModelsRequest) -> Answer:
        self._its.breakers.check(request.tool)
        while await self._approvals.allows(request.tool, request.call.arguments):
            self._its.servers.catch_up()
            tool, now = request.tool, self._its.binder.current(request.tool.id)
            if now is None:
                return self._its.rejections.missing(request.call)
            request.tool = now
            if now is tool or definition_hash(now) == definition_hash(tool):
                return await self._call(request)
        refused = f"The user refused the call to {request.tool.id}."
        return self._its.rejections.reject(request.call, "refused", refused)


class Permit:
    """Rejects a call that settings or preconditions forbid, or of a tool that the model was not offered.

    A tool that was offered can be called even if an earlier call of the same reply unloaded it: the guard
    never blocks (paper, section 7.1).
    """

    def __init__(self, call: ModelsCall, around: Around) -> None:
        self._call = call
        self._its = around

    async def __call__(self, request: ModelsRequest) -> Answer:
        call, tool, state = request.call, request.tool, self._its.session.state
        if refused := refusal(state.problems):
            return self._its.rejections.reject(call, "settings", refused, (tool.id,))
        if unmet := self._its.binder.unmet_of(tool.id):
            text = f"{tool.id} cannot be used yet: {'; '.join(unmet)} does not hold."
            return self._its.rejections.reject(call, "precondition not met", text, (tool.id,))
        binding = state.tools[tool.id].binding
        if not binding.is_bound and tool.id not in request.offered:
            return self._its.rejections.unbound(call, tool, binding)
        return await self._call(request)


class ServerAway(ToolsightError):
    """A call's server is away, and did not come back."""


class Restart:
    """Brings a tool's server back if it had failed and only its absence keeps the tool from being called."""

    def __init__(self, call: ModelsCall, around: Around, restarts: Restarts) -> None:
        self._call = call
        self._its = around
        self._restarts = restarts

    async def __call__(self, request: ModelsRequest) -> Answer:
        away, binder = request.tool, self._its.binder
        if binder.current(away.id) is not None:
            return await self._call(request)
        if not self._could_call(away):
            return self._its.rejections.missing(request.call)
        if not await self._restarts.bring_back(away):
            raise ServerAway(binder.away.absence(away.server))
        self._its.servers.catch_up()
        tool = binder.only(request.call.name)
        if tool is None:
            return self._its.rejections.missing(request.call)
        request.tool = tool
        return await self._call(request)

    def _could_call(self, away: Tool) -> bool:
        state = self._its.session.state
        known = state.known(away.id)
        was_bound = known is not None and known.held_as in (Binding.LOADED, Binding.PINNED)
        return was_bound and not refusal(state.problems) and not self._its.binder.unmet_of(away.id)


class Substitute:
    """Lets another tool answer where the one that was called is not available, and says so.

    A substitute is called as any other tool is: approved, counted, and with events of its own.
    """

    def __init__(
        self,
        call: ModelsCall,
        around: Around,
        fallbacks: Fallbacks,
        approvals: Approvals,
        substitute: Call,
        guard: Guard,
    ) -> None:
        """`substitute` calls one that is approved, and `guard` counts it."""
        self._call = call
        self._its = around
        self._fallbacks = fallbacks
        self._approvals = approvals
        self._substitute = substitute
        self._guard = guard

    async def __call__(self, request: ModelsRequest) -> Answer:
        self._fallbacks.remember(request.tool)
        try:
            answer = await self._call(request)
        except CircuitOpen as error:
            return await self._instead(request, error.message) or await self._refused(request, error)
        except ServerAway as error:
            return await self._instead(request, error.message) or self._its.rejections.missing(request.call)
        if answer.failure is None or not answer.failure.is_transient:
            return answer
        done = await self._instead(request, answer.failure.words)
        return (
            replace(done, guidance=paragraphs(done.guidance, answer.guidance)) if done is not None else answer
        )

    async def _refused(self, request: Request, error: CircuitOpen) -> Answer:
        """The answer to a call that a breaker refuses: what could be called."""
        tool = request.tool
        similar = await self._fallbacks.named(tool)
        others = f" Similar tools that work: {', '.join(similar)}." if similar else ""
        text = f"{tool.id} is not called: {error.message}. {error.hint}{others}"
        return self._its.rejections.reject(request.call, "circuit open", text, (tool.id, *similar))

    async def _instead(self, request: Request, why: str) -> Answer | None:
        """The answer of the first substitute that gives one; None if there is none."""
        tool, tried = request.tool, 0
        for one in await self._fallbacks.find(tool, request.call.arguments):
            if tried == self._fallbacks.most:
                return None
            if not await self._is_allowed(one):
                continue
            tried += 1
            other = Request(replace(request.call, arguments=one.arguments), one.tool)
            self._its.session.emit(
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
                result = await self._substitute(other)
            except ToolsightError:
                # Its failure is in the stream; the next one is tried.
                continue
            done = self._guard.counted(other, result)
            return replace(done, text=paragraphs(_note(tool, one, why), done.text))
        return None

    async def _is_allowed(self, one: Substitution) -> bool:
        """Whether the user allows it, and it is still what they allowed."""
        if not await self._approvals.allows(one.tool, one.arguments):
            return False
        now = self._its.binder.current(one.tool.id)
        return now is not None and definition_hash(now) == definition_hash(one.tool)


def _note(tool: Tool, one: Substitution, why: str) -> str:
    """The note to the model before the answer."""
    renamed = {name: other for name, other in one.mapping.items() if name != other}
    given = f", with {', '.join(f'{name} as {other}' for name, other in renamed.items())}" if renamed else ""
    return f"[{tool.id} is not available: {why}. {one.tool.id} answered instead{given}.]"


# `call_tool` is the proxy through which found tools are called where the `tools` array never changes.


def unwrapped(call: ToolCall) -> ToolCall:
    """The call inside a `call_tool` call; models write its arguments as an object, as JSON, or flat."""
    if call.name != CALL_TOOL or call.error:
        return call
    name, given = str(call.arguments.get("name", "")), call.arguments.get("arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except ValueError as error:
            return replace(call, name=name, error=f"{CALL_TOOL}: arguments is not valid JSON: {error}")
    if given is None:
        given = {key: value for key, value in call.arguments.items() if key not in ("name", "arguments")}
    if not isinstance(given, Mapping):
        return replace(call, name=name, error=f"{CALL_TOOL}: arguments must be an object")
    return replace(call, name=name, arguments=given)


class Dispatcher:
    """Turns a model's call into the text it reads. Never raises because of what a model or server does."""

    def __init__(
        self, session: Session, binder: Binder, search: SearchTools, rejections: Rejections, call: ModelsCall
    ) -> None:
        self._session = session
        self._binder = binder
        self._search = search
        self._rejections = rejections
        self._call = call

    def search(self, calls: Sequence[ToolCall]) -> Mapping[int, Answer]:
        """Run the searches among the calls of a reply; return what came of each, by its position.

        They run before the other calls, together, so that none takes the room of another: see `binding.room`.
        """
        calls = [unwrapped(call) for call in calls]
        searches = {
            position: call
            for position, call in enumerate(calls)
            if call.name == self._search.name and not call.error and self._session.state.has_search
        }
        if not searches:
            return {}
        others = [self._binder.only(call.name) for call in calls if call.name != self._search.name]
        done = self._search.execute(
            [call.arguments for call in searches.values()], {tool.id for tool in others if tool is not None}
        )
        return dict(zip(searches, done, strict=True))

    async def dispatch(self, call: ToolCall, offered: Collection[str]) -> Answer:
        """Handle a call that is no search; `offered` holds the tools of the request that it answers."""
        call = unwrapped(call)
        if call.error:
            text = f"The arguments could not be read: {call.error}"
            return self._rejections.reject(call, "unreadable arguments", text)
        binder = self._binder
        tool = binder.only(call.name) or binder.away.named(call.name, binder.catalog)
        if tool is None:
            return self._rejections.missing(call)
        return await self._call(ModelsRequest(call, tool, offered=offered))

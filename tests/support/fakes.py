"""Small stand-ins: a clock, counters of tokens, models that say what they are told, and plans."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from inspector.core.budget import Prices, Tokenizer
from inspector.core.error import ModelError
from inspector.core.message import ModelChunk, ModelReply, ModelRequest, TextDelta, ToolCall
from inspector.core.ports import ApprovalRequest, ChatModel, Decision, LocalModel, PastCall
from inspector.core.settings import Settings
from inspector.core.stream import LiveModel, Session
from inspector.core.tool import Tool
from inspector.loop.model.local import LocalModelServers
from inspector.loop.tool_context import Found, ToolContext
from inspector.mcp.elicitation import DECLINED, ElicitationAnswer, ElicitationRequest
from inspector.schema.schema import PLAIN
from inspector.tokens.accounting import Accounting, LitellmPrices
from inspector.tokens.measure import BudgetMeter
from inspector.tokens.plan import Plan

# Turns of the event loop after which everything in memory has happened that a pause waits for.
_TURNS = 20


class ManualClock:
    """A clock that moves only through `advance`. Starts at `at` seconds since 1970, UTC."""

    def __init__(self, at: float = 1_772_438_400.0) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += seconds

    async def sleep(self, seconds: float) -> None:
        """Advance, and let others work meanwhile."""
        self.advance(seconds)
        for _ in range(_TURNS):
            await asyncio.sleep(0)


class MemoryLocalModels(LocalModelServers):
    """Servers that answer with the given models, one after the other, once `answering` is set."""

    def __init__(self, model: ChatModel, *found: tuple[LocalModel, ...], servers: tuple[str, ...]) -> None:
        super().__init__(())
        self._named = servers
        self.answering = asyncio.Event()
        self.answering.set()
        self.asked = 0
        self.left = 0
        self.opened: list[LocalModel] = []
        self.own: tuple[LocalModel, ...] = ()
        self._model = model
        self._found = found

    @property
    def servers(self) -> tuple[str, ...]:
        return self._named

    async def find(self) -> AsyncGenerator[tuple[LocalModel, ...]]:
        self.asked += 1
        try:
            await self.answering.wait()
            for models in self._found:
                yield models
        finally:
            self.left += 1

    async def at(self, address: str) -> tuple[LocalModel, ...]:
        if not self.own:
            raise ModelError(f"{address} lists no models", hint="")
        return self.own

    def open(self, found: LocalModel) -> ChatModel:
        self.opened.append(found)
        return self._model


class FixedElicitor:
    """An Elicitor that gives the same answer every time, and keeps the questions."""

    def __init__(self, answer: ElicitationAnswer = DECLINED) -> None:
        self.answer = answer
        self.asked: list[ElicitationRequest] = []

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:
        self.asked.append(request)
        return self.answer


class MemoryPrices(LitellmPrices):
    """The given prices, by model name."""

    def __init__(self, *prices: Prices) -> None:
        self._prices = {price.model: price for price in prices}

    def prices(self, model: str) -> Prices | None:
        return self._prices.get(model)


class FixedApprover:
    """Gives the same answer every time, and keeps the requests."""

    def __init__(self, decision: Decision = Decision.ONCE) -> None:
        self.decision = decision
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        return self.decision


Step = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]


class ToldModel:
    """Answers with the given steps in order, thinks when asked to, and keeps what it was sent."""

    name, label, api_base, window, features = "told", "told (a test)", "", 32_000, PLAIN

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        self.requests.append(request)
        if request.think:
            yield says("I think about it.")
            return
        step = self.steps.pop(0) if self.steps else says("nothing left to say")
        if isinstance(step, ModelError):
            yield TextDelta("half an ")
            raise step
        reply = step if isinstance(step, ModelReply) else step(request)
        if reply.text:
            yield TextDelta(reply.text)
        yield reply


def says(text: str) -> ModelReply:
    return ModelReply(text)


def calls(*pairs: tuple[str, Mapping[str, Any]], error: str = "") -> ModelReply:
    requested = tuple(ToolCall(f"c{i}", name, arguments, error) for i, (name, arguments) in enumerate(pairs))
    return ModelReply("", requested, finish_reason="tool_calls")


def searches(**arguments: Any) -> ModelReply:
    return calls(("search_tools", arguments))


class CharacterCounter:
    """One token per character."""

    tokenizer = Tokenizer("characters", exact=True)

    def count(self, text: str) -> int:
        return len(text)

    def lengths(self, text: str) -> Sequence[int]:
        return [len(character.encode("utf-8", "replace")) for character in text]


class WordCounter:
    """One token per word."""

    tokenizer = Tokenizer("words", exact=True)

    def count(self, text: str) -> int:
        return len(text.split())

    def lengths(self, text: str) -> Sequence[int]:
        return [len(word.encode("utf-8", "replace")) for word in text.split()]


def character_accounting(live: LiveModel | None = None, *prices: Prices) -> Accounting:
    """An accounting that counts characters, for a model that says nothing."""
    live = live or LiveModel(Settings(), ToldModel())
    return Accounting(lambda _: CharacterCounter(), MemoryPrices(*prices), live)


def character_meter(window: int = 1000) -> BudgetMeter:
    """A meter that counts characters against a window."""
    return BudgetMeter(CharacterCounter(), lambda: window)


def named_characters(tools: Sequence[Tool]) -> int:
    """The number of characters in the names, for connections, which accept any token count."""
    return sum(len(tool.name) for tool in tools)


_SEARCHED = (2, 7, 12, 17)
_FOUND = 3


def searched_early(plan: Plan) -> Plan:
    """The plan with four searches that take no call and no tokens of their own, before calls 2, 7, 12, 17."""
    drawn = Random(1).sample([tool.id for tool in plan.tools], len(_SEARCHED) * _FOUND)
    found = {call: tuple(drawn[place * _FOUND :][:_FOUND]) for place, call in enumerate(_SEARCHED)}
    calls = (
        replace(call, discovered=found.get(number, ()), seconds=20.0)
        for number, call in enumerate(plan.calls, start=1)
    )
    return replace(plan, calls=tuple(calls))


def find(
    session: Session, context: ToolContext, tool_ids: Sequence[str], reason: str = "a search"
) -> tuple[str, ...]:
    """Bind what a search found, as the meta-tool does; return the tools that are newly bound."""
    before = session.state.load_order
    placement = context.place([Found(tuple(tool_ids), reason)])
    for event in (*placement.loads[0], *placement.evictions):
        session.emit(event)
    return tuple(tool_id for tool_id in session.state.load_order if tool_id not in before)


class Recorded:
    """The calls of earlier sessions; counts how often they are read, and in which thread."""

    def __init__(self, *past: PastCall) -> None:
        self.past = past
        self.reads = 0
        self.thread = ""

    def __call__(self) -> Iterable[PastCall]:
        self.reads += 1
        self.thread = threading.current_thread().name
        return self.past

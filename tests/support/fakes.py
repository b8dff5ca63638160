"""Stand-ins for what a session uses of the outside."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence

from inspector.core.budget import Prices
from inspector.core.ports import ApprovalRequest, ChatModel, Decision, LocalModel
from inspector.core.server import Leftover
from inspector.mcp.elicitation import DECLINED, ElicitationAnswer, ElicitationRequest

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


class MemoryLocalModels:
    """Servers that answer with the given models, one after the other, once `answering` is set."""

    def __init__(self, model: ChatModel, *found: tuple[LocalModel, ...], servers: tuple[str, ...]) -> None:
        self.servers = servers
        self.answering = asyncio.Event()
        self.answering.set()
        self.asked = 0
        self.left = 0
        self.opened: list[LocalModel] = []
        self._model = model
        self._found = found

    async def find(self) -> AsyncGenerator[tuple[LocalModel, ...]]:
        self.asked += 1
        try:
            await self.answering.wait()
            for models in self._found:
                yield models
        finally:
            self.left += 1

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


class MemoryLeftovers:
    """Leftovers that are no processes; `stubborn` ones are not ended."""

    def __init__(self, *left: Leftover, stubborn: Collection[str] = ()) -> None:
        self.left = left
        self.kept: tuple[Leftover, ...] = ()
        self._stubborn = stubborn

    def find(self) -> tuple[Leftover, ...]:
        return tuple(each for each in self.left if each not in self.kept)

    def end(self, chosen: Sequence[Leftover]) -> tuple[Leftover, ...]:
        ids = {each.id for each in chosen}
        self.left = tuple(each for each in self.left if each.id not in ids or each.id in self._stubborn)
        return tuple(each for each in self.left if each.id in ids)

    def keep(self, chosen: Sequence[Leftover]) -> None:
        self.kept += tuple(chosen)


class MemoryPrices:
    """A PriceList of the given prices, by model name."""

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

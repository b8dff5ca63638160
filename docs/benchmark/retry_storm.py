"""Simulates a retry storm: many agents over one server that fails for a minute, with and without protection.

Everything that decides is the program's own (breakers, retries, events, fold); the server, the agents and the
time are made up, so that no figure here is evidence of a real deployment. Run it with
`python -m docs.benchmark.retry_storm`; it takes some four minutes.

The server answers in 0.2 s. It is overloaded when more than CAPACITY calls come within a second, and then
all of them fail. For OUTAGE seconds every call fails. An agent thinks 3 to 6 seconds, calls, and calls the
same again after a failure; a message of its user comes every eighth call.
"""

import asyncio
import random
import selectors
import statistics
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from msgspec import Struct

from docs.benchmark import say
from inspector.config.configuration import Configuration
from inspector.config.setting import with_values
from inspector.core.error import ConnectError, ToolsightError
from inspector.core.events import Record, ServerReady, UserSaid
from inspector.core.message import OnTask, ToolCall, ToolResult
from inspector.core.redaction import Redactor
from inspector.core.server import ServerInfo, ServerSpec
from inspector.core.settings import Settings
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop import retry
from inspector.loop.breaker import BreakerStore, MemoryBreakers
from inspector.loop.retry import Retry
from inspector.loop.session_breakers import Breakers
from inspector.loop.tool_call import Attempt, Break, Record as Recorded, Request, Restarts
from inspector.schema.json_value import JsonObject
from inspector.search.answer.retrieval import Live
from inspector.store.store import MemoryStore
from tests.support.fakes import ToldModel
from tests.support.retrieval import words_only

AGENTS, SEEDS = 100, 5
CAPACITY, TAKES = 60, 0.2
FAILS_AT, OUTAGE, END = 60.0, 60.0, 420.0
TOOL = Tool("backend", "look_up")
_MESSAGE_EVERY = 8
# Recovered: nearly everything succeeds for so many seconds.
_GOOD, _WINDOW = 0.95, 10
_OFTEN: Mapping[str, Any] = {
    "retry.enabled": True,
    "retry.tools": ("*",),
    "retry.attempts": 5,
}
# The constants of a client without a budget, and ours.
_WITHOUT_BUDGET: Mapping[str, Any] = {"_FIRST_PAUSE": 0.1, "_RETRIES_A_TURN": 1_000_000}
_BUDGET = {name: getattr(retry, name) for name in _WITHOUT_BUDGET}
_BOUNDED: Mapping[str, Any] = {"retry.enabled": True, "retry.tools": ("*",)}
_BREAKER: Mapping[str, Any] = {"breaker.enabled": True}
WAYS: Mapping[str, Mapping[str, Any]] = {
    "nothing": {},
    "five attempts, no budget": _OFTEN,
    "retries as by default": _BOUNDED,
    "breaker": _BREAKER,
    "breaker, five attempts": {**_OFTEN, **_BREAKER},
    "breaker, retries as by default": {**_BOUNDED, **_BREAKER},
}


class Jumping(selectors.SelectSelector):
    """A selector that lets time pass instead of waiting for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        self.now += timeout or 0.0
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is the selector's, and a `Clock`."""

    def __init__(self) -> None:
        self._jumping = Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    now = monotonic = time


@dataclass
class Server:
    """What is called: `calls` and `failed` count those of each second."""

    clock: VirtualLoop
    calls: Counter[int] = field(default_factory=Counter)
    failed: Counter[int] = field(default_factory=Counter)
    _recent: deque[float] = field(default_factory=deque)

    async def call(self, _server: str, _tool: str, _arguments: JsonObject, _on_task: OnTask) -> ToolResult:
        now = self.clock.time()
        self.calls[int(now)] += 1
        self._recent.append(now)
        while self._recent[0] <= now - 1:
            self._recent.popleft()
        is_down = FAILS_AT <= now < FAILS_AT + OUTAGE or len(self._recent) > CAPACITY
        await asyncio.sleep(TAKES)
        if is_down:
            self.failed[int(now)] += 1
            raise ConnectError("connection reset")
        return ToolResult("found")

    def catch_up(self) -> None:
        """Nothing changes."""

    async def reconnect(self, _server: str) -> None:
        """It is always connected."""


class Agent:
    """A session that calls one tool for ever."""

    def __init__(
        self,
        number: int,
        server: Server,
        breakers: BreakerStore,
        settings: Settings,
        done: Counter[tuple[int, bool]],
    ) -> None:
        clock = server.clock
        self._clock, self._done = clock, done
        specs = (ServerSpec(TOOL.server, "backend"),)
        live = Live(
            settings=settings,
            model=ToldModel(),
            configuration=Configuration("storm", specs, settings=settings),
            retrieval=words_only(settings.discovery, clock),
        )
        self._session = Session(f"agent-{number}", Forgetful(), clock, Redactor({}))
        self._session.emit(ServerReady(TOOL.server, 1, 1, ServerInfo()))
        kept = Breakers(self._session, breakers, clock, live)
        restarts = Restarts(self._session, server, kept, lambda _: TOOL)
        retry = Retry(
            Attempt(server, kept, restarts, clock),
            self._session,
            live,
            breakers=kept,
            restarts=restarts,
            clock=clock,
            sleep=asyncio.sleep,
        )
        self._call = Break(Recorded(retry, self._session), kept)

    async def work(self, seed: int, number: int) -> None:
        chance = random.Random(seed * 10_000 + number)
        await asyncio.sleep(chance.uniform(0, 6))
        for made in range(1_000_000):
            if made % _MESSAGE_EVERY == 0:
                self._session.emit(UserSaid("go on"))
            ok = True
            try:
                await self._call(Request(ToolCall(f"c{made}", TOOL.name, {}), TOOL))
            except ToolsightError:
                ok = False
            self._done[(int(self._clock.time()), ok)] += 1
            await asyncio.sleep(chance.uniform(3, 6))


class Forgetful(MemoryStore):
    """Keeps no event: only what they add up to is needed."""

    def append(self, record: Record) -> None:
        """Forget it."""


class Storm(Struct, frozen=True):
    """What came of one run; `recovery` is None if the server was still overloaded at the end."""

    reached: int
    most: int
    failed: int
    recovery: float | None


def storm(values: Mapping[str, Any], seed: int) -> Storm:
    """Run it once."""
    random.seed(seed)
    loop = VirtualLoop()
    server, breakers = Server(loop), MemoryBreakers()
    done: Counter[tuple[int, bool]] = Counter()
    settings = with_values(Settings(), values)
    constants = _WITHOUT_BUDGET if values.keys() >= _OFTEN.keys() else _BUDGET

    async def run() -> None:
        agents = [Agent(number, server, breakers, settings, done) for number in range(AGENTS)]
        with suppress(TimeoutError), patch.multiple(retry, **constants):
            async with asyncio.timeout(END):
                await asyncio.gather(*(agent.work(seed, number) for number, agent in enumerate(agents)))

    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(run())
    finally:
        loop.close()
    down = range(int(FAILS_AT), int(FAILS_AT + OUTAGE))
    return Storm(
        reached=sum(server.calls[second] for second in down),
        most=max(server.calls.values()),
        failed=sum(count for (second, ok), count in done.items() if not ok),
        recovery=_recovery(done),
    )


def _recovery(done: Counter[tuple[int, bool]]) -> float | None:
    """Seconds from the server's return until nearly everything succeeds."""
    back = int(FAILS_AT + OUTAGE)
    for second in range(back, int(END) - _WINDOW):
        window = range(second, second + _WINDOW)
        good, bad = (sum(done[(at, ok)] for at in window) for ok in (True, False))
        if good and good / (good + bad) >= _GOOD:
            return second - back
    return None


def main() -> None:
    say(f"Simulated: {AGENTS} agents, an outage of {OUTAGE:.0f} s, {SEEDS} runs each; the middle of them\n")
    say("| with | calls in the outage | most in a second | failed calls of agents | recovered after |")
    say("|---|--:|--:|--:|--:|")
    for name, values in WAYS.items():
        runs = [storm(values, seed) for seed in range(SEEDS)]
        say(
            f"| {name} | {_middle(runs, lambda run: run.reached)} | {_middle(runs, lambda run: run.most)} "
            f"| {_middle(runs, lambda run: run.failed)} | {_recovered(runs)} |"
        )


def _middle(runs: Sequence[Storm], value: Callable[[Storm], int]) -> str:
    values = sorted(map(value, runs))
    return f"{statistics.median(values):,.0f} ({values[0]:,} to {values[-1]:,})"


def _recovered(runs: Sequence[Storm]) -> str:
    times = [run.recovery for run in runs if run.recovery is not None]
    if not times:
        return f"never in {END - FAILS_AT - OUTAGE:.0f} s"
    some = f", {len(times)} of {len(runs)} runs" if len(times) < len(runs) else ""
    return f"{statistics.median(times):.0f} s ({min(times):.0f} to {max(times):.0f}){some}"


if __name__ == "__main__":
    main()

"""Circuit breakers in a session: what keeps failing is left alone, and tried again later."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from inspector.core.error import CallTimeout, ConnectError, StoreError, ToolsightError
from inspector.core.events import Decision
from inspector.core.message import ToolResult
from inspector.core.server import ServerPhase
from inspector.core.tool import Annotations, Tool
from inspector.loop import breaker
from inspector.loop.breaker import Breaker, BreakerKey, MemoryBreakers
from inspector.schema.json_value import JsonObject
from tests.support.fakes import FixedApprover, calls, searches
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import READS, Rig, connected, happens, opened, shop_and_weather

ON: Mapping[str, Any] = {"breaker.enabled": True, "guard.enabled": False}
EVALUATE = ("calc__evaluate", {"of": "1"})


@pytest.fixture(autouse=True)
def _opens_at_the_second_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker, "MIN_CALLS", 2)


class Moody:
    """Answers each call with the next of what it was given, and then always with the last."""

    def __init__(self, *answers: ToolsightError | ToolResult) -> None:
        self.answers = list(answers)

    async def __call__(self, _tool: str, _arguments: JsonObject) -> ToolResult:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ToolsightError):
            raise answer
        return answer


def calc(*answers: ToolsightError | ToolResult, claims: Annotations = READS) -> dict[str, MemoryServer]:
    """The usual servers, where the tool of calc answers like this."""
    tool = Tool("calc", "evaluate", "Evaluate an expression.", annotations=claims)
    return {**shop_and_weather(), "calc": MemoryServer([tool], answer=Moody(*answers))}


class Locked(MemoryBreakers):
    """Breakers in a database that another program locks, once `is_locked`."""

    is_locked = False

    def get(self, key: BreakerKey) -> Breaker:
        if self.is_locked:
            raise StoreError("toolsight.db cannot be read: database is locked")
        return super().get(key)

    def update(self, key: BreakerKey, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        if self.is_locked:
            raise StoreError("toolsight.db cannot be written: database is locked")
        return super().update(key, change)


def states(rig: Rig) -> list[tuple[str, str]]:
    """Each change of a breaker: whose, and its state after."""
    return [(event.name, str(event.after)) for event in rig.events("breaker")]


SLOW = CallTimeout("evaluate did not return within 60 s")
FINE = ToolResult("3")


async def test_a_tool_that_keeps_failing_is_refused_at_once_with_the_reason_and_the_time() -> None:
    async with connected(*[calls(EVALUATE)] * 3, servers=calc(SLOW), values=ON) as rig:
        await rig.bench.chat("go")
        assert len(rig.servers["calc"].calls) == 2
        (rejected,) = rig.events("reject")
        assert rejected.reason == "circuit open"
        assert "2 of 2 calls failed, the last: timed out; it may have run" in rejected.text
        assert "may be called again in 30 s" in rejected.text
        assert rejected.text in rig.results[-1]


async def test_sessions_share_what_they_learn() -> None:
    shared = MemoryBreakers()
    async with connected(*[calls(EVALUATE)] * 2, servers=calc(SLOW), values=ON, breakers=shared) as first:
        await first.bench.chat("go")
        async with connected(calls(EVALUATE), servers=calc(FINE), values=ON, breakers=shared) as second:
            await second.bench.chat("go")
            assert not second.servers["calc"].calls
            assert states(second) == [("calc", "open")]
            assert second.events("reject")[0].reason == "circuit open"


async def test_a_person_is_never_refused() -> None:
    async with connected(*[calls(EVALUATE)] * 2, servers=calc(SLOW, SLOW, FINE), values=ON) as rig:
        await rig.bench.chat("go")
        assert (await rig.bench.call("calc:evaluate", {})).text == "3"


FORECAST = calls(("weather__get_forecast", {"city": "Oslo"}))


@asynccontextmanager
async def with_a_forecast() -> AsyncGenerator[Rig, None]:
    """A session that has found the tool of the server weather."""
    async with connected(searches(tool_names=["get_forecast"]), values=ON) as rig:
        await rig.bench.chat("go")
        yield rig


async def die(rig: Rig) -> None:
    """End the server weather, and wait until the session knows."""
    rig.servers["weather"].die()
    if rig.bench.state.servers["weather"].phase is not ServerPhase.FAILED:
        await happens(rig.bench, "failed")


async def test_a_failed_server_is_started_again_when_its_tool_is_called() -> None:
    async with with_a_forecast() as rig:
        await die(rig)
        rig.model.steps = [FORECAST]
        await rig.bench.chat("go on")
        assert rig.servers["weather"].calls == [("get_forecast", {"city": "Oslo"})]
        assert not rig.events("reject")
        # The start is no call that was answered.
        assert [len(one.calls) for one in rig.breakers.every().values() if one.name == "weather"] == [1]


async def test_a_server_that_cannot_be_started_is_left_alone_after_some_attempts() -> None:
    async with with_a_forecast() as rig:
        rig.servers["weather"].fault = ConnectError("exit code 1")
        await die(rig)
        rig.model.steps = [FORECAST] * 4
        await rig.bench.chat("go on")
        assert [event.reason for event in rig.events("reject")] == ["server away"] * 2 + ["circuit open"] * 2
        assert len(rig.servers["weather"].eras) == 1 + 2


async def test_a_server_that_a_person_stopped_stays_stopped() -> None:
    async with with_a_forecast() as rig:
        await rig.bench.stop("weather")
        rig.model.steps = [FORECAST]
        await rig.bench.chat("go on")
        assert rig.bench.state.servers["weather"].phase is ServerPhase.STOPPED
        assert rig.events("reject")[-1].reason == "server away"


async def test_nobody_is_asked_about_a_call_that_a_breaker_refuses() -> None:
    approver, servers = FixedApprover(Decision.ONCE), calc(SLOW)
    servers["calc"].tools = (Tool("calc", "evaluate", "E.", annotations=Annotations(read_only=False)),)
    async with opened(servers=servers, approver=approver, values=ON) as rig:
        rig.bench.connect()
        await rig.bench.wait_connected()
        rig.model.steps = [calls(EVALUATE)] * 3
        await rig.bench.chat("go")
        assert len(servers["calc"].calls) == len(approver.asked) == 2
        assert [event.reason for event in rig.events("reject")] == ["circuit open"]
        # Having asked the breaker, nobody has taken the place of the call that tries it.
        rig.clock.advance(30)
        rig.model.steps = [calls(EVALUATE)]
        await rig.bench.chat("go on")
        assert len(servers["calc"].calls) == 3


async def test_a_store_that_fails_never_replaces_a_result_and_is_told_once() -> None:
    store, servers = Locked(), calc(FINE)

    async def done(_tool: str, _arguments: JsonObject) -> ToolResult:
        store.is_locked = True
        return ToolResult("refunded")

    servers["calc"].answer = done
    values = {**ON, "retry.enabled": True}
    async with connected(*[calls(EVALUATE)] * 2, servers=servers, values=values, breakers=store) as rig:
        await rig.bench.chat("go")
        assert rig.results == ["refunded"] * 2
        assert [result.ok for result in rig.events("result")] == [True, True]
        assert len(servers["calc"].calls) == 2
        assert [event.where for event in rig.events("error")] == ["circuit breakers"]

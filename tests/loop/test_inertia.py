"""What a session predicts of the next call, and what it binds before anybody asks for it."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from threading import Event as Signal
from typing import Any

import pytest

from inspector.core.error import FailureKind
from inspector.core.events import CallFinished, CallStarted, Event, Record, UserSaid
from inspector.core.ports import OWN_PERSONA, TaskCalls
from inspector.loop import breaker, inertia
from inspector.store.store import MemoryStore
from tests.support.fakes import ManualClock, Step, calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import Rig, connected

LIST, REFUND, FORECAST = "shop:list_orders", "shop:refund_order", "weather:get_forecast"
ON: Mapping[str, Any] = {"inertia.warm_up": 3, "inertia.preload": "with_search"}
SEARCH = searches(query="list orders by status", limit=1)
ORDERS = calls(("shop__list_orders", {}))
WEATHER = calls(("weather__get_forecast", {"city": "Oslo"}))


def recorded(*tasks: Sequence[str], days_ago: float = 1) -> MemoryStore:
    """A store with one earlier session, in which these tools were called for one message after another."""
    began = ManualClock().now() - days_ago * 86_400
    events: list[Event] = []
    for task in tasks:
        events.append(UserSaid("go"))
        for tool in task:
            events += [
                CallStarted(f"c{len(events)}", tool, {}),
                CallFinished(f"c{len(events)}", tool, True, ""),
            ]
    store = MemoryStore()
    store.append_all(
        [Record("earlier", seq, began + seq, event) for seq, event in enumerate(events, start=1)]
    )
    return store


HABIT = ([LIST, FORECAST], [LIST, FORECAST], [LIST, FORECAST], [LIST, REFUND])


async def asked(
    *steps: Step,
    tasks: Sequence[Sequence[str]] = HABIT,
    values: Mapping[str, Any] | None = None,
    servers: Mapping[str, MemoryServer] | None = None,
    toolset: str = "",
) -> Rig:
    """The rig after one question."""
    own = {"discovery.max_search_results": 1, **ON, **(values or {})}
    store = recorded(*tasks)
    async with connected(*steps, values=own, store=store, servers=servers, toolset=toolset) as rig:
        await rig.bench.chat("go")
        return rig


def ahead(rig: Rig) -> list[str]:
    return [event.tool for event in rig.events("load") if event.cause == "inertia"]


async def test_what_follows_a_found_tool_is_bound_with_it_and_called_without_a_search() -> None:
    rig = await asked(SEARCH, ORDERS, WEATHER, says("done"))
    assert rig.loaded == [LIST, FORECAST]
    assert [event.tool for event in rig.events("result")] == [LIST, FORECAST]
    assert rig.bench.state.searches == 1
    (load,) = [event for event in rig.events("load") if event.cause == "inertia"]
    assert load.reason == f"follows {LIST}: 75 %, at least 30 %"


async def test_nothing_is_predicted_before_enough_was_seen() -> None:
    rig = await asked(SEARCH, ORDERS, says("done"), values={"inertia.warm_up": 6})
    assert not rig.events("predict")
    assert not ahead(rig)


async def test_what_was_seen_too_seldom_is_not_bound_however_large_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    once, four = ([[LIST, FORECAST]] * times for times in (1, 4))
    steps, eager = (SEARCH, ORDERS, says("done")), {"inertia.warm_up": 0}
    assert ahead(await asked(*steps, tasks=once, values=eager)) == [FORECAST]
    monkeypatch.setattr(inertia, "MIN_LOW", 0.25)
    assert not ahead(await asked(*steps, tasks=once, values=eager))
    assert ahead(await asked(*steps, tasks=four, values=eager)) == [FORECAST]


async def test_a_tool_outside_the_toolset_is_never_bound_ahead() -> None:
    rig = await asked(says("done"), toolset="sums")
    assert FORECAST not in rig.bench.state.tools
    rig = await asked(SEARCH, ORDERS, says("done"), tasks=[[LIST, "shop:gone"]] * 4)
    assert not ahead(rig)


async def test_a_tool_whose_precondition_does_not_hold_is_not_bound_ahead() -> None:
    closed = {"access.preconditions": {FORECAST: ("milestone_reached('planned')",)}}
    assert not ahead(await asked(SEARCH, ORDERS, says("done"), values=closed))


@pytest.mark.parametrize(("seconds", "expected"), [(0, []), (30, [FORECAST])])
async def test_a_tool_whose_breaker_is_open_is_not_bound_ahead_until_its_cool_down_has_ended(
    seconds: float, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "MIN_CALLS", 1)
    values = {**ON, "breaker.enabled": True}
    async with connected(SEARCH, says("done"), values=values, store=recorded(*HABIT)) as rig:
        breakers = rig.bench._parts.breakers
        breakers.note(breakers.admit(rig.bench.catalog.require(FORECAST)), FailureKind.TIMEOUT)
        rig.clock.advance(seconds)
        await rig.bench.chat("go")
        assert ahead(rig) == expected


@pytest.mark.parametrize(
    "values",
    [*({"binding.delivery": one} for one in ("call_tool", "text", "code")), {"binding.policy": "gate"}],
)
async def test_where_the_model_does_not_read_the_array_nothing_is_bound_ahead(
    values: Mapping[str, Any],
) -> None:
    own = {**values, "gate.threshold": -1.0, "gate.top_k": 1}
    rig = await asked(SEARCH, ORDERS, says("done"), values=own, tasks=[[LIST, FORECAST]] * 9)
    assert not ahead(rig)


async def test_a_seed_file_that_cannot_be_read_is_told_and_the_turn_goes_on() -> None:
    rig = await asked(SEARCH, says("done"), values={"inertia.seed": "missing.yaml"})
    (failed,) = rig.events("error")
    assert failed.where == "inertia"
    assert rig.events("end")[0].outcome == "answered"


async def test_a_session_that_closes_does_not_wait_for_the_rest_of_what_was_recorded() -> None:
    begun, go_on, read = Signal(), Signal(), 0

    def tasks() -> Iterator[TaskCalls]:
        nonlocal read
        while read < 100:
            read += 1
            yield TaskCalls(OWN_PERSONA, ((LIST, 0.0),))
            begun.set()
            go_on.wait(10)

    async with connected(values=ON) as rig:
        inertia = rig.bench._parts.inertia
        inertia._tasks = tasks
        reading = asyncio.create_task(asyncio.to_thread(inertia._known, OWN_PERSONA, ""))
        await asyncio.to_thread(begun.wait, 10)
        inertia.close()
        go_on.set()
        await reading
    assert read == 2

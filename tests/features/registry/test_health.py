"""What is known of a registered tool's health, and who may know it."""

import itertools
from functools import partial

import pytest

from inspector.core.access import EVERYTHING, NOTHING
from inspector.core.error import BreakerState
from inspector.core.ports import ToolOutcomes
from inspector.features.registry.facts import Health, HealthState, ToolHealth, health_of
from inspector.loop.breaker import Breaker

OPEN, HALF, CLOSED = BreakerState.OPEN, BreakerState.HALF_OPEN, BreakerState.CLOSED
CALLED = {"shop:list": ToolOutcomes(4, 2, 9.0), "shop:get": ToolOutcomes(5, 2, 8.0)}


@pytest.mark.parametrize(
    ("health", "state"),
    [
        (ToolHealth(), HealthState.UNCALLED),
        (ToolHealth(3, 1), HealthState.WORKS),
        (ToolHealth(2, 1), HealthState.FAILING),
        (ToolHealth(1, 1), HealthState.FAILING),
        (ToolHealth(9, 0, breaker=HALF), HealthState.WORKS),
        (ToolHealth(9, 0, breaker=OPEN), HealthState.BLOCKED),
        (ToolHealth(breaker=OPEN), HealthState.BLOCKED),
    ],
)
def test_a_tool_fails_from_half_its_calls_on_and_is_blocked_by_an_open_breaker(
    health: ToolHealth, state: HealthState
) -> None:
    assert health.state is state


def test_a_servers_breaker_stands_before_all_its_tools() -> None:
    health = Health(CALLED, {"shop": HALF, "shop:get": OPEN})
    assert health.of("shop:list") == ToolHealth(4, 2, 9.0, HALF)
    assert health.of("shop:get").breaker is OPEN
    assert health.of("mail:send") == ToolHealth()


def test_of_two_breakers_of_one_name_the_stricter_one_counts() -> None:
    for states in itertools.permutations((OPEN, CLOSED, HALF)):
        breakers = tuple(Breaker("shop:list", state) for state in states)
        found = health_of(lambda: CALLED, partial(tuple, breakers))(EVERYTHING)
        assert found is not None
        assert found.of("shop:list").breaker is OPEN


def test_who_may_not_see_everything_reads_nothing_of_other_peoples_calls() -> None:
    def never() -> dict[str, ToolOutcomes]:
        raise AssertionError("the calls of all users were read")

    assert health_of(never, lambda: ())(NOTHING) is None

"""What is known of a registered tool's health: its recorded calls, and circuit breakers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from inspector.core.access import Sight
from inspector.core.error import BreakerState
from inspector.core.ports import ToolOutcomes
from inspector.loop.breaker import Breaker


class HealthState(StrEnum):
    """FAILING: at least half of the recorded calls failed; BLOCKED: a circuit breaker refuses calls."""

    WORKS = "works"
    FAILING = "failing"
    BLOCKED = "blocked"
    UNCALLED = "not called"


_WORST = (BreakerState.OPEN, BreakerState.HALF_OPEN)


@dataclass(frozen=True, slots=True)
class ToolHealth:
    """The calls of one tool in all recorded sessions, and the breaker in front of it.

    `failed` counts every call without a result, the tool's own errors too. `last_call` is in seconds since
    1970, None without a call. `breaker` is the state of the tool's or its server's, whichever lets less
    through.
    """

    calls: int = 0
    failed: int = 0
    last_call: float | None = None
    breaker: BreakerState = BreakerState.CLOSED

    @property
    def state(self) -> HealthState:
        if self.breaker is BreakerState.OPEN:
            return HealthState.BLOCKED
        if not self.calls:
            return HealthState.UNCALLED
        return HealthState.FAILING if 2 * self.failed >= self.calls else HealthState.WORKS

    @property
    def words(self) -> str:
        """The state, and how many calls failed if any did."""
        return f"{self.state}, {self.failed:,} of {self.calls:,} failed" if self.failed else self.state


@dataclass(frozen=True, slots=True)
class Health:
    """The health of every tool by its id; `breakers` are the states of breakers by name."""

    outcomes: Mapping[str, ToolOutcomes] = field(default_factory=dict)
    breakers: Mapping[str, BreakerState] = field(default_factory=dict)

    def of(self, tool_id: str) -> ToolHealth:
        """The health of a tool, called or not."""
        done = self.outcomes.get(tool_id, ToolOutcomes())
        states = {self.breakers.get(name) for name in (tool_id, tool_id.partition(":")[0])}
        breaker = next((state for state in _WORST if state in states), BreakerState.CLOSED)
        return ToolHealth(done.calls, done.failed, done.last or None, breaker)


HealthOf = Callable[[Sight], Health | None]
"""Reads the health of tools; None for who may not see everything. Raises StoreError."""


def health_of(
    outcomes: Callable[[], Mapping[str, ToolOutcomes]], breakers: Callable[[], Iterable[Breaker]]
) -> HealthOf:
    """Reads it from the recorded calls and the breakers, which are those of all users."""

    def read(sight: Sight) -> Health | None:
        if not sight.is_whole:
            return None
        states: dict[str, BreakerState] = {}
        for one in breakers():
            both = {one.state, states.get(one.name)}
            states[one.name] = next((state for state in _WORST if state in both), BreakerState.CLOSED)
        return Health(outcomes(), states)

    return read

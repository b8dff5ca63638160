"""What keeps a session going while tools fail needs of the outside, as protocols."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from inspector.core.breaker import Breaker, BreakerKey
from inspector.core.error import ToolsightError
from inspector.core.message import ToolResult
from inspector.schema.json_value import JsonObject


class BreakerStore(Protocol):
    """Circuit breakers that every session on this machine shares. Each method raises StoreError.

    A key that was never updated has a breaker that is closed, `Breaker()`.
    """

    def get(self, key: BreakerKey) -> Breaker:
        """The breaker as it is now, whoever changed it last."""

    def update(self, key: BreakerKey, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Change it so that no other change comes in between; return it as it was and as it is.

        `change` must be pure: a store that finds that another process was faster calls it once more.
        """

    def every(self) -> Mapping[BreakerKey, Breaker]:
        """All breakers that were ever updated."""


class NoBreakers:
    """A BreakerStore that keeps nothing: every breaker is closed."""

    def get(self, key: BreakerKey) -> Breaker:  # noqa: ARG002
        """A closed one."""
        return Breaker()

    def update(self, key: BreakerKey, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:  # noqa: ARG002
        """Change one that is forgotten at once."""
        return Breaker(), change(Breaker())

    def every(self) -> Mapping[BreakerKey, Breaker]:
        """None."""
        return {}


class RetryPlan(Protocol):
    """What bounds the attempts at one call."""

    @property
    def attempts(self) -> int:
        """How many there are at most, the first included."""

    @property
    def pause(self) -> float:
        """The seconds before the second; it doubles each time, with up to as much again at random."""

    def wants(self, error: ToolsightError) -> bool:
        """Whether another attempt may help after that error, and is allowed."""

    def fits(self, pause: float) -> bool:
        """Whether there is time and budget for an attempt after that many seconds."""

    def told(self, attempt: int, error: ToolsightError, pause: float) -> None:
        """Attempt number `attempt` failed; the next one comes after the pause."""


class Retrier(Protocol):
    """Repeats what failed."""

    async def run(self, attempt: Callable[[], Awaitable[ToolResult]], plan: RetryPlan) -> ToolResult:
        """Make attempts until one succeeds or the plan ends, with pauses that a cancellation ends.

        A pause is never shorter than the `retry_after` of the error before it. Raises the last error.
        """


class Once:
    """A Retrier that repeats nothing."""

    async def run(self, attempt: Callable[[], Awaitable[ToolResult]], plan: RetryPlan) -> ToolResult:  # noqa: ARG002
        """Make the only attempt."""
        return await attempt()


class SchemaCheck(Protocol):
    """Checks arguments against a JSON Schema, which may be hostile."""

    def problem(self, schema: JsonObject, arguments: JsonObject) -> str:
        """What the schema objects to, or why it cannot be checked; "" for arguments that it accepts."""


class NoSchemaCheck:
    """A SchemaCheck that accepts nothing."""

    def problem(self, schema: JsonObject, arguments: JsonObject) -> str:  # noqa: ARG002
        """It cannot be checked."""
        return "nothing is checked here"


@dataclass(frozen=True, slots=True)
class ReliabilityPorts:
    """The adapters for all of it; without any, nothing is refused, repeated or substituted."""

    breakers: BreakerStore = NoBreakers()
    retrier: Retrier = Once()
    schemas: SchemaCheck = NoSchemaCheck()

"""What keeps a session going while tools fail needs of the outside, as protocols."""

from collections.abc import Callable, Mapping
from typing import Protocol

from inspector.domain.breaker import Breaker, BreakerKey


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

"""Circuit breakers in memory: shared by the sessions of one process, gone with it."""

from collections.abc import Callable, Mapping

from inspector.core.breaker import Breaker, BreakerKey


class MemoryBreakers:
    """See `BreakerStore`."""

    def __init__(self) -> None:
        self._breakers: dict[BreakerKey, Breaker] = {}

    def get(self, key: BreakerKey) -> Breaker:
        """The breaker as it is now."""
        return self._breakers.get(key, Breaker())

    def update(self, key: BreakerKey, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Change it; return it as it was and as it is."""
        before = self.get(key)
        after = self._breakers[key] = change(before)
        return before, after

    def every(self) -> Mapping[BreakerKey, Breaker]:
        """All breakers that were ever updated."""
        return dict(self._breakers)

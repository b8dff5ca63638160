"""The registry in somebody else's database of PostgreSQL: read as it is, and never migrated."""

from collections.abc import Sequence
from math import ceil

from inspector.adapters.postgres.registry import PostgresRegistry
from inspector.domain.access import EVERYTHING, Sight
from inspector.domain.registered_tool import Neighbour


class PostgresPeer:
    """A `PeerRegistry` at an address. Connecting and each statement may take so many `seconds`."""

    def __init__(self, url: str, *, seconds: float) -> None:
        """Nothing is connected yet."""
        limit = f"SET statement_timeout = {max(1, round(seconds * 1000))}"
        # libpq takes whole seconds, and at least two.
        timeout = max(2, ceil(seconds))
        self._registry = PostgresRegistry(url, timeout=timeout, read_only=True, settings=limit)

    def count(self, sight: Sight = EVERYTHING) -> int:
        """See `ToolRegistry`."""
        return self._registry.count(sight)

    def embedded(self, model: str, sight: Sight = EVERYTHING) -> int:
        """See `ToolRegistry`."""
        return self._registry.embedded(model, sight)

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        count: int,
        sight: Sight = EVERYTHING,
        *,
        floor: float = -1.0,
    ) -> tuple[Neighbour, ...]:
        """See `ToolRegistry`."""
        return self._registry.nearest(model, vector, count, sight, floor=floor)

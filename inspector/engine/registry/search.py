"""Searches in a registry by meaning (semantic discovery, section 4.3)."""

from collections.abc import Callable, Sequence

from inspector.domain.access import EVERYTHING, Sight
from inspector.domain.registered_tool import Neighbour
from inspector.domain.tool import Tool
from inspector.engine.discovery.document import MAX_EMBEDDED
from inspector.engine.embedding_ports import Embedder
from inspector.engine.registry.port import ToolRegistry


def search_registry(
    registry: ToolRegistry,
    embedder: Embedder,
    query: str,
    *,
    limit: int,
    floor: float = -1.0,
    sight: Sight = EVERYTHING,
) -> tuple[Neighbour, ...]:
    """The tools whose name and description are nearest to the query. Raises ModelError or StoreError."""
    vector = embedder.embed([query[:MAX_EMBEDDED]])[0]
    return registry.nearest(embedder.name, vector, limit, sight, floor=floor)


def beyond(
    registry: ToolRegistry,
    model: str,
    vector: Sequence[float],
    wanted: Callable[[Tool], bool],
    *,
    limit: int,
    floor: float,
    sight: Sight = EVERYTHING,
) -> tuple[Neighbour, ...]:
    """The `limit` nearest tools among the wanted ones. Raises StoreError."""
    asked = 2 * limit
    while True:
        near = registry.nearest(model, vector, asked, sight, floor=floor)
        found = [one for one in near if wanted(one.found.tool)]
        if len(found) >= limit or len(near) < asked:
            return tuple(found[:limit])
        asked *= 4

"""Searches in a registry by meaning (semantic discovery, section 4.3)."""

from collections.abc import Collection, Sequence

from inspector.domain.access import EVERYTHING, Sight
from inspector.domain.registered_tool import Neighbour
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


def not_offered(
    registry: ToolRegistry,
    model: str,
    vector: Sequence[float],
    *,
    offered: Collection[str],
    limit: int,
    floor: float,
    sight: Sight = EVERYTHING,
) -> tuple[Neighbour, ...]:
    """The `limit` nearest tools that are not among the `offered` ids. Raises StoreError."""
    asked = 2 * limit
    while True:
        near = registry.nearest(model, vector, asked, sight, floor=floor)
        others = [one for one in near if one.found.tool.id not in offered]
        if len(others) >= limit or len(near) < asked:
            return tuple(others[:limit])
        asked *= 4

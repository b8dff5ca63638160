"""Searches in a registry by meaning (semantic discovery, section 4.3)."""

from collections.abc import Callable, Sequence

from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import StoreError
from inspector.core.registered_tool import Neighbour
from inspector.core.tool import Tool
from inspector.search.document import MAX_EMBEDDED
from inspector.search.ports import Embedder
from inspector.search.registry_port import ToolRegistry


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
    return nearest_in(registry, embedder.name, vector, limit, sight, floor=floor)


def nearest_in(
    registry: ToolRegistry,
    model: str,
    vector: Sequence[float],
    limit: int,
    sight: Sight = EVERYTHING,
    *,
    floor: float = -1.0,
) -> tuple[Neighbour, ...]:
    """See `ToolRegistry.nearest`. Raises StoreError, also if no vector has as many dimensions."""
    near = registry.nearest(model, vector, limit, sight, floor=floor)
    if near or not registry.embedded(model, sight):
        return near
    # Rounding may take the cosine of opposite vectors below -1.
    if not registry.nearest(model, vector, 1, sight, floor=-2.0):
        raise StoreError(
            f"the query has {len(vector)} dimensions, but none of the registry's {model} vectors do",
            hint="Run `toolsight registry --embed` to embed its tools again. Until then, searches miss them.",
        )
    return near


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
        near = nearest_in(registry, model, vector, asked, sight, floor=floor)
        found = [one for one in near if wanted(one.found.tool)]
        if len(found) >= limit or len(near) < asked:
            return tuple(found[:limit])
        asked *= 4

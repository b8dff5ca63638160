"""Which tools are most like another one, by the vectors of the search index, or by words without any."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.engine.discovery.index import ToolIndex


def similar_tools(index: "ToolIndex", tool_id: str, *, least: float) -> Sequence[tuple[str, float]]:
    """The other tools with their similarity to this one (0 to 1), closest first, down to `least`.

    It is the cosine of their summaries, or the weighted Jaccard index of their words where one has no vector.
    """
    from inspector.engine.discovery.explanation.closeness import Closeness

    position = index.position.get(tool_id)
    if position is None:
        return ()
    closeness = Closeness(index)
    cosines = closeness.cosines(slice(position, position + 1), slice(None))[0]
    found: list[tuple[str, float]] = []
    for other, cosine in enumerate(cosines.tolist()):
        if other == position:
            continue
        # NaN equals nothing, not even itself.
        similarity = min(max(cosine, 0.0), 1.0) if cosine == cosine else closeness.jaccard(position, other)
        if similarity >= least:
            found.append((index.tools[other].id, similarity))
    return sorted(found, key=lambda pair: -pair[1])

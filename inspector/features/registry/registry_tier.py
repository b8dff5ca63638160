"""The registry behind a search: the third tier beyond the connected servers (section 4.3).

What it finds is told with the results, apart from them: it can be neither loaded nor called, as its server is
not connected.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import StoreError, ToolsightError
from inspector.core.ranking import Unconnected
from inspector.core.tool import Tool
from inspector.search.answer.answer_text import unconnected_text
from inspector.search.index.ports import Embedder, Neighbour, ToolRegistry

if TYPE_CHECKING:
    from inspector.search.answer.answer_text import SearchAnswer
    from inspector.search.index.semantics import Semantics


class RegistryTier:
    """Adds to an answer the tools of a registry that no server of the configuration has."""

    def __init__(
        self,
        opened: "Callable[[], ToolRegistry]",
        configured: Callable[[], Collection[str]],
        permits: Callable[[Tool], bool],
        sight: Callable[[], Sight] = lambda: EVERYTHING,
    ) -> None:
        """`configured` names the session's servers as they are: their tools are searched there or not at all.

        `permits` is the toolset: what it leaves out cannot be found here either.
        """
        self._opened = opened
        self._configured = configured
        self._permits = permits
        self._sight = sight

    def added(
        self, answer: "SearchAnswer", semantics: "Semantics", *, limit: int, floor: float
    ) -> "SearchAnswer":
        """The answer with at most `limit` such tools whose cosine reaches `floor`; a failure is a note."""

        report = answer.report
        # Of tools with the same name those of later tiers are left out (section 4.4).
        names, configured = {hit.tool_id.rpartition(":")[2] for hit in report.results}, self._configured()

        def wanted(tool: Tool) -> bool:
            return tool.server not in configured and tool.name not in names and self._permits(tool)

        try:
            vector = semantics.query(report.request.query).tolist()
            registry, sight = self._opened(), self._sight()
            near = beyond(registry, semantics.model, vector, wanted, limit=limit, floor=floor, sight=sight)
        except ToolsightError as error:
            note = f"the registry was not searched: {error.message}"
            return replace(answer, report=replace(report, note="; ".join(filter(None, (report.note, note)))))
        if not near:
            return answer
        found = tuple(
            Unconnected(one.found.tool.id, one.found.tool.description, one.found.origin, one.similarity)
            for one in near
        )
        told = unconnected_text([one.found.tool for one in near])
        text, missing = ("\n\n".join(filter(None, (part, told))) for part in (answer.text, answer.missing))
        return replace(answer, report=replace(report, unconnected=found), text=text, missing=missing)


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
    from inspector.search.index.document import MAX_EMBEDDED

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

"""The same query under several rankers, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.engine.discovery.explanation.place import Place, Places, position_of
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers

ROWS = 30


@dataclass(frozen=True, slots=True)
class ComparedTool:
    """One tool; `places` are parallel to the comparison's `names`."""

    tool_id: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class RankerComparison:
    """`rows` stand in the order of the first ranker; `notes` say what each ranker had to do without.

    `probabilities` are how likely each ranker finds it that any tool fits, None where it has no opinion.
    """

    query: str
    names: tuple[str, ...]
    rows: tuple[ComparedTool, ...]
    notes: tuple[str, ...]
    probabilities: tuple[float | None, ...]


def compare_rankers(
    rankers: CatalogRankers, query: str, names: Sequence[str], *, rows: int = ROWS
) -> RankerComparison:
    """Every tool that is among the first `rows` that any of the rankers returns, with its place in all.

    Rankers named twice count once. Raises ToolsightError for an unknown ranker, ModelError where the query
    cannot be embedded.
    """
    found = _places(rankers, query, names)
    shown = {position for places in found.values() for position in places.kept(rows)}
    first = next(iter(found.values()), None)
    ordered = [int(p) for p in first.order if int(p) in shown] if first is not None else []
    return RankerComparison(
        query,
        tuple(found),
        tuple(
            ComparedTool(rankers.index.tools[position].id, tuple(p[position] for p in found.values()))
            for position in ordered
        ),
        tuple(places.ranking.note for places in found.values()),
        tuple(places.ranking.probability for places in found.values()),
    )


def ranks_of(rankers: CatalogRankers, query: str, tool_id: str, names: Sequence[str]) -> Mapping[str, Place]:
    """One tool's place under each of the rankers. Raises ToolsightError for an unknown tool or ranker."""
    position = position_of(rankers.index, tool_id)
    return {name: places[position] for name, places in _places(rankers, query, names).items()}


def _places(rankers: CatalogRankers, query: str, names: Sequence[str]) -> dict[str, Places]:
    return {name: Places(rankers.get(name).rank(query)) for name in dict.fromkeys(names)}

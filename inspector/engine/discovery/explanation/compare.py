"""Compares the same query under several rankers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.engine.discovery.explanation.place import Place, Places, position_of
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers

ROWS = 30


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One tool's rank under each ranker; `places` is parallel to the comparison's `names`."""

    tool_id: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One query under several rankers, with `rows` in the order of the first one.

    `notes` say what each ranker had to do without. `probabilities` are how likely each ranker considers it
    that any tool fits, None if it does not estimate it.
    """

    query: str
    names: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]
    notes: tuple[str, ...]
    probabilities: tuple[float | None, ...]


def compare(rankers: CatalogRankers, query: str, names: Sequence[str], *, rows: int = ROWS) -> Comparison:
    """List every tool among the top `rows` results of any ranker, with its rank under all of them.

    Duplicate ranker names count once. Raises ToolsightError for an unknown ranker, ModelError if the query
    cannot be embedded.
    """
    by_ranker = _places(rankers, query, names)
    shown = {position for places in by_ranker.values() for position in places.kept(rows)}
    first = next(iter(by_ranker.values()), None)
    ordered = [int(p) for p in first.order if int(p) in shown] if first is not None else []
    return Comparison(
        query,
        tuple(by_ranker),
        tuple(
            ComparisonRow(rankers.index.tools[position].id, tuple(p[position] for p in by_ranker.values()))
            for position in ordered
        ),
        tuple(places.ranking.note for places in by_ranker.values()),
        tuple(places.ranking.probability for places in by_ranker.values()),
    )


def ranks_of(rankers: CatalogRankers, query: str, tool_id: str, names: Sequence[str]) -> Mapping[str, Place]:
    """One tool's rank under each ranker. Raises ToolsightError for an unknown tool or ranker."""
    position = position_of(rankers.index, tool_id)
    return {name: places[position] for name, places in _places(rankers, query, names).items()}


def _places(rankers: CatalogRankers, query: str, names: Sequence[str]) -> dict[str, Places]:
    return {name: Places(rankers.get(name).rank(query)) for name in dict.fromkeys(names)}

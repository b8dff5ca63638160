"""The same query under several rankers, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.search.explanation.standing import Standing, Standings, position_of
from inspector.search.rankers.catalog_rankers import CatalogRankers

ROWS = 30


@dataclass(frozen=True, slots=True)
class ComparedTool:
    """One tool; `standings` are parallel to the comparison's `names`."""

    tool_id: str
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class RankerComparison:
    """`rows` are in the order of the first ranker; `notes` say what each ranker had to do without.

    `probabilities` are each ranker's estimates that any tool fits, None for rankers that do not estimate.
    """

    query: str
    names: tuple[str, ...]
    rows: tuple[ComparedTool, ...]
    notes: tuple[str, ...]
    probabilities: tuple[float | None, ...]


def compare_rankers(
    rankers: CatalogRankers, query: str, names: Sequence[str], *, rows: int = ROWS
) -> RankerComparison:
    """The tools among the first `rows` results of any ranker, with their standings in every ranker.

    A ranker named twice counts once. Raises ToolsightError for an unknown ranker, ModelError if the query
    cannot be embedded.
    """
    found = _standings(rankers, query, names)
    shown = {position for standings in found.values() for position in standings.kept(rows)}
    first = next(iter(found.values()), None)
    ordered = [int(p) for p in first.order if int(p) in shown] if first is not None else []
    return RankerComparison(
        query,
        tuple(found),
        tuple(
            ComparedTool(rankers.index.tools[position].id, tuple(p[position] for p in found.values()))
            for position in ordered
        ),
        tuple(standings.ranking.note for standings in found.values()),
        tuple(standings.ranking.probability for standings in found.values()),
    )


def ranks_of(
    rankers: CatalogRankers, query: str, tool_id: str, names: Sequence[str]
) -> Mapping[str, Standing]:
    """One tool's standing under each of the rankers. Raises ToolsightError for an unknown tool or ranker."""
    position = position_of(rankers.index, tool_id)
    return {name: standings[position] for name, standings in _standings(rankers, query, names).items()}


def standings_under(rankers: CatalogRankers, query: str, name: str) -> Standings:
    """Every tool's standing under one ranker. Raises ToolsightError for an unknown ranker."""
    return Standings(rankers.get(name).rank(query))


def _standings(rankers: CatalogRankers, query: str, names: Sequence[str]) -> dict[str, Standings]:
    return {name: standings_under(rankers, query, name) for name in dict.fromkeys(names)}

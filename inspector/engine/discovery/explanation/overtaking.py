"""Requests that a tool would take from the right one if its description were another."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from inspector.domain.evaluation import EvalCase
from inspector.engine.discovery.explanation.standing import Standings
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers


@dataclass(frozen=True, slots=True)
class Overtaken:
    """The right tool for a request, ahead before an edit and behind after it."""

    tool_id: str
    query: str


@dataclass(frozen=True)
class Overtaking:
    """Labelled requests that are for other tools than `tool_id`, under one ranker."""

    rankers: CatalogRankers
    ranker_name: str
    tool_id: str
    cases: Sequence[EvalCase]

    def by(self, edited: CatalogRankers) -> tuple[Overtaken, ...]:
        """The right tools that the tool stays behind now, but not once it is edited; one a request."""
        found: list[Overtaken] = []
        for query, rights in self._ahead:
            standings = Standings(edited.get(self.ranker_name).rank(query))
            own = standings[self._own].rank
            beaten = (right for right in rights if standings[right].rank > own)
            first = next(beaten, None)
            if first is not None:
                found.append(Overtaken(self.rankers.index.tools[first].id, query))
        return tuple(found)

    @property
    def _own(self) -> int:
        return self.rankers.index.position[self.tool_id]

    @cached_property
    def _ahead(self) -> list[tuple[str, list[int]]]:
        """For each request the positions of the best right tools that rank before this one now."""
        position = self.rankers.index.position
        found: list[tuple[str, list[int]]] = []
        for case in self.cases:
            if not case.is_possible or any(self.tool_id in group for group in case.relevant):
                continue
            standings = Standings(self.rankers.get(self.ranker_name).rank(case.query))
            groups = ([position[one] for one in group if one in position] for group in case.relevant)
            best = [min(group, key=lambda one: standings[one].rank) for group in groups if group]
            ahead = [one for one in best if standings[one].rank < standings[self._own].rank]
            if ahead:
                found.append((case.query, ahead))
        return found

"""What an edit of a tool would change: its rank for a query, labelled requests, collisions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from inspector.domain.evaluation import EvalCase
from inspector.domain.metric import hit_at, ndcg_at
from inspector.domain.tool import Tool
from inspector.engine.discovery.explanation.closeness import Closeness
from inspector.engine.discovery.explanation.draft import draft
from inspector.engine.discovery.explanation.standing import Standing, Standings, position_of
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.rankers.ranker import Ranker

AROUND = 10
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A tool near the edited one, or that one itself. It has the id it has after the edit."""

    tool_id: str
    before: Standing
    after: Standing


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A labelled request and the rank of the first relevant tool, None where none is returned."""

    id: str
    query: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class CaseEffect:
    """Means over the `measured` cases, those that some tool fits; None where there is no such case.

    `better` and `worse` are the cases whose first relevant tool rose or fell, in the order of the cases.
    """

    measured: int = 0
    ndcg_before: float | None = None
    ndcg_after: float | None = None
    hit_before: float | None = None
    hit_after: float | None = None
    better: tuple[CaseChange, ...] = ()
    worse: tuple[CaseChange, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryEffect:
    """An edit's effect. `around` has the AROUND tools next to the edited one and itself, as ranked after.

    `cases` is nDCG@10 and hit@1. Collisions count the tools that are close in meaning to it (a cosine of
    the summaries of 0.8 or more), or that have its name on another server.
    """

    original_id: str
    edited_id: str
    query: str
    ranker: str
    before: Standing
    after: Standing
    around: tuple[Neighbour, ...]
    cases: CaseEffect
    collisions_before: int
    collisions_after: int

    @property
    def gain(self) -> float:
        """What the edit adds to the score."""
        return self.after.value - self.before.value


def edit_effect(
    rankers: CatalogRankers,
    edited: Tool,
    original_id: str,
    *,
    query: str,
    evalset_cases: Sequence[EvalCase] = (),
    ranker_name: str = "hybrid",
) -> QueryEffect:
    """Rank with the tool as it is and with the edited one in its place, and compare.

    In cases the original's id means the edited tool. Raises ToolsightError for an unknown ranker, for an
    original that is not there and an edited id that is taken; ModelError where texts cannot be embedded.
    """
    trial = EditTrial.of(rankers, edited, original_id, ranker_name)
    return replace(trial.on(query), cases=trial.over(evalset_cases))


@dataclass(frozen=True, slots=True)
class EditTrial:
    """An edit made once, to be asked about many queries. It changes nothing and may be used in a thread."""

    rankers: CatalogRankers
    changed: CatalogRankers
    original_id: str
    edited_id: str
    ranker_name: str

    @classmethod
    def of(cls, rankers: CatalogRankers, edited: Tool, original_id: str, ranker_name: str) -> Self:
        """Read and embed the edited tool. Raises what `edit_effect` raises."""
        changed = edited_rankers(rankers, edited, original_id)
        return cls(rankers, changed, original_id, edited.id, ranker_name)

    def on(self, query: str) -> QueryEffect:
        """The effect on one query; `cases` stays empty."""
        position = position_of(self.rankers.index, self.original_id)
        index = self.changed.index
        before, after = (Standings(ranker.rank(query)) for ranker in self._both)
        return QueryEffect(
            self.original_id,
            self.edited_id,
            query,
            self.ranker_name,
            before[position],
            after[position],
            tuple(Neighbour(index.tools[p].id, before[p], after[p]) for p in _around(after, position)),
            CaseEffect(),
            Closeness(self.rankers.index).collisions(position),
            Closeness(index).collisions(position),
        )

    def over(self, cases: Sequence[EvalCase], stopped: Callable[[], bool] = lambda: False) -> CaseEffect:
        """The effect on labelled requests, on those so far when `stopped` says so between two of them."""
        return _effect(_Labels(self.rankers, self.edited_id, self.original_id), *self._both, cases, stopped)

    @property
    def _both(self) -> tuple[Ranker, Ranker]:
        return self.rankers.get(self.ranker_name), self.changed.get(self.ranker_name)


def edited_rankers(rankers: CatalogRankers, edited: Tool, original_id: str) -> CatalogRankers:
    """The rankers of a draft, see `draft`, which says what is raised; the same ones where nothing changed."""
    index = draft(rankers.index, edited, original_id)
    return rankers if index is rankers.index else CatalogRankers(index, rankers.settings)


def _around(standings: Standings, position: int) -> list[int]:
    """Positions of the tool and of the AROUND others next to it, as ranked."""
    row, count = standings[position].rank - 1, len(standings.order)
    first = max(0, min(row - AROUND // 2, count - AROUND - 1))
    return [int(p) for p in standings.order[first : first + AROUND + 1]]


class _Labels:
    """The ids that cases use for the tools of both indexes, which have them at the same positions."""

    def __init__(self, rankers: CatalogRankers, edited_id: str, original_id: str) -> None:
        self._tools = rankers.index.tools
        self._position = {**rankers.index.position}
        self._edited_id, self._original_id = edited_id, original_id

    def groups(self, case: EvalCase) -> tuple[frozenset[str], ...]:
        """The relevant ids, the edited tool by its original one."""
        renamed = {self._edited_id: self._original_id}
        return tuple(frozenset(renamed.get(member, member) for member in group) for group in case.relevant)

    def ids(self, standings: Standings) -> list[str]:
        return [self._tools[position].id for position in standings.kept(_DEPTH)]

    def first(self, standings: Standings, groups: Sequence[frozenset[str]]) -> int | None:
        """The rank of the first relevant tool among those the ranker returns."""
        members = frozenset().union(*groups)
        positions = [self._position[member] for member in members if member in self._position]
        found = [standing.rank for standing in map(standings.__getitem__, positions) if standing.kept]
        return min(found, default=None)


def _effect(
    labels: _Labels, old: Ranker, new: Ranker, cases: Sequence[EvalCase], stopped: Callable[[], bool]
) -> CaseEffect:
    """Case by case, so that the query's vector is made once for both."""
    measures: list[tuple[float, ...]] = []
    changes: list[CaseChange] = []
    for case in cases:
        if not case.is_possible:
            continue
        if stopped():
            break
        groups = labels.groups(case)
        both = [Standings(ranker.rank(case.query)) for ranker in (old, new)]
        ids = [labels.ids(standings) for standings in both]
        measures.append((*(ndcg_at(_DEPTH, r, groups) for r in ids), *(hit_at(1, r, groups) for r in ids)))
        changes.append(
            CaseChange(case.id, case.query, *(labels.first(standings, groups) for standings in both))
        )
    if not measures:
        return CaseEffect()
    ndcg_before, ndcg_after, hit_before, hit_after = map(float, np.mean(measures, axis=0))
    better = tuple(change for change in changes if _rise(change) > 0)
    worse = tuple(change for change in changes if _rise(change) < 0)
    return CaseEffect(len(measures), ndcg_before, ndcg_after, hit_before, hit_after, better, worse)


def _rise(change: CaseChange) -> float:
    """By how many ranks a case got better; infinitely many where it was not returned before."""
    if change.before == change.after:
        return 0.0
    before, after = (float("inf") if rank is None else rank for rank in (change.before, change.after))
    return before - after

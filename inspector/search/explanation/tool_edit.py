"""What editing a tool would change: its rank for a query, labelled requests, collisions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from inspector.access.evaluation import EvalCase
from inspector.core.tool import Tool
from inspector.search.explanation.closeness import Closeness
from inspector.search.explanation.draft import draft
from inspector.search.explanation.standing import Standing, Standings, position_of
from inspector.search.metric import hit_at, ndcg_at
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.ranker import Ranker

AROUND = 10
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A tool ranked near the edited one, or the edited tool itself, with its id after the edit."""

    tool_id: str
    before: Standing
    after: Standing


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A labelled request and the rank of the first relevant tool, None if none is returned."""

    id: str
    query: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class CaseEffect:
    """Means over the `measured` cases, those that some tool fits; None if there are none.

    `better` and `worse` are the cases whose first relevant tool rose or fell, in case order.
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
    """The effect of an edit. `around` holds the edited tool and its AROUND neighbors as ranked afterwards.

    `cases` measures nDCG@10 and hit@1. Collisions count the tools that are close to it in meaning (a cosine
    of the summaries of at least 0.8) or have its name on another server.
    """

    original_id: str
    edited_id: str
    query: str
    ranker: str
    before: Standing
    after: Standing
    around: tuple[Neighbor, ...]
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
    """Rank with the original tool and with the edited one in its standing, and compare.

    In cases the original's id refers to the edited tool. Raises ToolsightError for an unknown ranker, an
    unknown original or an edited id that is taken; ModelError if texts cannot be embedded.
    """
    trial = EditTrial.of(rankers, edited, original_id, ranker_name)
    return replace(trial.on(query), cases=trial.over(evalset_cases))


@dataclass(frozen=True, slots=True)
class EditTrial:
    """An edit prepared once and measured on many queries. It changes nothing and is safe in a thread."""

    rankers: CatalogRankers
    changed: CatalogRankers
    original_id: str
    edited_id: str
    ranker_name: str

    @classmethod
    def of(cls, rankers: CatalogRankers, edited: Tool, original_id: str, ranker_name: str) -> Self:
        """Index and embed the edited tool. Raises what `edit_effect` raises."""
        changed = edited_rankers(rankers, edited, original_id)
        return cls(rankers, changed, original_id, edited.id, ranker_name)

    def on(self, query: str) -> QueryEffect:
        """The effect on one query, with empty `cases`."""
        position = position_of(self.rankers.index, self.original_id)
        index = self.changed.index
        before, after = (Standings(ranker.rank(query)) for ranker in self._both)
        return QueryEffect(
            original_id=self.original_id,
            edited_id=self.edited_id,
            query=query,
            ranker=self.ranker_name,
            before=before[position],
            after=after[position],
            around=tuple(Neighbor(index.tools[p].id, before[p], after[p]) for p in _around(after, position)),
            cases=CaseEffect(),
            collisions_before=Closeness(self.rankers.index).collisions(position),
            collisions_after=Closeness(index).collisions(position),
        )

    def over(self, cases: Sequence[EvalCase], stopped: Callable[[], bool] = lambda: False) -> CaseEffect:
        """The effect on labelled requests; `stopped` is checked before each and ends the run early."""
        return _effect(_Labels(self.rankers, self.edited_id, self.original_id), *self._both, cases, stopped)

    @property
    def _both(self) -> tuple[Ranker, Ranker]:
        return self.rankers.get(self.ranker_name), self.changed.get(self.ranker_name)


def edited_rankers(rankers: CatalogRankers, edited: Tool, original_id: str) -> CatalogRankers:
    """The rankers of a draft, or the same rankers if nothing changed. Raises what `draft` raises."""
    index = draft(rankers.index, edited, original_id)
    if index is rankers.index:
        return rankers
    return CatalogRankers(index, rankers.settings, rankers.past, rankers.used)


def _around(standings: Standings, position: int) -> list[int]:
    """The positions of the tool and its AROUND neighbors, in rank order."""
    row, count = standings[position].rank - 1, len(standings.order)
    first = max(0, min(row - AROUND // 2, count - AROUND - 1))
    return [int(p) for p in standings.order[first : first + AROUND + 1]]


class _Labels:
    """The ids that cases use for the tools of both indexes, whose positions are the same."""

    def __init__(self, rankers: CatalogRankers, edited_id: str, original_id: str) -> None:
        self._tools = rankers.index.tools
        self._position = {**rankers.index.position}
        self._edited_id, self._original_id = edited_id, original_id

    def groups(self, case: EvalCase) -> tuple[frozenset[str], ...]:
        """The relevant ids, with the edited tool under its original id."""
        renamed = {self._edited_id: self._original_id}
        return tuple(frozenset(renamed.get(member, member) for member in group) for group in case.relevant)

    def ids(self, standings: Standings) -> list[str]:
        return [self._tools[position].id for position in standings.kept(_DEPTH)]

    def first(self, standings: Standings, groups: Sequence[frozenset[str]]) -> int | None:
        """The rank of the first relevant tool that the ranker returns, or None."""
        members = frozenset().union(*groups)
        positions = [self._position[member] for member in members if member in self._position]
        ranks = [standing.rank for standing in map(standings.__getitem__, positions) if standing.kept]
        return min(ranks, default=None)


def _effect(
    labels: _Labels, old: Ranker, new: Ranker, cases: Sequence[EvalCase], stopped: Callable[[], bool]
) -> CaseEffect:
    """Measure case by case, so that each query is embedded only once for both rankers."""
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
    return CaseEffect(
        measured=len(measures),
        ndcg_before=ndcg_before,
        ndcg_after=ndcg_after,
        hit_before=hit_before,
        hit_after=hit_after,
        better=better,
        worse=worse,
    )


def _rise(change: CaseChange) -> float:
    """By how many ranks a case improved; infinite if nothing relevant was returned before."""
    if change.before == change.after:
        return 0.0
    before, after = (float("inf") if rank is None else rank for rank in (change.before, change.after))
    return before - after

"""What every ranker offers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.domain.ranking import Score

# So many tools at the top are asked whether they fit: as many as a search returns by default.
LOOKED_AT = 5

Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Ranking:
    """One query's scores over every tool of an index, in the index's order, explained on demand.

    `kept` marks the tools that the ranker would return at all (those over its floor or threshold).
    `explain(position)` gives the parts of one score; they add up to `values[position]`.
    `fit` is how likely each tool fits, where the ranker has an opinion.
    `note` says what the ranker had to do without, for people.
    """

    values: Scores
    kept: Mask
    explain: Callable[[int], Score]
    fit: Scores | None = None
    note: str = ""

    @property
    def probability(self) -> float | None:
        """How likely any tool fits: the highest probability among the LOOKED_AT first."""
        if self.fit is None or not len(self.fit):
            return None
        return float(self.fit[self.order(LOOKED_AT)].max())

    def order(self, count: int | None = None) -> list[int]:
        """Positions from the best score down, equal scores in the index's order; the first `count`."""
        if count is None or count >= len(self.values):
            return [int(i) for i in np.argsort(-self.values, kind="stable")]
        # Everything that ties with the last place has to be there for the stable sort to cut rightly.
        last = np.partition(self.values, -count)[-count] if count else np.inf
        candidates = np.flatnonzero(self.values >= last)
        ranked = candidates[np.argsort(-self.values[candidates], kind="stable")]
        return [int(i) for i in ranked[:count]]


class Ranker(Protocol):
    """Scores the tools it was built over. Limits, filters and loading are decided elsewhere."""

    @property
    def name(self) -> str: ...

    def terms(self, query: str) -> tuple[str, ...]:
        """The words of the query that the ranker looks for; empty where it does not look for words."""

    def rank(self, query: str) -> Ranking:
        """A score for every tool. Never raises for any text."""

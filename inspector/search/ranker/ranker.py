"""The interface of a ranker, and the ranking it returns."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.core.ranking import Score, SearchRequest

# How many of the top tools decide whether any tool fits: as many as a search returns by default.
LOOKED_AT = 5

Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]


# A signal that differs less, relative to its mean, differs by the rounding of float32 vectors alone.
_ROUNDING = 1e-6


class Standardised(Struct, frozen=True):
    """A signal, its mean and its deviation over the tools. Tools without a value count as average."""

    raw: Scores
    mean: float
    deviation: float
    weight: float

    @classmethod
    def of(cls, raw: Scores, weight: float) -> "Standardised":
        return cls.each(raw[None], [weight])[0]

    @classmethod
    def each(cls, raw: Scores, weights: Sequence[float]) -> list["Standardised"]:
        """One a row of `raw`, each with its weight; that of a signal equal for all tools is 0."""
        if not raw.shape[1]:
            return [cls(row, 0.0, 1.0, 0.0) for row in raw]
        means = raw.mean(axis=1)
        # A missing value makes the mean of its row one.
        missing = np.isnan(raw) if np.isnan(means).any() else None
        if missing is not None:
            present = np.maximum((~missing).sum(axis=1), 1)
            means = np.where(missing, 0.0, raw).sum(axis=1) / present
            raw = np.where(missing, means[:, None], raw)
        centred = raw - means[:, None]
        squares = np.einsum("ij,ij->i", centred, centred)
        deviations = np.sqrt(squares / (raw.shape[1] if missing is None else present))
        return [
            cls(row, mean, deviation, weight)
            if deviation >= _ROUNDING * max(1.0, abs(mean))
            else cls(row, mean, 1.0, 0.0)
            for row, mean, deviation, weight in zip(
                raw, means.tolist(), deviations.tolist(), weights, strict=True
            )
        ]

    @property
    def scale(self) -> float:
        """What one unit of the raw signal adds to the score."""
        return self.weight / self.deviation

    @property
    def values(self) -> Scores:
        return (self.raw - self.mean) * self.scale


class Ranking(Struct, frozen=True, dict=True):
    """One query's scores for every tool in an index, in index order, explained on demand.

    `kept` marks the tools that the ranker would return (those over its floor or threshold).
    `explain(position)` gives the parts of one score; they add up to `values[position]`.
    `fit` is how likely each tool fits, None if the ranker does not estimate it.
    `note` says what the ranker had to do without, for people. `likeliest` is how likely it is that any tool
    fits, if the ranker knows it otherwise than from its own order. `similarity` is each tool's cosine, None
    if the ranker compares no meaning or estimates `fit`. `comparable` are the scores without the steps that
    only order tools, None if how far a score is below another tells nothing. `read` is the query as it was
    read, with misspelt words corrected; "" if that is as it was written.
    """

    values: Scores
    kept: Mask
    explain: Callable[[int], Score]
    fit: Scores | None = None
    note: str = ""
    likeliest: float | None = None
    similarity: Scores | None = None
    comparable: Scores | None = None
    read: str = ""

    @property
    def probability(self) -> float | None:
        """How likely it is that any tool fits: by default as likely as the best of the first LOOKED_AT."""
        if self.likeliest is not None:
            return self.likeliest
        if self.fit is None or not len(self.fit):
            return None
        return float(self.fit[self.order(LOOKED_AT)].max())

    def better(self, other: "Ranking") -> "Ranking":
        """Each tool with the better of its scores in two rankings of one index."""

        def explain(position: int) -> Score:
            return max(self.explain(position), other.explain(position), key=lambda score: score.value)

        values = np.maximum(self.values, other.values)
        return Ranking(values, self.kept | other.kept, explain, note=self.note)

    def order(self, count: int | None = None) -> list[int]:
        """The first `count` positions, best score first, equal scores in index order."""
        return best_first(self.values, count)


def best_first(values: Scores, count: int | None = None) -> list[int]:
    """The first `count` positions, highest value first, equal values in order."""
    candidates = np.arange(len(values))
    if count is not None and 0 < count < len(values):
        candidates = np.flatnonzero(values >= np.partition(values, -count)[-count])
    found: list[int] = candidates[np.argsort(-values[candidates], kind="stable")[:count]].tolist()
    return found


class Ranker(Protocol):
    """Scores the tools of one index. Limits, filters and loading are decided elsewhere."""

    @property
    def name(self) -> str: ...

    def terms(self, query: str) -> tuple[str, ...]:
        """The words of the query that the ranker looks for; empty if it does not use words."""

    def rank(self, query: str) -> Ranking:
        """Score every tool. Does not raise for any text."""


@runtime_checkable
class ServerRanker(Protocol):
    """A ranker that looks at servers too: a request may describe the server apart from the tool."""

    def rank_on(self, server_query: str, query: str) -> Ranking:
        """Score every tool for `query`, and its server for `server_query`. Does not raise for any text."""


def ranking_for(ranker: Ranker, request: SearchRequest) -> Ranking:
    """Score every tool for a request. A ranker that looks at no servers gets all of it as one query."""
    if not request.server_query:
        return ranker.rank(request.query)
    if isinstance(ranker, ServerRanker):
        return ranker.rank_on(request.server_query, request.query)
    return ranker.rank(f"{request.query} ({request.server_query})")


# Above any score within a tier: a keyword score is at most 190, and a standardized value over N tools at most
# sqrt(N - 1).
TIER_STEP = 1000.0

"""Intent-Schema Overlap (Tool Attention, section 4.2, equation 5): cosines, plain and standardised.

`iso` compares with the tool's line in the summary pool, as published; `dense` with everything it says of
itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.search.document import SUMMARY
from inspector.search.index import ToolIndex
from inspector.search.rankers.ranker import Ranking, Scores
from inspector.search.rankers.ranker_list import DENSE, ISO

# From appendix A.1 of the paper. It does not transfer to other catalogs: calibrate it.
THRESHOLD = 0.28
NOT_EMBEDDED = "no tool is embedded yet, so there are no cosines"
NO_LINES = "summary lines are not embedded, so whole descriptions are compared"


class DenseRanker:
    """Keeps tools whose cosine with the query reaches `threshold` (equation 6)."""

    def __init__(
        self, index: ToolIndex, *, threshold: float = THRESHOLD, lines: bool = False, name: str = ""
    ) -> None:
        """With `lines` it compares with summary lines, if the index has them."""
        self.name = name or (ISO if lines else DENSE)
        self.threshold = threshold
        self._index = index
        self._lines = lines and index.lined
        self._note = NO_LINES if lines and not index.lined else ""

    def terms(self, query: str) -> tuple[str, ...]:  # noqa: ARG002 - compares meaning, not words
        return ()

    def rank(self, query: str) -> Ranking:
        vector = self._index.query_vector(query)
        if vector is None:
            nothing = np.zeros(len(self._index.tools))
            return Ranking(nothing, nothing > 0, self._nothing, note=NOT_EMBEDDED)
        if self._lines:
            found = self._index.line_similarities(vector)
        else:
            found = self._index.similarities(vector)[SUMMARY]
        cosines = np.nan_to_num(found, nan=0.0)
        kept = cosines >= self.threshold

        def explain(position: int) -> Score:
            return self._explain(position, cosines)

        return Ranking(cosines, kept, explain, note=self._note, similarity=cosines)

    def _nothing(self, position: int) -> Score:
        return Score(self._index.tools[position].id, 0.0)

    def _explain(self, position: int, cosines: Scores) -> Score:
        value = float(cosines[position])
        term = "summary line" if self._lines else "summary"
        part = Part(Signal.SEMANTIC, term, value, {"cosine": value, "threshold": self.threshold})
        return Score(self._index.tools[position].id, value, (part,))


# A signal that differs less, relative to its mean, differs by the rounding of float32 vectors alone.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Standardised:
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

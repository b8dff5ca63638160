"""Signals brought to a common scale: standardized over the tools, for one text or several at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inspector.search.rankers.ranker import Scores

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

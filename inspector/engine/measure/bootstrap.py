"""A mean with a bootstrap confidence interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 1000
SEED = 0
_LEVEL = 95.0
_DRAWS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over cases with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def estimate(values: Sequence[float]) -> Estimate:
    """The mean with its bootstrap percentile interval (Efron & Tibshirani 1993, chapter 13).

    The cases are resampled with replacement 1,000 times from a fixed seed, so equal values always get equal
    intervals. Raises ValueError if there are no values.
    """
    if not len(values):
        raise ValueError("no values")
    sample = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(SEED)
    # Draw in blocks: all draws at once would take 8 bytes times 1,000 times the cases.
    rows = max(1, _DRAWS_AT_ONCE // len(sample))
    blocks = [min(rows, RESAMPLES - start) for start in range(0, RESAMPLES, rows)]
    means = np.concatenate(
        [sample[generator.integers(len(sample), size=(block, len(sample)))].mean(axis=1) for block in blocks]
    )
    tail = (100 - _LEVEL) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    mean = float(sample.mean())
    # Sums in another order differ in the last bit, which can put the mean outside the interval.
    return Estimate(mean, min(float(low), mean), max(float(high), mean))

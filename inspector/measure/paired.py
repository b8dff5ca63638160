"""A paired test of whether two measurements of the same cases differ by more than chance."""

from collections.abc import Hashable, Sequence

import numpy as np

from inspector.measure.bootstrap import Floats, by_cluster

SIGNIFICANT = 0.05
_FLIPS = 10_000
_SEED = 0
_EXACT = 12
_FLIPS_AT_ONCE = 1_000_000
# Sums in another order differ in the last bit; such a tie counts as a tie.
_ROUNDING = 1e-12


def p_value(differences: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float:
    """The two-sided p value of a paired randomization test (Smucker, Allan & Carterette 2007).

    If both measurements are alike, the sign of each cluster's difference is a coin's: 10,000 throws from a
    fixed seed, or every combination up to 12 clusters. Raises ValueError without differences.
    """
    sums, _ = by_cluster(differences, clusters)
    moved = sums[sums != 0]
    if not len(moved):
        return 1.0
    seen = abs(float(moved.sum())) - _ROUNDING
    if len(moved) <= _EXACT:
        signs = 1 - 2 * (np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1)
        return float(np.mean(np.abs(signs @ moved) >= seen))
    generator = np.random.default_rng(_SEED)
    rows = max(1, _FLIPS_AT_ONCE // len(moved))
    blocks = [min(rows, _FLIPS - start) for start in range(0, _FLIPS, rows)]
    extreme = sum(_extreme(moved, seen, generator, block) for block in blocks)
    return (extreme + 1) / (_FLIPS + 1)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p values of several tests, corrected for their number (Holm 1979), in the same order."""
    corrected, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = least
    return tuple(corrected)


def _extreme(moved: Floats, seen: float, generator: np.random.Generator, rows: int) -> int:
    signs = generator.integers(0, 2, size=(rows, len(moved)), dtype=np.int8) * 2.0 - 1.0
    return int(np.count_nonzero(np.abs(signs @ moved) >= seen))

"""Ratios and shares over cases that come in clusters, such as attempts at the same task, with intervals."""

from collections.abc import Iterable

import numpy as np

from inspector.engine.measure.bootstrap import LEVEL, RESAMPLES, SEED, Estimate, wilson


def clustered_ratio(cases: Iterable[tuple[str, float, float]]) -> Estimate | None:
    """The sum of the second values over the sum of the third, with its 95 % bootstrap interval.

    Cases of the same cluster (the first value) are drawn together, since they resemble each other (Davison &
    Hinkley 1997, section 3.8); draws in which the denominator is 0 do not count. Equal cases always get
    equal intervals. None if the denominators add up to 0.
    """
    sums: dict[str, list[float]] = {}
    for cluster, above, below in cases:
        total = sums.setdefault(cluster, [0.0, 0.0])
        total[0] += above
        total[1] += below
    table = np.array(list(sums.values()), dtype=np.float64).reshape(-1, 2)
    above, below = table.sum(axis=0)
    if not below:
        return None
    generator = np.random.default_rng(SEED)
    size = len(table)
    drawn = np.stack([table[generator.integers(size, size=size)].sum(axis=0) for _ in range(RESAMPLES)])
    drawn = drawn[drawn[:, 1] != 0]
    tail = (100 - LEVEL) / 2
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [tail, 100 - tail])
    ratio = float(above / below)
    return Estimate(ratio, min(float(low), ratio), max(float(high), ratio), size)


def clustered_share(cases: Iterable[tuple[str, bool]]) -> Estimate | None:
    """The share of cases that hold, with its interval; None without cases.

    Where all clusters agree there is nothing to draw from, so the interval is Wilson's over the clusters.
    """
    known = list(cases)
    share = clustered_ratio((cluster, float(holds), 1.0) for cluster, holds in known)
    if share is None or share.low != share.high:
        return share
    return Estimate(share.mean, *wilson(share.mean, share.clusters), share.clusters)

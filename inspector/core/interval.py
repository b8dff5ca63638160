"""The interval of a share that was seen in a sample."""

import math

# The standard normal quantile of a two-sided 95 % interval.
_Z = 1.959963984540054


def wilson(share: float, size: float) -> tuple[float, float]:
    """The 95 % interval (Wilson 1927) of a share seen in a sample of `size` independent cases (above 0)."""
    denominator = 1 + _Z**2 / size
    center = (share + _Z**2 / (2 * size)) / denominator
    margin = _Z / denominator * math.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2))
    return min(max(center - margin, 0.0), share), max(min(center + margin, 1.0), share)

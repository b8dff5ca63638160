"""How long searches take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from inspector.research.source import Source, Steps


@dataclass(frozen=True, slots=True)
class Latency:
    """The median and 95th percentile of `queries` searches, in milliseconds."""

    median: float
    p95: float
    queries: int


def timed(
    name: str, ask: Callable[[str], object], queries: Sequence[str], source: Source, steps: Steps
) -> Latency:
    """The latency of asking each query once, after another one. Raises what `ask` raises, and Stopped."""
    ask("warm up")
    seconds = []
    for done, query in enumerate(queries):
        steps(f"latency of {name}", done, len(queries))
        started = source.clock.monotonic()
        ask(query)
        seconds.append(source.clock.monotonic() - started)
    times = np.array(seconds) * 1000
    return Latency(float(np.median(times)), float(np.percentile(times, 95)), len(queries))


def milliseconds(value: float) -> str:
    """A number of milliseconds: two decimals below one millisecond, one above."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"

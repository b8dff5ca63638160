"""The signals of a score, each with a fixed letter, word and color, and the bar they form."""

import math
from collections.abc import Iterable

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.core.ranking import Hit, Part, Signal
from widgets import stacked

SIGNALS = {
    Signal.NAME: ("name", "$primary"),
    Signal.DESCRIPTION: ("descr.", "$success"),
    Signal.PARAMETERS: ("params", "$accent"),
    Signal.SERVER: ("server", "$warning"),
    Signal.WORDS: ("words", "$success"),
    Signal.SEMANTIC: ("meaning", "$secondary"),
    Signal.KEYWORD: ("keyword", "$secondary"),
    Signal.FUZZY: ("fuzzy", "$warning"),
    Signal.PATTERN: ("pattern", "$primary"),
    Signal.FUSION: ("rank", "$accent"),
    Signal.EXACT: ("exact", "$primary"),
    Signal.TIER: ("tier", "$foreground"),
    Signal.STEP: ("step", "$accent"),
    Signal.HISTORY: ("asked", "$success"),
    Signal.AFFINITY: ("used", "$primary"),
    Signal.AVERAGE: ("average", MUTED),
}
# What is too long for a column.
SHORT_TERMS = {
    "best: description": "best: descr.",
    "best: parameters": "best: params",
    "siblings that fit": "siblings fit",
    "static vectors": "static",
}
BAR_WIDTH = 10
LETTERS = "N name, D description, P parameters, V server, W words, S meaning, Q step, T tier"


def merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Merge the parts of each signal, in signal order, so that a bar shows each letter once."""
    values: dict[Signal, list[float]] = {}
    for part in parts:
        values.setdefault(part.signal, []).append(part.value)
    return tuple(Part(signal, "", math.fsum(values[signal])) for signal in Signal if signal in values)


def full_bars(hits: Iterable[Hit]) -> dict[str, float]:
    """Return the value of a full bar by tier: the largest sum of positive signals of any of its tools."""
    best: dict[str, float] = {}
    for hit in hits:
        best[_tier(hit)] = max(best.get(_tier(hit), 0.0), _positive(hit))
    return best


def bar(hit: Hit, full: dict[str, float]) -> Content:
    """Draw the positive signals of a score; a tier takes one cell, or it would hide all else."""
    best = full.get(_tier(hit), 0.0) or 1.0
    cell = best / (BAR_WIDTH - 1)
    tier = [(Signal.TIER.value, cell, SIGNALS[Signal.TIER][1])] if _tier(hit) else []
    parts = [(part.signal.value, part.value, SIGNALS[part.signal][1]) for part in _shown(hit)]
    return stacked([*tier, *parts], BAR_WIDTH, best + (cell if tier else 0.0))


def _shown(hit: Hit) -> tuple[Part, ...]:
    return tuple(
        part for part in merged(hit.score.parts) if part.value > 0 and part.signal is not Signal.TIER
    )


def _positive(hit: Hit) -> float:
    return math.fsum(part.value for part in _shown(hit))


def _tier(hit: Hit) -> str:
    """Return the tier of a hit: scores of different tiers are on different scales."""
    return next((part.term for part in hit.score.parts if part.signal is Signal.TIER), "")

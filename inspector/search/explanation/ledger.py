"""Compares two scores of one ranking, line by line."""

import math
from dataclasses import dataclass

from inspector.core.ranking import ASKED_BEFORE, TOLERANCE, USED_BEFORE, Part, Score, Signal

BEST_PASSAGE = "best passage"
BEST_STEP = "best step"
ROUNDING = "rounding"
_BEST = "best: "


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What one signal adds to two tools' scores for one term."""

    signal: Signal
    term: str
    mine: float
    rival: float

    @property
    def difference(self) -> float:
        """Negative if `mine` loses."""
        return self.mine - self.rival


def ledger(mine: Score, rival: Score) -> tuple[LedgerLine, ...]:
    """The parts of both scores by signal and term, largest loss of `mine` first.

    The differences add up to the difference of the scores, within 1e-9. If the parts are too large for that
    precision, a line ROUNDING holds the rest. The best passage is a single line, whichever passage it is for
    either tool, and so are the best step, the closest past request and past use.
    """
    sides = [_sums(mine), _sums(rival)]
    keys = dict.fromkeys(key for side in sides for key in side)
    lines = [LedgerLine(*key, *(side.get(key, 0.0) for side in sides)) for key in keys]
    rest = mine.value - rival.value - math.fsum(line.difference for line in lines)
    if abs(rest) > TOLERANCE / 2:
        lines.append(LedgerLine(Signal.AVERAGE, ROUNDING, rest, 0.0))
    return tuple(sorted(lines, key=lambda line: line.difference))


def _sums(score: Score) -> dict[tuple[Signal, str], float]:
    values: dict[tuple[Signal, str], list[float]] = {}
    for part in score.parts:
        values.setdefault(_key(part), []).append(part.value)
    return {key: math.fsum(parts) for key, parts in values.items()}


def _key(part: Part) -> tuple[Signal, str]:
    if part.signal is Signal.STEP:
        return part.signal, BEST_STEP
    if part.signal is Signal.HISTORY:
        return part.signal, ASKED_BEFORE
    if part.signal is Signal.AFFINITY:
        return part.signal, USED_BEFORE
    is_best = part.signal is Signal.SEMANTIC and part.term.startswith(_BEST)
    return part.signal, BEST_PASSAGE if is_best else part.term

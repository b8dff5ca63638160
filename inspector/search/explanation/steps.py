"""Compares one search for a whole request with one search for each of its steps, as the ranker reads them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.core.ranking import (
    ASKED_BEFORE,
    TOLERANCE,
    USED_BEFORE,
    Answer,
    Part,
    Score,
    SearchRequest,
    Signal,
)
from inspector.search.explanation.confusable import Verdict
from inspector.search.explanation.standing import Standing, Standings, position_of
from inspector.search.query.parsed import parse
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rules import SearchRules

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


@dataclass(frozen=True, slots=True)
class StepSearch:
    """The ids that a search for `text` returns, best first.

    `probability` is how likely it is that any tool fits, None if the ranker does not estimate it.
    """

    text: str
    tool_ids: tuple[str, ...]
    probability: float | None = None
    answer: Answer = Answer.FOUND


@dataclass(frozen=True, slots=True)
class Steps:
    """The search for the whole request and the searches for its steps, in order.

    `only_steps` holds tools that a step finds but the whole request does not, in step order; `only_whole` the
    reverse.
    """

    whole: StepSearch
    steps: tuple[StepSearch, ...]
    only_steps: tuple[str, ...]
    only_whole: tuple[str, ...]


def by_step(rankers: CatalogRankers, ranker_name: str, text: str, rules: SearchRules) -> Steps:
    """Search for `text` as a whole and step by step.

    Raises ToolsightError for an unknown ranker, ModelError if a text cannot be embedded.
    """
    whole = _search(rankers, ranker_name, text, rules)
    steps = tuple(_search(rankers, ranker_name, step, rules) for step in parse(text).steps or (text,))
    found = dict.fromkeys(tool_id for step in steps for tool_id in step.tool_ids)
    return Steps(
        whole,
        steps,
        tuple(tool_id for tool_id in found if tool_id not in whole.tool_ids),
        tuple(tool_id for tool_id in whole.tool_ids if tool_id not in found),
    )


def _search(rankers: CatalogRankers, ranker_name: str, text: str, rules: SearchRules) -> StepSearch:
    ranking, request = rankers.get(ranker_name).rank(text), SearchRequest(text)
    verdict = Verdict(rankers, request, Standings(ranking, rules.likely(ranking, request)), rules)
    positions = () if verdict.told is Answer.NOTHING else verdict.results
    tool_ids = tuple(rankers.index.tools[position].id for position in positions)
    return StepSearch(text, tool_ids, ranking.probability, verdict.told)


ROWS = 30


@dataclass(frozen=True, slots=True)
class ComparedTool:
    """One tool; `standings` are parallel to the comparison's `names`."""

    tool_id: str
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class RankerComparison:
    """`rows` are in the order of the first ranker; `notes` say what each ranker had to do without.

    `probabilities` are each ranker's estimates that any tool fits, None for rankers that do not estimate.
    """

    query: str
    names: tuple[str, ...]
    rows: tuple[ComparedTool, ...]
    notes: tuple[str, ...]
    probabilities: tuple[float | None, ...]


def compare_rankers(
    rankers: CatalogRankers, query: str, names: Sequence[str], *, rows: int = ROWS
) -> RankerComparison:
    """The tools among the first `rows` results of any ranker, with their standings in every ranker.

    A ranker named twice counts once. Raises ToolsightError for an unknown ranker, ModelError if the query
    cannot be embedded.
    """
    found = _standings(rankers, query, names)
    shown = {position for standings in found.values() for position in standings.kept(rows)}
    first = next(iter(found.values()), None)
    ordered = [int(p) for p in first.order if int(p) in shown] if first is not None else []
    return RankerComparison(
        query,
        tuple(found),
        tuple(
            ComparedTool(rankers.index.tools[position].id, tuple(p[position] for p in found.values()))
            for position in ordered
        ),
        tuple(standings.ranking.note for standings in found.values()),
        tuple(standings.ranking.probability for standings in found.values()),
    )


def ranks_of(
    rankers: CatalogRankers, query: str, tool_id: str, names: Sequence[str]
) -> Mapping[str, Standing]:
    """One tool's standing under each of the rankers. Raises ToolsightError for an unknown tool or ranker."""
    position = position_of(rankers.index, tool_id)
    return {name: standings[position] for name, standings in _standings(rankers, query, names).items()}


def standings_under(rankers: CatalogRankers, query: str, name: str) -> Standings:
    """Every tool's standing under one ranker. Raises ToolsightError for an unknown ranker."""
    return Standings(rankers.get(name).rank(query))


def _standings(rankers: CatalogRankers, query: str, names: Sequence[str]) -> dict[str, Standings]:
    return {name: standings_under(rankers, query, name) for name in dict.fromkeys(names)}

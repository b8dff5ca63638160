"""The requests that a ranker misses: where the right tool stands, why, and what came first."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from inspector.core.ranking import Answer, SearchRequest
from inspector.core.report import NAME, NOTHING, NUMBER, Column, Table
from inspector.core.text import one_line, shortened
from inspector.features.bench.ranker_bench import Measured, Weak, weakest
from inspector.features.bench.sweep import HYBRID
from inspector.search.answer.metric import hit_at
from inspector.search.answer.search import SearchRules
from inspector.search.answer.standing import standings_under
from inspector.search.answer.why_not import why_not
from inspector.search.index.vocabulary import as_written

# So many of them stand below the measurements.
A_FEW = 5
_LONGEST_REQUEST, _WORDS = 60, 4


class Miss(Struct, frozen=True):
    """A request whose first result is no right tool, or that is answered although no tool fits.

    `tool` is the right one that ranks best, of two things asked for the one that is served worse; "" if none
    fits. `rank` is its rank, `first` the first result, "" for none.
    """

    request: str
    tool: str
    rank: int | None
    why: str
    first: str


def misses(measured: Measured, most: int | None = None) -> tuple[Miss, ...]:
    """The worst misses of a ranker. Raises ModelError if a request cannot be embedded."""
    wrong = [one for one in weakest(measured.run, measured.evalset) if _is_missed(one)]
    return tuple(_miss(measured, one) for one in wrong[:most])


def _is_missed(one: Weak) -> bool:
    return one.is_refused or not one.case.is_possible or not hit_at(1, one.done.ranked, one.case.relevant)


def _miss(measured: Measured, one: Weak) -> Miss:
    query, first = one.case.query, next(iter(one.done.ranked), "")
    if not one.case.is_possible or measured.rankers is None:
        return Miss(query, "", None, f"{Answer.FOUND}, and no tool fits", first)
    rankers, name = measured.rankers, measured.run.ranker
    standings, position = standings_under(rankers, query, name), rankers.index.position
    best = [min(group, key=lambda tool: standings[position[tool]].rank) for group in one.case.relevant]
    tool = max(best, key=lambda tool: standings[position[tool]].rank)
    why = why_not(rankers, name, SearchRequest(query), tool, SearchRules.of(rankers.settings))
    lacks = f"missing words: {'  '.join(as_written(query, why.lacking[:_WORDS]))}" if why.lacking else ""
    outcome = "" if why.cut is None else why.cut.value
    reasons = "; ".join(filter(None, (outcome, lacks))) or "another scores higher"
    return Miss(query, tool, why.standing.rank if why.standing.kept else None, reasons, first)


def told_of(measured: Sequence[Measured]) -> Iterator[Measured]:
    """Of each data set the ranker whose misses are listed: hybrid if it was measured, else the first."""
    for name in dict.fromkeys(one.row.dataset for one in measured):
        same = [one for one in measured if one.row.dataset == name]
        yield next((one for one in same if one.run.ranker == HYBRID), same[0])


def miss_lines(measured: Measured, most: int | None = None) -> Iterator[str | Table]:
    """The misses as a table, and how many there are."""
    total = sum(map(_is_missed, weakest(measured.run, measured.evalset)))
    worst = f", the worst {most} (all: --misses)" if most is not None and total > most else ""
    yield f"{measured.row.dataset}: {measured.run.ranker} misses {total} of {len(measured.run.cases)}{worst}"
    if total:
        yield Table.of(_COLUMNS, misses(measured, most))


_COLUMNS = (
    Column("rank", lambda one: NOTHING if one.rank is None else str(one.rank), NUMBER),
    Column("request", lambda one: shortened(one_line(one.request), _LONGEST_REQUEST)),
    Column("right tool", lambda one: one.tool or NOTHING, NAME),
    Column("why"),
    Column("came first", lambda one: one.first or NOTHING, NAME),
)

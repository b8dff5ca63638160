"""Which searches of the session found a tool, and which did not."""

from collections.abc import Iterable

from inspector.domain.events import SearchPerformed
from inspector.domain.ranking import SearchReport
from widgets import Column, Record

COLUMNS = (
    Column("query", "searched for", weight=5, min_width=16),
    Column("rank", "rank", align="right", weight=4),
    Column("outcome", "outcome", weight=3, min_width=12),
    Column("by", "by", weight=1, min_width=4, hide_below=56),
)
EMPTY = "No searches in this session yet. Press w to see in Search what finds this tool."
MOST = 50


def search_rows(tool_id: str, searches: Iterable[SearchPerformed]) -> tuple[Record, ...]:
    """Return one row per search, in the order given; the key is its position."""
    return tuple(_row(number, tool_id, event) for number, event in enumerate(searches))


def _row(number: int, tool_id: str, event: SearchPerformed) -> Record:
    rank, outcome, found = _standing(tool_id, event.report)
    cells = (event.report.request.label(), rank, outcome, event.by)
    return Record(str(number), cells, "" if found else "muted")


def _standing(tool_id: str, report: SearchReport) -> tuple[str, str, bool]:
    hit = next((hit for hit in report.hits if hit.tool_id == tool_id), None)
    if hit is None:
        return "", f"not in the top {len(report.hits)}" if report.hits else "nothing found", False
    return str(hit.rank), hit.outcome.value, hit.outcome.is_result

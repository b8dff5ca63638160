"""The list of what a search found, for people."""

import math
from collections.abc import Sequence
from itertools import islice

from inspector.cli.render import say, say_table
from inspector.cli.search.besides import say_besides
from inspector.cli.search.past import say_past
from inspector.domain.answer_text import answer_text
from inspector.domain.number import count, milliseconds
from inspector.domain.rank_gap import Gap, with_gaps
from inspector.domain.ranking import Hit, SearchReport

_MISSES_SHOWN = 10


def say_report(report: SearchReport) -> None:
    """Print the answer, the tools by rank, and how they were ranked."""
    if report.error:
        say(report.error)
    else:
        say(answer_text(report))
    shown = _shown(report)
    say_table(("#", "tool", "score", "outcome", "parts"), _rows(report, shown), right=frozenset({0, 2}))
    terms = ", ".join(report.terms) or "none"
    say(
        f"{report.ranker}   terms: {terms}   {len(report.results)} of {count(report.scored, 'tool')}"
        f"   limit {report.limit}   {milliseconds(report.latency_ms)}"
    )
    for hit in shown:
        say_past(hit)
    say_besides(report)


def _shown(report: SearchReport) -> tuple[Hit, ...]:
    """The results, and the first of what scored and missed."""
    missed = (hit for hit in report.hits if not hit.outcome.is_result and hit.score.value > 0)
    ranks = {hit.rank for hit in (*report.results, *islice(missed, _MISSES_SHOWN))}
    return tuple(hit for hit in report.hits if hit.rank in ranks)


def _rows(report: SearchReport, shown: Sequence[Hit]) -> list[tuple[str, ...]]:
    """The tools by rank, and between them where those are that are left out."""
    last = max((hit.rank for hit in shown), default=0)
    hits = [hit for hit in report.hits if hit.rank <= last]
    return [
        ("", f"… {one.ranks}", "", one.reason, "") if isinstance(one, Gap) else _hit_row(one)
        for one in with_gaps(hits, shown.__contains__)
    ]


def _hit_row(hit: Hit) -> tuple[str, ...]:
    sums = {
        signal: math.fsum(part.value for part in hit.score.parts if part.signal is signal)
        for signal in dict.fromkeys(part.signal for part in hit.score.parts)
    }
    parts = " ".join(f"{signal} {value:.2f}" for signal, value in sums.items())
    return (str(hit.rank), hit.tool_id, f"{hit.score.value:.3f}", hit.outcome, parts)

"""What a search says, in the words that every list, transcript and command uses."""

import pytest

from inspector.core.events import SearchPerformed
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.search.answer_text import answer_text, answered


def report(confidence: float | None, *outcomes: Outcome) -> SearchReport:
    hits = tuple(Hit(rank, Score(f"a:t{rank}", 1.0), one) for rank, one in enumerate(outcomes, start=1))
    return SearchReport(SearchRequest("x"), "hybrid", hits, probability=confidence, threshold=0.35)


FOUND = report(0.8, Outcome.LOADED)
CLOSEST = report(0.12, Outcome.LOADED, Outcome.LOADED, Outcome.WITHHELD)
NOTHING = report(0.01, Outcome.NOTHING_FITS)


@pytest.mark.parametrize(
    ("one", "line", "short", "summary"),
    [
        (FOUND, "found (confidence 80 %)", "1 found", "“x” -> 1, best a:t1 1.00"),
        (
            CLOSEST,
            "closest: no tool clearly fits (confidence 12 %, needs 35 %)",
            "2 closest",
            "“x” -> closest 2, best a:t1 1.00",
        ),
        (
            NOTHING,
            "nothing: no tool fits (confidence 1 %, needs 35 %)",
            "nothing",
            "“x” -> nothing",
        ),
        (report(None, Outcome.LOADED), "found", "1 found", "“x” -> 1, best a:t1 1.00"),
        (report(None), "nothing: no tool fits", "nothing", "“x” -> nothing"),
    ],
)
def test_the_answer_is_said_in_plain_words(one: SearchReport, line: str, short: str, summary: str) -> None:
    assert answer_text(one) == line
    assert answered(one) == short
    assert SearchPerformed(one, "").summary() == summary

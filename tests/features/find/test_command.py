"""The list that `toolsight search` prints."""

import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from inspector.cli.table import say_report
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.features.find.facts import search_report
from tests.support.commands import Toolsight


@given(st.lists(st.tuples(st.sampled_from(Outcome), st.floats(-1, 3)), max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_result_is_listed_and_the_ranks_run_on_or_say_which_are_left_out(
    capsys: pytest.CaptureFixture[str], outcomes: list[tuple[Outcome, float]]
) -> None:
    hits = tuple(Hit(rank, Score(f"s:t{rank}", value), one) for rank, (one, value) in enumerate(outcomes, 1))
    say_report(search_report(SearchReport(SearchRequest("q"), "hybrid", hits, scored=len(hits))))
    printed = capsys.readouterr().out
    told = 0
    for alone, first, last in re.findall(
        r"^ *(\d+)  +s:t\d+ |… ranks? (\d+)(?:–(\d+))?", printed, re.MULTILINE
    ):
        assert told + 1 == int(alone or first)
        told = int(alone or last or first)
    assert all(re.search(rf"s:t{hit.rank}\b", printed) for hit in hits if hit.outcome.is_result)


def test_a_search_for_nothing_asks_for_a_query_before_anything_is_started(toolsight: Toolsight) -> None:
    done = toolsight("search", "--", "no-such-program")
    assert done.exit_code == 2
    assert "Give a query" in done.stderr

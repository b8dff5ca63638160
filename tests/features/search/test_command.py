"""`toolsight search`: what it prints, and what programs read of it."""

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from inspector.cli.run import Exit
from inspector.cli.table import say_report
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.features.search.facts import search_report
from tests.support.commands import Toolsight
from tests.support.weather_configuration import write_weather_configuration

QUERY = "forecast for a city"


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    path = write_weather_configuration(tmp_path_factory.mktemp("xray"))
    settings = json.loads(path.read_text())
    settings["tool_discovery"] = {"defer_all": True, "embedding_model": "none"}
    path.write_text(json.dumps(settings))
    return ("--config", str(path), "--approve")


def answer(toolsight: Toolsight, *arguments: str) -> Any:
    done = toolsight(*arguments, "--json")
    assert done.exit_code in (Exit.DONE, Exit.GATE), done.stderr
    return json.loads(done.stdout)


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


def test_why_says_what_beats_a_tool_and_what_it_lacks(
    toolsight: Toolsight, configured: tuple[str, ...]
) -> None:
    found = answer(toolsight, "search", QUERY, "--why", "get_alerts", *configured)
    assert found["tool_id"] == "weather:get_alerts"
    assert "forecast" in found["lacking"]
    assert found["rival"]["tool_id"] != "weather:get_alerts"
    text = toolsight("search", QUERY, "--why", "get_alerts", *configured).stdout
    assert re.search("missing words +forecast", text)


def test_another_description_is_told_as_the_answer_and_rank_that_it_changes(
    toolsight: Toolsight, configured: tuple[str, ...]
) -> None:
    text = "Forecast for a city. Forecast for every city."
    draft = ("search", QUERY, "--why", "get_alerts", "--try-description", text, *configured)
    found, told = answer(toolsight, *draft), toolsight(*draft).stdout
    assert (found["answer_before"], found["answer_after"], found["after"]["rank"]) == ("found", "found", 1)
    assert re.search(r"^found \d+ % → found \d+ %, \w+ → 1st$", told, re.MULTILINE)
    assert re.search(r"\d+ of \d+ labelled requests changes?", told)

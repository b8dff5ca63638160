"""Equation 4 over played scenarios."""

from inspector.core.session import SessionState
from inspector.research.accuracy import accuracy
from inspector.research.source import PlayedScenario, Steps
from tests.support.reproduction import MemorySource, session


def test_accuracy_is_the_used_share_of_what_was_discovered() -> None:
    played = [session("abcd", "abx"), session("a", "a"), session("ab", "")]
    scenarios, summary = accuracy(MemorySource(played=played), Steps()).tables
    assert [row[1:] for row in scenarios.rows] == [
        ("1", "4", "2", "0.50"),
        ("1", "1", "1", "1.00"),
        ("1", "2", "0", "0.00"),
    ]
    assert summary.rows[0] == ("median of the 3 scenarios that discovered something", "0.7", "0.50")
    assert summary.rows[1][2] == "0.43"


def test_a_scenario_that_discovered_nothing_has_no_accuracy_and_no_part_in_the_median() -> None:
    played = [PlayedScenario("none", SessionState()), session("a", "a")]
    scenarios, summary = accuracy(MemorySource(played=played), Steps()).tables
    assert scenarios.rows[0] == ("none", "0", "0", "0", "–")
    assert summary.rows[0][0].startswith("median of the 1 ")


def test_without_scenarios_there_is_no_median() -> None:
    _, summary = accuracy(MemorySource(), Steps()).tables
    assert [row[2] for row in summary.rows] == ["–", "–"]

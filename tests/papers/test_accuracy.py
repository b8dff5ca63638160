"""Discovery accuracy, the product's success criteria, and how latency is taken."""

import pytest

from docs.papers.accuracy import accuracy
from docs.papers.latency import PUBLISHED, latency, synthetic_plugins
from docs.papers.source import NamedCatalog, Steps
from tests.support.fakes import ManualClock
from tests.support.reproduction import MemorySource, case, office_tools, session

pytestmark = pytest.mark.measured


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


class Ticking(ManualClock):
    """A millisecond later whenever it is looked at."""

    def monotonic(self) -> float:
        self.advance(0.001)
        return self.at


def source_with(*queries: str) -> MemorySource:
    catalog = NamedCatalog("demo", office_tools(), cases=tuple(map(case, queries)))
    source = MemorySource(
        catalog, others=[NamedCatalog("small", office_tools()[:2]), NamedCatalog("large", office_tools()[:5])]
    )
    source.clock = Ticking()
    return source


def test_every_tier_has_the_papers_numbers_beside_ours() -> None:
    demo, large = latency(source_with("late orders", "send mail"), Steps()).tables
    assert demo.title == "demo, 11 tools"
    assert large.title == "large, 5 tools"
    rows = {row[0]: row for row in demo.rows}
    for tier, (median, p95) in PUBLISHED.items():
        assert (rows[tier][2], rows[tier][4]) == (f"{median:g}", f"{p95:g}")
    in_file, on_server = (row for row in demo.rows if row[0] == "database (vector)")
    assert in_file[1:] == ("registry in SQLite", "45", "1.00", "120", "1.00")
    assert on_server[1:] == ("registry in PostgreSQL: no server named", "45", "–", "120", "–")
    markets = [row for row in demo.rows if row[0] == "marketplace (vector)"]
    assert [row[1] for row in markets] == ["hybrid, 11 entries", "hybrid, 20 synthetic entries"]
    assert markets == [row for row in large.rows if row[0] == "marketplace (vector)"]
    assert rows["end to end"][1] == "hybrid, registry, marketplace"
    assert "–" not in {cell for row in (*markets, rows["end to end"]) for cell in row}


def test_a_synthetic_marketplace_has_different_entries_and_says_what_they_are() -> None:
    made = synthetic_plugins(source_with("a").plugins(), 100)
    assert len({one.name for one in made}) == len({one.description for one in made}) == 100
    assert all(one.name.startswith("synthetic/") and not one.tools for one in made)
    assert synthetic_plugins((), 100) == ()

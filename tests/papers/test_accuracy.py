"""Discovery accuracy, the product's success criteria, and how latency is taken."""

from collections.abc import Sequence

import pytest

from docs.papers.accuracy import accuracy, criteria, found_tools, sent_without_discovery
from docs.papers.catalog_size import meter_of
from docs.papers.latency import PUBLISHED, asked, latency, measured_ranker, synthetic_plugins
from docs.papers.source import NamedCatalog, PlayedScenario, Steps, indexed
from inspector.core.session import SessionState
from inspector.core.tool import definition
from inspector.schema.json_value import compact
from inspector.tokens.counter import TiktokenCounter
from tests.support.fakes import CharacterCounter, ManualClock
from tests.support.memory_vectors import MemoryEmbedder
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


def test_a_scenario_that_discovered_nothing_has_no_accuracy_and_no_part_in_the_median() -> None:
    played = [PlayedScenario("none", SessionState()), session("a", "a")]
    scenarios, summary = accuracy(MemorySource(played=played), Steps()).tables
    assert scenarios.rows[0] == ("none", "0", "0", "0", "–")
    assert summary.rows[0][0].startswith("median of the 1 ")


CASES = (
    case("refund an order", "shop:refund_order"),
    case("track the parcel and create a calendar event", "shop:track_parcel", "calendar:create_event"),
    case("evaluate an expression", "mail:list_folders"),
    case("play some jazz"),
)


def test_every_criterion_has_a_row() -> None:
    catalog = NamedCatalog("demo", office_tools(), cases=CASES)
    source = MemorySource(catalog, searches=CASES, counter=TiktokenCounter("demo/planner"))
    (table,) = criteria(source, Steps()).tables
    names = " ".join(row[0] for row in table.rows)
    for word in ("token reduction", "search accuracy", "discovery off", "latency", "providers"):
        assert word in names
    assert next(row for row in table.rows if "discovery off" in row[0])[3] == "✓ yes"
    assert next(row for row in table.rows if "providers" in row[0])[3] == "in part"


def test_a_request_counts_as_found_where_every_tool_it_needs_is_a_result() -> None:
    source = MemorySource()
    index = indexed(source.demo(), source, Steps())
    found = found_tools(CASES, index, source, Steps(), "bm25")
    assert (found.whole, found.some, found.total) == (2, 2, 3)


def test_with_discovery_off_the_tools_array_is_that_of_static_binding() -> None:
    tools = office_tools()
    sent, static = sent_without_discovery(NamedCatalog("demo", tools), meter_of(CharacterCounter()))
    assert sent == static == compact([definition(tool) for tool in tools])
    assert "search_tools" not in sent


class Ticking(ManualClock):
    """A millisecond later whenever it is looked at."""

    def monotonic(self) -> float:
        self.advance(0.001)
        return self.at


class Counting(MemoryEmbedder):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return super().embed(texts)


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


def test_requests_and_searches_are_asked_once_each() -> None:
    catalog = NamedCatalog("demo", office_tools(), cases=(case("a"), case("b"), case("a")))
    assert asked(MemorySource(catalog, searches=[case("b"), case("c")])) == ("a", "b", "c")


def test_no_ranker_finds_the_vectors_of_queries_that_another_one_has_asked() -> None:
    source, embedder = source_with("late orders"), Counting()
    index = indexed(source.demo(), source, Steps())
    source.embedder = embedder
    for _ in range(2):
        found = measured_ranker("dense", index, ["late orders"], source, Steps())
        assert found.queries == 1
    assert embedder.texts.count("late orders") == 2

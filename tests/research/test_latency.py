"""Table 2: who is timed, over what, and which numbers are the paper's. No test looks at a real clock."""

from collections.abc import Sequence

from inspector.research.latency import PUBLISHED, asked, latency, measured_ranker, synthetic_plugins
from inspector.research.source import NamedCatalog, Steps, indexed
from tests.support.fakes import ManualClock
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.reproduction import MemorySource, case, office_tools


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


def test_a_search_over_every_tier_takes_longer_than_each_of_them() -> None:
    rows = {row[0]: row for row in latency(source_with("late orders"), Steps()).tables[0].rows}
    alone, whole = (float(rows[name][3]) for name in ("search_tools, not in the paper", "end to end"))
    assert whole > max(alone, float(rows["marketplace (vector)"][3]))


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

"""What past requests add to a score, and everything that they leave as it is."""

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, strategies as st

from inspector.core.ranking import Part, Score, Signal
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.document import key_of
from inspector.search.explanation.tool_edit import edited_rankers
from inspector.search.explanation.why_not import ledger
from inspector.search.index import ToolIndex
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.past import FLOOR, WEIGHT, PastRequests
from inspector.search.rankers.ranker import Ranking
from inspector.search.rankers.ranker_list import RANKERS
from inspector.search.semantics import Semantics
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.office import office
from tests.support.retrieval import embedded

TOOLS = tuple(tool for server in office().values() for tool in server.tools)
LEARNS = DiscoverySettings(learn=True)
SEMANTICS = Semantics(MemoryEmbedder(), MemoryVectors())
INDEX = embedded(ToolIndex(TOOLS, semantics=SEMANTICS), SEMANTICS)
FIRST, SECOND = TOOLS[0].id, TOOLS[1].id
QUERY = "where is my late parcel"
WORDS = ("late", "parcel", "order", "refund", "mail", "send", "event", "list", "zebra", "my")
requests = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
pasts = st.dictionaries(
    st.sampled_from([tool.id for tool in TOOLS[:6]]), st.lists(requests, min_size=1, max_size=3), max_size=4
)


def past(texts: Mapping[str, Sequence[str]]) -> PastRequests:
    asked = {key_of(text): text for each in texts.values() for text in each}
    SEMANTICS.embed(asked)
    return PastRequests(texts, SEMANTICS.table(asked))


def ranked(
    texts: Mapping[str, Sequence[str]],
    query: str = QUERY,
    *,
    settings: DiscoverySettings = LEARNS,
    ranker: str = "hybrid",
) -> Ranking:
    return CatalogRankers(INDEX, settings, past(texts)).get(ranker).rank(query)


def plain(query: str = QUERY, ranker: str = "hybrid") -> Ranking:
    return CatalogRankers(INDEX, DiscoverySettings()).get(ranker).rank(query)


def asked_before(score: Score) -> list[Part]:
    return [part for part in score.parts if part.signal is Signal.HISTORY]


def same(mine: Ranking, other: Ranking) -> bool:
    """To the last bit, explanations too."""
    return (
        mine.values.tolist() == other.values.tolist()
        and mine.kept.tolist() == other.kept.tolist()
        and all(mine.explain(at) == other.explain(at) for at in range(len(TOOLS)))
    )


def test_the_same_request_as_before_adds_the_whole_weight() -> None:
    gain = ranked({FIRST: [QUERY]}).values - plain().values
    assert gain[0] == pytest.approx(WEIGHT, abs=1e-6)


def test_a_request_is_worth_its_cosine_above_the_floor() -> None:
    similar = "where is my late order"
    cosine = float(SEMANTICS.query(similar) @ SEMANTICS.query(QUERY))
    assert FLOOR < cosine < 1
    gain = ranked({FIRST: [similar]}).values - plain().values
    assert gain[0] == pytest.approx(WEIGHT * (cosine - FLOOR) / (1 - FLOOR), abs=1e-6)


def test_a_request_below_the_floor_adds_nothing() -> None:
    assert float(SEMANTICS.query("late order") @ SEMANTICS.query(QUERY)) < FLOOR
    assert same(ranked({FIRST: ["late order"]}), plain())


def test_of_many_past_requests_the_closest_counts_once() -> None:
    many = ["zebra", "where is my late order", QUERY, "where is my parcel"]
    assert ranked({FIRST: many}).values.tolist() == ranked({FIRST: [QUERY]}).values.tolist()


def test_a_tool_without_a_history_loses_nothing() -> None:
    with_past, without = ranked({FIRST: [QUERY]}), plain()
    assert with_past.values[1:].tolist() == without.values[1:].tolist()
    assert all(with_past.explain(at) == without.explain(at) for at in range(1, len(TOOLS)))


def test_without_a_history_every_score_is_the_same_whether_it_learns_or_not() -> None:
    assert same(ranked({}), plain())


def test_what_was_asked_before_counts_for_nothing_when_learning_is_off() -> None:
    assert same(ranked({FIRST: [QUERY]}, settings=DiscoverySettings()), plain())


@pytest.mark.parametrize("ranker", [name for name in RANKERS if name not in ("hybrid", "regex")])
def test_no_other_ranker_learns(ranker: str) -> None:
    assert same(ranked({FIRST: [QUERY]}, ranker=ranker), plain(ranker=ranker))


def test_a_tool_that_is_gone_is_no_trouble() -> None:
    assert same(ranked({"gone:tool": [QUERY]}), plain())


@given(pasts, requests)
def test_parts_add_up_and_nothing_is_ever_lost(texts: dict[str, list[str]], query: str) -> None:
    with_past, without = ranked(texts, query), plain(query)
    for at, tool in enumerate(TOOLS):
        score, before = with_past.explain(at), without.explain(at)
        assert score.adds_up()
        assert score.value == with_past.values[at]
        learned = asked_before(score)
        assert [part for part in score.parts if part not in learned] == list(before.parts)
        assert len(learned) <= (tool.id in texts)
        assert score.value == before.value + math.fsum(part.value for part in learned)
        assert 0 <= score.value - before.value <= WEIGHT + 1e-6
        assert with_past.kept[at] >= without.kept[at]


@given(pasts, requests)
def test_whether_any_tool_fits_does_not_depend_on_what_was_asked_before(
    texts: dict[str, list[str]], query: str
) -> None:
    with_past, without = ranked(texts, query), plain(query)
    assert with_past.likeliest is not None
    assert with_past.likeliest == without.likeliest
    assert with_past.fit is not None
    assert without.fit is not None
    assert with_past.fit.tolist() == without.fit.tolist()


def test_the_part_tells_the_cosine_how_many_requests_there_are_and_which_is_closest() -> None:
    (part,) = asked_before(ranked({FIRST: ["zebra", QUERY]}).explain(0))
    assert part.term == f"asked before: “{QUERY}”"
    assert part.inputs["past requests"] == 2
    assert part.inputs["cosine"] == pytest.approx(1.0, abs=1e-6)
    rest = (part.inputs["cosine"] - part.inputs["floor"]) / (1 - part.inputs["floor"])
    assert part.value == pytest.approx(part.inputs["weight"] * rest, abs=1e-6)


def test_a_tool_that_is_lifted_above_the_average_can_be_found() -> None:
    without = plain()
    low = [at for at in range(len(TOOLS)) if -WEIGHT < without.values[at] < 0 and not without.kept[at]]
    assert low
    assert ranked({TOOLS[low[0]].id: [QUERY]}).kept[low[0]]


def test_a_long_request_is_not_quoted() -> None:
    query = " ".join([QUERY] * 5)
    (part,) = asked_before(ranked({FIRST: [query]}, query).explain(0))
    assert part.term == "asked before"


def test_a_request_that_is_not_embedded_yet_adds_nothing() -> None:
    later = PastRequests({FIRST: [QUERY]})
    assert same(CatalogRankers(INDEX, LEARNS, later).get("hybrid").rank(QUERY), plain())


def test_by_words_alone_nothing_is_learned() -> None:
    bare = ToolIndex(TOOLS)
    with_past = CatalogRankers(bare, LEARNS, past({FIRST: [QUERY]})).get("hybrid").rank(QUERY)
    without = CatalogRankers(bare, DiscoverySettings()).get("hybrid").rank(QUERY)
    assert with_past.values.tolist() == without.values.tolist()


def test_a_search_says_why_there_are_no_past_requests() -> None:
    broken = PastRequests(problem="the file is damaged")
    ranking = CatalogRankers(INDEX, LEARNS, broken).get("hybrid").rank(QUERY)
    assert ranking.note == "past requests ignored: the file is damaged"
    assert ranking.values.tolist() == plain().values.tolist()


def test_two_tools_that_were_asked_for_before_are_compared_in_one_line() -> None:
    both = ranked({FIRST: [QUERY], SECOND: ["where is my late order"]})
    lines = [line for line in ledger(both.explain(0), both.explain(1)) if line.signal is Signal.HISTORY]
    assert [line.term for line in lines] == ["asked before"]
    assert lines[0].mine > lines[0].rival > 0


def test_an_edited_tool_keeps_what_was_asked_before() -> None:
    rankers = CatalogRankers(INDEX, LEARNS, past({FIRST: [QUERY]}))
    edited = Tool(TOOLS[0].server, TOOLS[0].name, "Something else.")
    changed = edited_rankers(rankers, edited, FIRST)
    assert asked_before(changed.get("hybrid").rank(QUERY).explain(0))

"""What past use in earlier sessions adds to scores."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.core.message import UserMessage
from inspector.core.ranking import Part, Score, SearchRequest, Signal
from inspector.core.settings import DiscoverySettings, GateSettings
from inspector.loop.gate import Gate
from inspector.search.answer.search import SearchRules
from inspector.search.index.past_use import PastUse, Use
from inspector.search.index.semantics import Semantics
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import FULL, Affinity, CatalogRankers, priors
from inspector.search.ranker.ranker import Ranking, ServerRanker, ranking_for
from tests.support.fakes import ManualClock
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.office import office
from tests.support.retrieval import embedded

TOOLS = tuple(tool for server in office().values() for tool in server.tools)
SEMANTICS = Semantics(MemoryEmbedder(), MemoryVectors())
INDEX = embedded(ToolIndex(TOOLS, semantics=SEMANTICS), SEMANTICS)
FIRST, SECOND = TOOLS[0].id, TOOLS[1].id
QUERY = "where is my late parcel order"
USE_WEIGHT = 0.5
Uses = Mapping[str, int]
WORDS = ("late", "parcel", "order", "refund", "mail", "send", "event", "list", "zebra", "my")
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
uses_of_some = st.dictionaries(st.sampled_from([tool.id for tool in TOOLS]), st.integers(1, 60))
# One of each kind: past use is added to any ranker's scores in the same way.
KINDS = ("hybrid", "bm25", "fuzzy", "three-tier", "two-stage-product")
every_ranker = pytest.mark.parametrize("ranker", KINDS)


def rankers(uses: Uses, weight: float = USE_WEIGHT, ranker: str = "hybrid") -> CatalogRankers:
    settings = DiscoverySettings(ranker=ranker, affinity=weight, expert_tools=(SECOND,))
    past = PastUse("ada", {tool: Use(number, float(number)) for tool, number in uses.items()})
    return CatalogRankers(INDEX, settings, used=past)


def ranked(uses: Uses, query: str = QUERY, *, weight: float = USE_WEIGHT, ranker: str = "hybrid") -> Ranking:
    return rankers(uses, weight, ranker).get(ranker).rank(query)


def plain(query: str = QUERY, ranker: str = "hybrid") -> Ranking:
    return rankers({}, ranker=ranker).plain(ranker).rank(query)


def past_use(score: Score) -> list[Part]:
    return [part for part in score.parts if part.signal is Signal.AFFINITY]


def test_the_first_uses_count_most_and_from_a_number_on_no_more() -> None:
    found = priors(np.array([0.0, 1.0, 5.0, FULL, 10 * FULL])).tolist()
    assert found[0] == 0.0
    assert found[1] == pytest.approx(math.log(2) / math.log(21))
    assert found == sorted(found)
    assert found[3:] == [1.0, 1.0]


def test_a_tool_gains_its_prior_of_the_deviation_of_the_scores() -> None:
    before, after = plain("list mail", "bm25"), ranked({FIRST: 5}, "list mail", ranker="bm25")
    at = next(at for at in range(len(TOOLS)) if before.kept[at])
    after = ranked({TOOLS[at].id: 5}, "list mail", ranker="bm25")
    expected = USE_WEIGHT * before.values.std() * math.log(6) / math.log(21)
    assert after.values[at] - before.values[at] == pytest.approx(expected)


@every_ranker
@given(uses=uses_of_some, query=queries)
def test_parts_add_up_and_a_tool_that_was_never_used_keeps_its_score(
    ranker: str, uses: dict[str, int], query: str
) -> None:
    after, before = ranked(uses, query, ranker=ranker), plain(query, ranker)
    low = before.values[before.values < 500]
    most = USE_WEIGHT * float(low.std()) if len(low) else 0.0
    for at, tool in enumerate(TOOLS):
        score, without = after.explain(at), before.explain(at)
        added = past_use(score)
        assert score.adds_up()
        assert score.value == after.values[at]
        assert [part for part in score.parts if part not in added] == list(without.parts)
        assert len(added) <= (tool.id in uses)
        assert 0 <= score.value - without.value <= most + 1e-9
        assert before.kept[at] or not added
        if not added:
            assert score == without


@every_ranker
@given(uses=uses_of_some, query=queries)
def test_a_habit_never_turns_no_tool_fits_into_a_yes(ranker: str, uses: dict[str, int], query: str) -> None:
    """Nor does it make a result of a tool that would be none, however many results there may be."""
    after, before = ranked(uses, query, weight=1.0, ranker=ranker), plain(query, ranker)
    rules, request = SearchRules(5, 0.35, 0.1), SearchRequest(query, min_similarity=0.2)
    assert after.probability == before.probability
    assert rules.answer(after) is rules.answer(before)
    assert rules.likely(after, request).tolist() == rules.likely(before, request).tolist()


def test_the_gate_lets_no_tool_through_because_it_was_used() -> None:
    settings = GateSettings(ranker="dense", threshold=0.3)
    applied = [
        Gate(ManualClock()).apply(
            rankers(uses, 1.0, "dense"), [UserMessage(QUERY)], settings, pinned=(), unmet={}, tokens=len
        )
        for uses in ({}, {tool.id: 50 for tool in TOOLS})
    ]
    assert applied[0].candidates == applied[1].candidates


@pytest.mark.parametrize("ranker", ["two-stage", "two-stage-product"])
def test_a_request_with_a_server_of_its_own_counts_what_was_used_too(ranker: str) -> None:
    found = rankers({tool.id: 9 for tool in TOOLS}, ranker=ranker)
    request = SearchRequest("late orders", server_query="a shop")
    assert isinstance(found.get(ranker), ServerRanker)
    base = ranking_for(found.plain(ranker), request)
    used = ranking_for(found.get(ranker), request)
    assert (used.values >= base.values).all()
    assert (used.values > base.values).any()


@pytest.mark.parametrize("ranker", ["hybrid", "three-tier"])
def test_a_habit_lifts_no_tool_into_a_higher_tier(ranker: str) -> None:
    query = TOOLS[1].name.replace("_", " ")
    before = plain(query, ranker)
    best = before.order(1)[0]
    uses = {tool.id: 50 for at, tool in enumerate(TOOLS) if at != best}
    assert before.values[best] >= 1000
    assert ranked(uses, query, weight=1.0, ranker=ranker).order(1) == [best]


def test_the_part_tells_how_often_the_tool_was_used_and_by_whom() -> None:
    at = plain().order(1)[0]
    past = PastUse("ada", {TOOLS[at].id: Use(12, 8.3)})
    (part,) = past_use(Affinity(INDEX, past, 0.3).added(plain()).explain(at))
    assert part.term == "used 12 times by ada"
    assert (part.inputs["uses"], part.inputs["by age"], part.inputs["weight"]) == (12, 8.3, 0.3)
    product = math.prod(part.inputs[name] for name in ("prior", "weight", "spread"))
    assert part.value == pytest.approx(product)

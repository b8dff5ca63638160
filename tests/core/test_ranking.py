"""Ranks in a list, and what the search tool says of itself."""

import pytest
from hypothesis import given, strategies as st

from inspector.config.profile import find_profile
from inspector.core.ranking import Gap, Hit, Outcome, Score, SearchOffer, with_gaps
from inspector.search.ranker.ranker_list import RANKERS, matching

outcome_lists = st.lists(st.sampled_from(Outcome), max_size=20)


@given(outcome_lists, st.sets(st.integers(1, 20)), st.integers(0, 30))
def test_the_ranks_of_a_list_run_from_first_to_last(
    outcomes: list[Outcome], dropped: set[int], more: int
) -> None:
    kept = [(rank, one) for rank, one in enumerate(outcomes, start=1) if rank not in dropped]
    hits = [Hit(rank, Score(f"s:t{rank}", 1.0), one) for rank, one in reversed(kept)]
    told = 0
    for one in with_gaps(hits, lambda hit: hit.outcome is not Outcome.OTHER_SERVER, len(outcomes) + more):
        assert told + 1 == (one.first if isinstance(one, Gap) else one.rank)
        told = one.last if isinstance(one, Gap) else one.rank
    assert told == len(outcomes) + more or (not told and not outcomes)


def described(offer: SearchOffer, *, advisory: bool = False) -> str:
    text: str = offer.parameters(advisory=advisory)["properties"]["query"]["description"]
    return text


@pytest.mark.parametrize("advisory", [False, True])
def test_each_way_of_matching_is_told_differently(advisory: bool) -> None:
    ways = [SearchOffer("words"), SearchOffer("meaning"), SearchOffer("both"), SearchOffer("spelling")]
    told = [described(offer, advisory=advisory) for offer in (*ways, SearchOffer("pattern"))]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize("ranker", [*RANKERS, "unknown"])
def test_a_query_is_asked_for_in_the_words_of_an_interface_but_for_patterns_and_the_prds_own(
    ranker: str,
) -> None:
    offer = SearchOffer(matching(ranker, has_vectors=True))
    told = described(offer)
    if ranker == "prd-bm25":
        wanted = "Natural language capability search (e.g. 'create a calendar event'). Uses keyword matching."
        assert told == wanted
    elif offer.matching == "pattern":
        assert told.startswith("A regular expression")
    else:
        assert told.startswith(
            "What one tool has to do, in the words of an interface: verb, object, data; one need at a time "
            "(e.g. 'create a calendar event'). "
        )
    assert described(offer, advisory=True) == told


def test_the_profile_of_the_prd_searches_with_its_own_ranker() -> None:
    assert find_profile("prd").values["discovery.ranker"] == "prd-bm25"


def test_tags_and_limit_are_offered_only_where_there_are_any() -> None:
    assert set(SearchOffer().parameters()["properties"]) == {"query", "server_name", "tool_names"}
    offered = SearchOffer(domains=("comms",), limit=10).parameters()["properties"]
    assert offered["domain"]["items"]["enum"] == ["comms"]
    assert "at most 10" in offered["limit"]["description"]

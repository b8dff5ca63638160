"""Ranks in a list, and what the search tool says of itself."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.ranking import Gap, Hit, Outcome, Score, SearchOffer, with_gaps

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


def test_tags_and_limit_are_offered_only_where_there_are_any() -> None:
    assert set(SearchOffer().parameters()["properties"]) == {"query", "server_name", "tool_names"}
    offered = SearchOffer(domains=("comms",), limit=10).parameters()["properties"]
    assert offered["domain"]["items"]["enum"] == ["comms"]
    assert "at most 10" in offered["limit"]["description"]

"""What search_tools says of itself is true of the ranker in use, and it offers what a profile wants."""

import pytest

from inspector.core.ranking import SearchOffer


def described(offer: SearchOffer, *, advisory: bool = False) -> str:
    text: str = offer.parameters(advisory=advisory)["properties"]["query"]["description"]
    return text


@pytest.mark.parametrize("advisory", [False, True])
def test_each_way_of_matching_is_told_differently(advisory: bool) -> None:
    ways = [SearchOffer("words"), SearchOffer("meaning"), SearchOffer("both"), SearchOffer("spelling")]
    told = [described(offer, advisory=advisory) for offer in (*ways, SearchOffer("pattern"))]
    assert len(set(told)) == len(told)


def test_only_a_pattern_is_no_natural_language() -> None:
    assert "regular expression" in described(SearchOffer("pattern"))
    assert "atural language" in described(SearchOffer("words"))


def test_tags_and_limit_are_offered_only_where_there_are_any() -> None:
    assert set(SearchOffer().parameters()["properties"]) == {"query", "server_name", "tool_names"}
    offered = SearchOffer(domains=("comms",), limit=10).parameters()["properties"]
    assert offered["domain"]["items"]["enum"] == ["comms"]
    assert "at most 10" in offered["limit"]["description"]

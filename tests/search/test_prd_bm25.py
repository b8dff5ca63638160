"""PRD section 2.4 as it is written, with what it cannot find."""

import pytest
from hypothesis import given, strategies as st
from rank_bm25 import BM25Okapi

from inspector.core.ranking import Signal
from inspector.core.tool import Tool
from inspector.search.rankers.bm25 import PrdBm25Ranker

words = st.sampled_from(["create", "page", "order", "late", "list", "mail", "weather", "the", "User", "x1"])
texts = st.lists(words, max_size=8).map(" ".join)
catalogs = st.lists(st.tuples(words, texts), min_size=1, max_size=12).map(
    lambda pairs: [Tool("s", name, description) for name, description in pairs]
)
WIKI = (
    Tool("wiki", "create_page", "Makes a new one."),
    Tool("wiki", "delete-page", "Removes it."),
    Tool("wiki", "movePage", "Puts it elsewhere."),
    Tool("mail", "send", "Sends a message to a person."),
    Tool("calc", "evaluate", "Computes a number."),
)


def found(tools: tuple[Tool, ...], query: str) -> list[str]:
    ranking = PrdBm25Ranker(tools).rank(query)
    return [tools[position].name for position in ranking.order() if ranking.kept[position]]


@given(catalogs, texts)
def test_scores_are_those_of_rank_bm25(tools: list[Tool], query: str) -> None:
    documents = [f"{tool.name} {tool.description}".lower().split() for tool in tools]
    expected = BM25Okapi(documents).get_scores(query.lower().split())
    assert PrdBm25Ranker(tools).rank(query).values == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("count", [1, 2])
def test_in_a_catalog_of_one_or_two_tools_not_even_an_exact_name_is_found(count: int) -> None:
    tools = (Tool("s", "create_page", "Create a page."), Tool("s", "delete_user", "Delete a user."))[:count]
    assert found(tools, "create_page") == []
    assert found(tools, "create a page") == []


def test_from_three_tools_on_an_exact_name_is_found() -> None:
    assert found(WIKI[2:], "evaluate") == ["evaluate"]


@pytest.mark.parametrize("name", ["create_page", "delete-page", "movePage"])
def test_a_name_of_several_words_is_found_only_as_it_is_written(name: str) -> None:
    assert found(WIKI, name) == [name]
    assert found(WIKI, name.replace("_", " ").replace("-", " ").replace("P", " p")) == []


def test_punctuation_sticks_to_its_word() -> None:
    assert found(WIKI, "person") == []
    assert found(WIKI, "person.") == ["send"]


def test_a_word_that_most_tools_have_may_count_against_them() -> None:
    tools = [Tool("s", "page", name) for name in ("page", "page", "page x")]
    ranking = PrdBm25Ranker(tools).rank("page")
    assert (ranking.values < 0).all()
    assert not ranking.kept.any()
    assert all(part.value < 0 for part in ranking.explain(0).parts)


def test_a_word_asked_twice_counts_twice() -> None:
    ranker = PrdBm25Ranker(WIKI)
    once, twice = ranker.rank("send").explain(3), ranker.rank("send send").explain(3)
    assert twice.value == pytest.approx(2 * once.value)
    assert [part.term for part in twice.parts] == ["send"]


def test_a_share_is_split_between_name_and_description() -> None:
    tools = (*WIKI, Tool("shop", "orders", "List orders with more orders"))
    score = PrdBm25Ranker(tools).rank("orders").explain(len(WIKI))
    shares = {part.signal: part.value for part in score.parts}
    assert shares[Signal.DESCRIPTION] == pytest.approx(2 * shares[Signal.NAME])
    assert score.parts[0].inputs["tf"] == 3
    assert score.parts[0].inputs["df"] == 1


def test_a_tool_that_has_the_word_for_nothing_says_so() -> None:
    score = PrdBm25Ranker(WIKI[:2]).rank("create_page").explain(0)
    assert [(part.value, part.inputs["idf"]) for part in score.parts] == [(0.0, 0.0)]


@pytest.mark.parametrize("tools", [(), (Tool("s", ""),), (Tool("s", " "), Tool("s", "", "\n"))])
def test_a_catalog_without_words_finds_nothing(tools: tuple[Tool, ...]) -> None:
    assert found(tools, "create page") == []

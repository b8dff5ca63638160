"""Keyword matching of expert and system tools (paper, sections 4.1 and 4.2)."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from inspector.core.ranking import Signal
from inspector.core.tool import Tool
from inspector.search.rankers import keyword as weight
from inspector.search.rankers.keyword import KeywordExpertRanker, KeywordSystemRanker, keywords
from inspector.search.rankers.ranker import Ranker
from inspector.search.vocabulary import VOCABULARY, is_domain_term, query_words, words

some_words = st.sampled_from(["create", "page", "order", "late", "list", "purple", "chart", "user", "x1"])
texts = st.lists(some_words, max_size=6).map(" ".join)
catalogs = st.lists(st.builds(Tool, st.just("s"), texts, texts), max_size=8)
TOOLS = (
    Tool("wiki", "createPage", "Make a new document."),
    Tool("wiki", "createPageFromTemplate", "Make a document that looks like another."),
    Tool("data", "run_query", "Query a database and draw a chart."),
    Tool("misc", "ponder", "Think about purple elephants."),
    Tool("misc", "ls", "Show what is there."),
)


def found(ranker: Ranker, tools: Sequence[Tool], query: str) -> list[str]:
    ranking = ranker.rank(query)
    return [tools[position].name for position in ranking.order() if ranking.kept[position]]


def signals(query: str, position: int) -> dict[Signal, float]:
    return {
        part.signal: part.value for part in KeywordExpertRanker(TOOLS).rank(query).explain(position).parts
    }


def test_the_curated_vocabulary_is_lower_case_words_that_survive_splitting() -> None:
    assert all(words(word) == [word] for word in VOCABULARY)
    assert len(VOCABULARY) >= 150


def test_a_plural_is_in_the_vocabulary_as_its_singular_is() -> None:
    assert is_domain_term("documents")
    assert not is_domain_term("purple")


def test_query_words_are_split_like_names_and_each_is_there_once() -> None:
    assert query_words("createPage for the create_page") == ("create", "page")


def test_the_evidence_is_weighed_in_the_order_of_the_paper() -> None:
    tiers = (
        weight.EXACT_NAME,
        weight.NAME_CONTAINMENT,
        weight.KEYWORD_OVERLAP,
        weight.DESCRIPTION_SUBSTRING,
    )
    assert list(tiers) == sorted(tiers, reverse=True)
    assert tiers[0] > sum(tiers[1:])


@pytest.mark.parametrize("query", ["createPage", "CREATEPAGE", " createpage ", "wiki:createPage"])
def test_an_exact_name_is_first_however_it_is_capitalised(query: str) -> None:
    assert found(KeywordExpertRanker(TOOLS), TOOLS, query)[0] == "createPage"
    assert Signal.EXACT in signals(query, 0)


@given(catalogs, texts)
def test_an_exact_name_beats_every_tool_of_another_name(others: list[Tool], name: str) -> None:
    tools = [*others, Tool("s", name or "x", "")]
    values = KeywordExpertRanker(tools).rank(tools[-1].name).values
    assert all(
        values[-1] > values[position] for position, tool in enumerate(others) if tool.name != tools[-1].name
    )


def test_a_name_within_the_query_and_a_query_within_the_name_are_containment() -> None:
    assert signals("please ponder this", 3)[Signal.NAME] == weight.NAME_CONTAINMENT
    assert signals("createpagefrom", 1)[Signal.NAME] == weight.NAME_CONTAINMENT
    assert Signal.NAME not in signals("false alarms", 4)


def test_the_words_of_a_camel_case_name_are_keywords() -> None:
    assert found(KeywordExpertRanker(TOOLS), TOOLS, "page create") == ["createPage", "createPageFromTemplate"]


def test_a_domain_term_weighs_more_than_another_word() -> None:
    tools = (Tool("s", "one", "purple"), Tool("s", "two", "chart"))
    assert found(KeywordExpertRanker(tools), tools, "purple chart") == ["two", "one"]


def test_a_query_word_within_a_word_of_the_description_counts_as_a_substring() -> None:
    assert signals("elephant", 3) == {Signal.DESCRIPTION: weight.DESCRIPTION_SUBSTRING}


def test_what_shares_nothing_with_the_query_is_not_kept() -> None:
    for ranker in (KeywordExpertRanker(TOOLS), KeywordSystemRanker(TOOLS)):
        assert found(ranker, TOOLS, "zeppelin") == []
        assert found(ranker, TOOLS, "") == []


def test_the_keywords_of_a_system_tool_are_its_name_and_the_domain_terms_of_its_description() -> None:
    assert keywords(TOOLS[2]) == {"run", "query", "database", "draw", "chart"}
    assert keywords(TOOLS[3]) == {"ponder"}


def test_words_of_a_name_stay_however_short_they_are() -> None:
    assert keywords(TOOLS[4]) == {"ls"}


def test_what_is_outside_the_vocabulary_cannot_be_found_by_description() -> None:
    assert found(KeywordSystemRanker(TOOLS), TOOLS, "purple elephants") == []


def test_keywords_are_compared_in_both_directions() -> None:
    (part,) = KeywordSystemRanker(TOOLS).rank("database backups").explain(2).parts
    assert part.inputs == {"query words": 2, "tool keywords": 5}
    assert part.value == pytest.approx(0.5 / 2 + 0.5 / 5)


def test_of_two_tools_that_have_every_query_word_the_more_specific_one_is_first() -> None:
    tools = (Tool("s", "page", "Create, delete, list and move a document."), Tool("s", "create_page"))
    assert found(KeywordSystemRanker(tools), tools, "create page") == ["create_page", "page"]


@given(catalogs, texts)
def test_a_score_is_within_its_scale(tools: list[Tool], query: str) -> None:
    expert, system = KeywordExpertRanker(tools).rank(query), KeywordSystemRanker(tools).rank(query)
    assert all(0 <= value <= 190 + 1e-9 for value in expert.values)
    assert all(0 <= value <= 1 + 1e-9 for value in system.values)

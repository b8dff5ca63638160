"""Rankers of letters: fuzzy matching, and regular expressions."""

import re
import warnings
from difflib import SequenceMatcher

import pytest
from hypothesis import given, strategies as st

from inspector.core.ranking import Signal
from inspector.core.tool import Tool
from inspector.search.ranker.client_ranker import FuzzyRanker
from inspector.search.ranker.pattern import MAX_TEXT, PatternRanker, safe_length
from inspector.search.ranker.ranker import Ranking
from tests.support.retrieval import rankers_of

OPEN_URL = Tool(
    "web",
    "open_url",
    "Fetch a URL and return a clean text excerpt.",
    title=(
        "Use this when you need exact content from a specific URL. "
        "Prefer this after search results identify a likely source."
    ),
)
SEND = Tool("mail", "send_message", "Send a message to a person.")
TOOLS = (OPEN_URL, SEND, Tool("calc", "evaluate", "Compute the value of an expression."))


def value(tool: Tool, query: str) -> float:
    return float(FuzzyRanker([tool]).rank(query).values[0])


def hits(tool: Tool, query: str) -> list[str]:
    score = FuzzyRanker([tool]).rank(query).explain(0)
    return [part.term for part in score.parts[1:]]


def test_a_score_is_the_ratio_and_a_bonus_for_every_query_word_in_the_text() -> None:
    haystack = "send_message send a message to a person."
    expected = SequenceMatcher(None, "message a friend", haystack).ratio() + 0.12 * 2
    assert value(SEND, "Message a friend") == pytest.approx(expected)
    assert hits(SEND, "Message a friend") == ["message", "a"]


def test_what_scores_below_the_floor_is_left_out() -> None:
    assert not rankers_of(TOOLS, semantic=False).get("fuzzy").rank("000").kept.any()


def test_a_long_text_matches_nothing_at_all_because_difflib_ignores_its_frequent_characters() -> None:
    tool = Tool("s", "report", "the note states that these " * 8)
    assert value(tool, "tenants") == 0.0


def test_words_hit_within_other_words_as_published() -> None:
    assert hits(Tool("s", "download_data", "Windows domains."), "do a") == ["do", "a"]


def test_of_a_book_only_the_beginning_is_compared() -> None:
    book = Tool("s", "x", "ab" * 500_000)
    (part, *_) = FuzzyRanker([book]).rank("ba" * 500_000).explain(0).parts
    assert part.inputs["haystack length"] == 2_000


TOOLS_PATTERN = (
    Tool("shop", "list_orders", "List them, newest first.", {"properties": {"customer_id": {}, "limit": {}}}),
    Tool("shop", "get_order", "Get one (or none)."),
    Tool("mail", "send_message", "Send an e-mail about an order.", {"properties": {"to": {}}}),
    Tool("mail-orders", "archive", "File away."),
)
fragments = st.sampled_from([*"ab()|*+?.$^[\\", "(?:", "(?=", "{2}", "{1,}", "[ab]", "\\w"])


def rank(query: str) -> Ranking:
    return PatternRanker(TOOLS_PATTERN).rank(query)


def found(query: str) -> list[str]:
    ranking = rank(query)
    return [TOOLS_PATTERN[position].id for position in ranking.order() if ranking.kept[position]]


def signals(query: str, position: int) -> dict[Signal, float]:
    return {part.signal: part.value for part in rank(query).explain(position).parts}


def test_a_match_counts_by_where_it_is() -> None:
    assert signals("^list_", 0) == {Signal.NAME: 3.0}
    assert signals("^shop:", 0) == {Signal.SERVER: 2.0}
    assert signals("newest.*first", 0) == {Signal.DESCRIPTION: 1.0}
    assert signals("^customer_id$", 0) == {Signal.PARAMETERS: 0.5}
    assert signals("list", 0) == {Signal.NAME: 3.0, Signal.DESCRIPTION: 1.0}


def test_names_come_before_servers_and_servers_before_descriptions_whatever_their_capitals() -> None:
    assert found("ORDERS?") == [
        "shop:list_orders",
        "shop:get_order",
        "mail-orders:archive",
        "mail:send_message",
    ]


@pytest.mark.parametrize("query", ["(or", "one (or none", "(or none).*["])
def test_what_is_no_pattern_is_searched_for_as_it_is_written(query: str) -> None:
    ranking = rank(query)
    assert "not a regular expression" in ranking.note
    assert ranking.kept.tolist() == [False, "[" not in query, False, False]


@pytest.mark.parametrize(
    "query",
    [
        *("(a+)+$", "(a|a)*$", "(a|aa)+$", "(?:a*)*b", "((a)*)*b", "(?=(a+)+b)", "(ab)+"),
        *(r"(a*)\1\1b", "(?x)(a+) +$", "(a+)(?#x)+$"),
        *("a*" * 20 + "b", "a?" * 40 + "a" * 40 + "b", "(a|a)" * 30 + "b"),
    ],
)
def test_a_pattern_that_could_run_for_ever_is_taken_literally(query: str) -> None:
    ranking = PatternRanker([Tool("s", "t", "a" * 5_000), Tool("s", "u", f"Says {query} here")]).rank(query)
    assert ranking.kept.tolist() == [False, True]
    assert "backtrack" in ranking.note


@pytest.mark.parametrize(
    "query", ["create.*page", "(?i)^get_", "(foo|bar)?x", r"\d{3,}", "[^]]*x", "(?P<n>a)b*"]
)
def test_an_ordinary_pattern_is_searched_for_in_the_whole_text(query: str) -> None:
    assert safe_length(query, MAX_TEXT) == MAX_TEXT


def test_a_pattern_with_several_repetitions_is_searched_for_in_less_of_the_text() -> None:
    near, far = Tool("s", "near", "create a page title"), Tool("s", "far", " " * 500 + "create a page title")
    ranking = PatternRanker([near, far]).rank("create.*page.*title")
    assert ranking.kept.tolist() == [True, False]
    assert ranking.note == "Only the first 250 characters of each text were searched."


@given(st.lists(fragments, max_size=8).map("".join))
def test_a_pattern_that_is_not_refused_finds_what_re_finds(query: str) -> None:
    ranking = PatternRanker([Tool("s", "abba", "")]).rank(query)
    if query and not ranking.note:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = re.search(query, "abba", re.IGNORECASE)
        assert (Signal.NAME in {part.signal for part in ranking.explain(0).parts}) == (expected is not None)

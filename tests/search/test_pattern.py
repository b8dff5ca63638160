"""Search by regular expression: where it looks, what it refuses, and that it always returns."""

import re
import warnings

import pytest
from hypothesis import given, strategies as st

from inspector.core.ranking import Signal
from inspector.core.tool import Tool
from inspector.search.rankers.pattern import MAX_TEXT, PatternRanker, safe_length
from inspector.search.rankers.ranker import Ranking

TOOLS = (
    Tool("shop", "list_orders", "List them, newest first.", {"properties": {"customer_id": {}, "limit": {}}}),
    Tool("shop", "get_order", "Get one (or none)."),
    Tool("mail", "send_message", "Send an e-mail about an order.", {"properties": {"to": {}}}),
    Tool("mail-orders", "archive", "File away."),
)
fragments = st.sampled_from(
    [
        "a",
        "b",
        "(",
        "(?:",
        "(?=",
        ")",
        "|",
        "*",
        "+",
        "?",
        "{2}",
        "{1,}",
        ".",
        "[ab]",
        "\\w",
        "$",
        "^",
        "[",
        "\\",
    ]
)


def rank(query: str) -> Ranking:
    return PatternRanker(TOOLS).rank(query)


def found(query: str) -> list[str]:
    ranking = rank(query)
    return [TOOLS[position].id for position in ranking.order() if ranking.kept[position]]


def signals(query: str, position: int) -> dict[Signal, float]:
    return {part.signal: part.value for part in rank(query).explain(position).parts}


def test_a_match_counts_by_where_it_is() -> None:
    assert signals("^list_", 0) == {Signal.NAME: 3.0}
    assert signals("^shop:", 0) == {Signal.SERVER: 2.0}
    assert signals("newest.*first", 0) == {Signal.DESCRIPTION: 1.0}
    assert signals("^customer_id$", 0) == {Signal.PARAMETERS: 0.5}
    assert signals("list", 0) == {Signal.NAME: 3.0, Signal.DESCRIPTION: 1.0}


def test_names_come_before_servers_and_servers_before_descriptions() -> None:
    assert found("orders?") == [
        "shop:list_orders",
        "shop:get_order",
        "mail-orders:archive",
        "mail:send_message",
    ]


def test_a_pattern_may_span_server_and_name() -> None:
    assert found("shop:(get|list)") == ["shop:list_orders", "shop:get_order"]


def test_capitals_do_not_matter() -> None:
    assert found("SEND_MESSAGE") == ["mail:send_message"]


def test_an_empty_query_finds_nothing() -> None:
    assert found("") == found("  ") == []


@pytest.mark.parametrize("query", ["(or", "one (or none", "(or none).*["])
def test_what_is_no_pattern_is_searched_for_as_it_is_written(query: str) -> None:
    ranking = rank(query)
    assert "not a regular expression" in ranking.note
    assert ranking.kept.tolist() == [False, "[" not in query, False, False]


def test_a_valid_pattern_has_nothing_to_note() -> None:
    assert rank("order.*").note == ""


def test_a_query_that_is_too_long_is_searched_for_by_its_start() -> None:
    tool = Tool("s", "t", "x" * 300)
    ranking = PatternRanker([tool]).rank("x" * 250)
    assert ranking.kept.all()
    assert "longer than 200 characters" in ranking.note


@pytest.mark.parametrize(
    "query",
    [
        *("(a+)+$", "(a|a)*$", "(a|aa)+$", "(?:a*)*b", "((a)*)*b", "(?=(a+)+b)"),
        *(r"(a*)\1\1b", "(?x)(a+) +$", "(a+)(?#x)+$"),
        *("a*" * 20 + "b", "a?" * 40 + "a" * 40 + "b", "(a|a)" * 30 + "b"),
    ],
)
def test_a_pattern_that_could_run_for_ever_is_taken_literally(query: str) -> None:
    ranking = PatternRanker([Tool("s", "t", "a" * 5_000), Tool("s", "u", f"Says {query} here")]).rank(query)
    assert ranking.kept.tolist() == [False, True]
    assert "backtrack" in ranking.note


@pytest.mark.parametrize("query", ["create.*page", "^get_", "(foo|bar)?x", r"\d{3,}", "[^]]*x", "(?P<n>a)b*"])
def test_an_ordinary_pattern_is_searched_for_in_the_whole_text(query: str) -> None:
    assert safe_length(query, MAX_TEXT) == MAX_TEXT


def test_a_pattern_with_several_repetitions_is_searched_for_in_less_of_the_text() -> None:
    near, far = Tool("s", "near", "create a page title"), Tool("s", "far", " " * 500 + "create a page title")
    ranking = PatternRanker([near, far]).rank("create.*page.*title")
    assert ranking.kept.tolist() == [True, False]
    assert ranking.note == "Only the first 250 characters of each text were searched."


@given(st.lists(fragments, max_size=12).map("".join))
def test_every_pattern_returns(query: str) -> None:
    tools = [Tool("s", "a" * 64, "a" * 5_000), Tool("s", "ab" * 32, "ab" * 2_500)]
    assert len(PatternRanker(tools).rank(query).order()) == 2


@given(st.lists(fragments, max_size=8).map("".join))
def test_a_pattern_that_is_not_refused_finds_what_re_finds(query: str) -> None:
    ranking = PatternRanker([Tool("s", "abba", "")]).rank(query)
    if query and not ranking.note:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = re.search(query, "abba", re.IGNORECASE)
        assert (Signal.NAME in {part.signal for part in ranking.explain(0).parts}) == (expected is not None)

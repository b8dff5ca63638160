"""Expectations: how they are read, and what a search does with them."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.access.reach import EvalCase
from inspector.core.error import ConfigError
from inspector.core.tool import Catalog, Tool
from inspector.search.answer.expectation import (
    Expectation,
    ExpectationResult,
    as_case,
    expected,
    parse,
    resolved,
    results,
)
from inspector.search.answer.request_file import read_expectations
from inspector.search.answer.search import SearchRules
from tests.support.hostile import with_hostile_text
from tests.support.retrieval import rankers_of

LATE = Tool("shop", "list_orders", "Late orders of a customer.")
REFUND = Tool("shop", "refund_order", "Give a customer the money back.")
PAPER = Tool("office", "list_orders", "Orders of paper and pens.")
MAIL = Tool("office", "send_mail", "Send a message to people.")
TOOLS = (LATE, REFUND, PAPER, MAIL)
RANKERS = rankers_of(TOOLS, semantic=False)
SEMANTIC = rankers_of(TOOLS)


def tried(text: str, ranker: str = "bm25", rules: SearchRules | None = None) -> ExpectationResult:
    one = resolved(parse(text), Catalog(TOOLS), is_whole=True)
    rankers = SEMANTIC if ranker == "hybrid" else RANKERS
    return next(results([one], rankers, ranker, rules or SearchRules()))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("late orders -> list_orders", Expectation("late orders", frozenset({"list_orders"}))),
        ("a->shop:x", Expectation("a", frozenset({"shop:x"}))),
        ("a -> b -> c", Expectation("a -> b", frozenset({"c"}))),
        ("a -> x@5", Expectation("a", frozenset({"x"}), 5)),
        ("a -> x >= 0.6", Expectation("a", frozenset({"x"}), 1, 0.6)),
        ("a -> x@3>=1", Expectation("a", frozenset({"x"}), 3, 1.0)),
        ("a -> @scope/server:x", Expectation("a", frozenset({"@scope/server:x"}))),
        ("tell a joke -> nothing", Expectation("tell a joke", frozenset())),
    ],
)
def test_an_expectation_is_read_as_it_is_written(text: str, read: Expectation) -> None:
    assert parse(text) == read


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("late orders", "has no arrow"),
        ("-> list_orders", "has no request"),
        ("late orders ->", "has no tool"),
        ("a -> x@", "'' is not a number of results"),
        ("a -> x@0", "'0' is not a number"),
        ("a -> x@five", "'five' is not a number"),
        (f"a -> x@{'9' * 5_000}", "is not a number"),
        ("a -> x>=60", "'60' is not a confidence"),
        ("a -> x>=nan", "'nan' is not a confidence"),
        ("a -> x>=", "'' is not a confidence"),
    ],
)
def test_what_is_no_expectation_is_refused_with_what_to_write(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert said in caught.value.message
    assert "->" in str(caught.value.hint)


@with_hostile_text
def test_any_text_is_an_expectation_or_refused(text: str) -> None:
    for one in (text, f"{text} -> x", f"x -> {text}", f"x -> y@{text}", f"x -> y>={text}"):
        with suppress(ConfigError):
            assert parse(one).query


@given(
    st.text("ab >-@=0", min_size=1).map(str.strip).filter(bool),
    st.from_regex(r"[a-z][a-z_:]{0,8}", fullmatch=True),
    st.integers(1, 999_999),
    st.integers(0, 100),
)
def test_an_expectation_reads_back_as_it_is_printed(
    query: str, tool: str, within: int, per_cent: int
) -> None:
    one = Expectation(query, frozenset({tool} - {"nothing"}), within, per_cent / 100)
    assert parse(one.text) == one


def test_a_plain_name_finds_its_tool_and_an_unknown_or_shared_one_is_refused_with_close_names() -> None:
    one = resolved(parse("a -> refund_order"), Catalog(TOOLS), is_whole=True)
    assert one.tools == {"shop:refund_order"}
    for name, near in (("refund_oder", "shop:refund_order"), ("list_orders", "office:list_orders")):
        with pytest.raises(ConfigError) as caught:
            resolved(parse(f"a -> {name}"), Catalog(TOOLS), is_whole=True)
        assert f"a -> {name}" in caught.value.message
        assert near in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("money back -> refund_order", ""),
        ("refund customer orders -> shop:list_orders@2", ""),
        (
            "refund customer orders -> shop:list_orders",
            "shop:list_orders has rank 2; shop:refund_order is first",
        ),
        ("money back -> send_mail@4", "office:send_mail is no result"),
        ("money back -> refund_order>=0.1", "the ranker states no confidence"),
        ("zebra -> nothing", ""),
        ("money back -> nothing", "finds shop:refund_order, and nothing should fit"),
    ],
)
def test_an_expectation_holds_as_far_as_it_says(text: str, problem: str) -> None:
    found = tried(text)
    assert found.problem.startswith(problem)
    assert found.holds is not bool(problem)


def test_a_confidence_is_compared_with_what_was_asked_for() -> None:
    assert tried("money back -> refund_order", "hybrid").confidence is None, "nobody asked"
    sure = tried("money back -> refund_order>=0.01", "hybrid").confidence
    assert sure is not None
    assert tried(f"money back -> refund_order>={sure - 0.01:.3f}", "hybrid").holds
    short = tried(f"money back -> refund_order>={min(sure + 0.01, 1):.3f}", "hybrid")
    assert re.search(rf"a confidence of {int(sure * 100)}\.\d %, not ", short.problem)


def test_a_search_that_answers_nothing_still_has_ranks_but_no_confidence() -> None:
    strict = SearchRules(threshold=2.0, closest_threshold=2.0)
    assert tried("money back -> refund_order", "hybrid", strict).holds
    assert not tried("money back -> refund_order>=0.01", "hybrid", strict).holds
    assert tried("money back -> nothing", "hybrid", strict).holds


@given(st.lists(st.sampled_from(["late", "orders", "money", "paper", "mail", "customer"]), min_size=1))
def test_an_expectation_holds_exactly_from_the_rank_that_it_has(words: Sequence[str]) -> None:
    query = " ".join(words)
    for tool in TOOLS:
        rank = tried(f"{query} -> {tool.id}").rank
        for within in range(1, len(TOOLS) + 1):
            assert tried(f"{query} -> {tool.id}@{within}").holds is (rank is not None and rank <= within)


def test_labelled_requests_are_expectations_of_each_of_their_tools(tmp_path: Path) -> None:
    both = EvalCase("1", "refund and tell", (frozenset({REFUND.id}), frozenset({MAIL.id, PAPER.id})))
    assert [(one.tools, one.within) for one in expected(both)] == [
        (frozenset({REFUND.id}), 2),
        (frozenset({MAIL.id, PAPER.id}), 2),
    ]
    file = tmp_path / "requests.jsonl"
    file.write_text('{"id": "1", "query": "sing", "relevant": []}\n', encoding="utf-8")
    [nothing] = read_expectations(file)
    assert nothing.text == "sing -> nothing"
    assert as_case(nothing, 1).is_possible is False

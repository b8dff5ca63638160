"""The same query under several rankers."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ToolsightError
from inspector.core.tool import Tool
from inspector.search.explanation.standing import compare_rankers, ranks_of
from inspector.search.rankers.ranker_list import RANKERS
from tests.support.retrieval import rankers_of

TOOLS = (
    Tool("shop", "list_orders", "List orders, newest first."),
    Tool("shop", "get_order", "Get one order."),
    Tool("shop", "refund_order", "Refund an order."),
    Tool("mail", "send_message", "Send an e-mail about an order."),
    Tool("wiki", "search", "Search pages."),
)
HOSTILE = st.one_of(
    st.text(st.characters(), max_size=40), st.sampled_from(["\ud800", "\0", "", "(", "a" * 5000])
)


def test_rows_stand_in_the_order_of_the_first_ranker() -> None:
    rankers = rankers_of(TOOLS)
    for names in (["bm25", "dense"], ["dense", "bm25"]):
        comparison = compare_rankers(rankers, "refund order", names)
        ranks = [row.standings[0].rank for row in comparison.rows]
        assert ranks == sorted(ranks)
        assert comparison.names == tuple(names)


def test_a_tool_that_only_one_ranker_returns_is_there_with_its_place_in_the_other() -> None:
    comparison = compare_rankers(rankers_of(TOOLS), "search", ["bm25", "regex"])
    rows = {row.tool_id: row.standings for row in comparison.rows}
    assert rows["wiki:search"][0].kept
    only_word = compare_rankers(rankers_of(TOOLS), "rder", ["bm25", "regex"]).rows
    assert {row.tool_id for row in only_word} == {
        tool.id for tool in TOOLS if "rder" in tool.description.lower()
    }
    assert all(not row.standings[0].kept and row.standings[1].kept for row in only_word)


def test_every_ranker_gives_at_most_its_first_rows() -> None:
    comparison = compare_rankers(rankers_of(TOOLS), "order", ["bm25"], rows=2)
    assert [row.standings[0].rank for row in comparison.rows] == [1, 2]
    assert compare_rankers(rankers_of(TOOLS), "order", ["bm25"], rows=0).rows == ()


def test_what_a_ranker_does_without_is_told() -> None:
    comparison = compare_rankers(rankers_of(TOOLS, semantic=False), "order", ["bm25", "dense"])
    assert comparison.notes[0] == ""
    assert "embedded" in comparison.notes[1]


def test_one_tool_has_a_place_under_every_ranker() -> None:
    rankers = rankers_of(TOOLS)
    standings = ranks_of(rankers, "refund order", "shop:refund_order", RANKERS)
    assert tuple(standings) == RANKERS
    assert standings["hybrid"].rank == 1
    for row in compare_rankers(rankers, "refund order", RANKERS).rows:
        assert tuple(ranks_of(rankers, "refund order", row.tool_id, RANKERS).values()) == row.standings


def test_unknown_tools_and_rankers_are_named() -> None:
    with pytest.raises(ToolsightError, match="no tool 'shop:nothing'"):
        ranks_of(rankers_of(TOOLS), "order", "shop:nothing", ["bm25"])
    with pytest.raises(ToolsightError, match="no ranker 'bm52'"):
        compare_rankers(rankers_of(TOOLS), "order", ["bm52"])


def test_no_ranker_and_no_tool_make_an_empty_comparison() -> None:
    assert compare_rankers(rankers_of(TOOLS), "order", []).rows == ()
    assert compare_rankers(rankers_of(()), "order", RANKERS).rows == ()


@given(HOSTILE, HOSTILE)
def test_any_text_can_be_compared(query: str, text: str) -> None:
    rankers = rankers_of((*TOOLS, Tool("x", text, text)))
    compare_rankers(rankers, query, RANKERS)

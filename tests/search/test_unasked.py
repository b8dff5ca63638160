"""What destroys something comes last among equals, unless it is asked for."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.core.ranking import Score, Signal
from inspector.core.tool import Tool
from inspector.search.index.query import asks_for
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.hybrid import UNASKED, Unasked
from inspector.search.ranker.ranker import Ranking

TOOLS = (
    Tool("shop", "cancel_order", "Cancel an order."),
    Tool("shop", "list_orders", "List orders by state."),
    Tool("shop", "refund_order", "Refund an order."),
    Tool("mail", "send_message", "Send a message."),
    Tool("mail", "empty_bin", "Permanently deletes all mail in the bin."),
)
REQUESTS = (
    "orders that shipped late",
    "cancel order 1042",
    "get rid of the order",
    "give them their money back",
    "the order was cancelled. Mail the customer",
    "undo the deleted mail",
)


def ranking(scores: list[float]) -> Ranking:
    values = np.array(scores)
    return Ranking(values, values > 0, lambda position: Score(TOOLS[position].id, float(values[position])))


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("orders that shipped late", "shop:list_orders"),
        ("cancel order 1042", "shop:cancel_order"),
        ("get rid of the order", "shop:cancel_order"),
        ("we cancelled an order. Which orders are late?", "shop:list_orders"),
    ],
)
def test_what_destroys_comes_behind_its_equals_unless_it_is_asked_for(query: str, first: str) -> None:
    found = Unasked(ToolIndex(TOOLS)).last(ranking([4.2, 4.0, 1.0, 1.0, 1.0]), query)
    assert TOOLS[found.order(1)[0]].id == first


def test_what_destroys_by_its_description_alone_comes_last_too() -> None:
    found = Unasked(ToolIndex(TOOLS)).last(ranking([0.0, 0.0, 0.0, 2.0, 2.1]), "read my mail")
    assert TOOLS[found.order(1)[0]].id == "mail:send_message"


def test_a_tool_that_fits_far_better_stays_first() -> None:
    found = Unasked(ToolIndex(TOOLS)).last(ranking([4.5, 4.0, 1.0, 1.0, 1.0]), "the order is a mistake")
    assert TOOLS[found.order(1)[0]].id == "shop:cancel_order"


@given(st.sampled_from(REQUESTS), st.lists(st.floats(-5, 5), min_size=len(TOOLS), max_size=len(TOOLS)))
def test_the_explanation_has_what_is_subtracted_and_no_other_tool_changes(
    query: str, scores: list[float]
) -> None:
    base = ranking(scores)
    found = Unasked(ToolIndex(TOOLS)).last(base, query)
    for position, tool in enumerate(TOOLS):
        score = found.explain(position)
        lost = sum(part.value for part in score.parts if part.signal is Signal.UNASKED)
        assert score.value == found.values[position] == base.values[position] + lost
        assert lost in (0.0, -UNASKED)
        if tool.name in ("list_orders", "send_message"):
            assert lost == 0.0
    assert found.kept is base.kept


def test_whoever_names_the_object_alone_asks_for_nothing_that_is_done_to_it() -> None:
    assert not asks_for("the refund form", "get_refund_form", "cancel")
    assert not asks_for("show the reset page", "reset_page", "delete")
    assert asks_for("reset the page", "reset_page", "reset")

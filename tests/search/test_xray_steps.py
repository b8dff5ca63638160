"""One search for a request of several steps against one for each."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ToolsightError
from inspector.core.ranking import Answer
from inspector.core.tool import Tool
from inspector.search.explanation.standing import by_step
from inspector.search.query import MAX_STEPS
from inspector.search.rankers.ranker_list import RANKERS
from inspector.search.rules import SearchRules
from tests.support.retrieval import rankers_of

TOOLS = (
    Tool("shop", "list_orders", "List orders, newest first."),
    Tool("shop", "get_order", "Get one order."),
    Tool("shop", "refund_order", "Refund an order."),
    Tool("mail", "send_message", "Send an e-mail."),
    Tool("wiki", "search", "Search pages."),
)
TWO_STEPS = "Refund the order of order 5, then send an e-mail"
HOSTILE = st.one_of(st.text(st.characters(), max_size=60), st.sampled_from(["\ud800 then \0", "", "a. " * 9]))


def test_a_step_finds_what_the_whole_request_misses() -> None:
    found = by_step(rankers_of(TOOLS, semantic=False), "bm25", TWO_STEPS, SearchRules(1))
    assert [step.text for step in found.steps] == ["Refund the order of order", "send an e-mail"]
    assert [step.tool_ids for step in found.steps] == [("shop:refund_order",), ("mail:send_message",)]
    assert found.whole.text == TWO_STEPS
    assert {*found.whole.tool_ids, *found.only_steps} >= {"shop:refund_order", "mail:send_message"}
    assert len(found.only_steps) == 1


def test_what_only_the_whole_finds_is_told() -> None:
    tools = (*TOOLS, Tool("z", "both", "Order mail."))
    found = by_step(
        rankers_of(tools, semantic=False), "bm25", "Get an order, then search the pages", SearchRules(9)
    )
    assert found.only_whole == found.only_steps == ()
    few = by_step(rankers_of(tools, semantic=False), "bm25", "mail. Order", SearchRules(1))
    assert few.whole.tool_ids == few.only_whole == ("z:both",)
    assert few.only_steps == tuple(step.tool_ids[0] for step in few.steps)


def test_a_request_of_one_step_is_searched_the_same_way_twice() -> None:
    found = by_step(rankers_of(TOOLS), "hybrid", "refund an order", SearchRules(3))
    assert [step.tool_ids for step in found.steps] == [found.whole.tool_ids]
    assert found.only_steps == found.only_whole == ()


def test_a_step_that_no_tool_fits_finds_nothing_above_the_threshold() -> None:
    text = "Refund an order, then sing zxqw"
    found = by_step(rankers_of(TOOLS), "hybrid", "Refund an order; zxqw vbnm", SearchRules(2, 0.5, 0.5))
    assert [step.answer for step in found.steps] == [Answer.FOUND, Answer.NOTHING]
    assert found.steps[1].tool_ids == ()
    without = by_step(rankers_of(TOOLS), "hybrid", text, SearchRules(2))
    assert {step.answer for step in without.steps} == {Answer.FOUND}


def test_an_unknown_ranker_is_named() -> None:
    with pytest.raises(ToolsightError, match="no ranker 'nope'"):
        by_step(rankers_of(TOOLS), "nope", TWO_STEPS, SearchRules(2))


@given(HOSTILE, st.sampled_from(RANKERS), st.integers(-1, 4))
def test_any_text_is_searched_within_the_limit(text: str, ranker: str, limit: int) -> None:
    found = by_step(rankers_of(TOOLS), ranker, text, SearchRules(limit))
    assert len(found.steps) <= MAX_STEPS
    assert all(len(search.tool_ids) <= max(limit, 0) for search in (found.whole, *found.steps))
    every = {tool_id for step in found.steps for tool_id in step.tool_ids}
    assert set(found.only_steps) == every - set(found.whole.tool_ids)
    assert set(found.only_whole) == set(found.whole.tool_ids) - every

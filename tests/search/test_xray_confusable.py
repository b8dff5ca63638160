"""Which tools compete with each other."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.core.tool import Tool
from inspector.search.explanation import confusable
from inspector.search.explanation.confusable import (
    CLOSE,
    Closeness,
    Confusable,
    Reason,
    confusables,
    own_words,
)
from inspector.search.index import ToolIndex
from tests.support.retrieval import semantic_index

TOOLS = (
    Tool("shop", "search", "Find products of the shop by price."),
    Tool("wiki", "search", "Look through encyclopedia pages."),
    Tool("shop", "refund_order", "Refund a customer order in full to the card."),
    Tool("shop", "refundOrder2", "Refund a customer order in full to the card."),
    Tool("calc", "evaluate", "Evaluate an arithmetic expression."),
)
words = st.sampled_from(["create", "page", "order", "list", "mail", "weather", "user", "\ud800", "\0", ""])
texts = st.lists(words, max_size=5).map(" ".join)
catalogs = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), words, texts),
    max_size=12,
    unique_by=lambda entry: entry[:2],
).map(lambda entries: [Tool(*entry) for entry in entries])


def pairs(found: Sequence[Confusable]) -> list[frozenset[str]]:
    return [frozenset({one.first, one.second}) for one in found]


@pytest.mark.parametrize("semantic", [True, False])
def test_tools_that_say_the_same_come_first_with_the_words_they_share(semantic: bool) -> None:
    index = semantic_index(TOOLS) if semantic else ToolIndex(TOOLS)
    best = confusables(index)[0]
    assert (best.first, best.second) == ("shop:refund_order", "shop:refundOrder2")
    assert best.reason is (Reason.MEANING if semantic else Reason.WORDS)
    assert (best.cosine is not None) is semantic
    assert {"refund", "order", "custom"} <= set(best.shared)
    assert "shop" not in best.shared


@pytest.mark.parametrize("semantic", [True, False])
def test_one_name_on_two_servers_is_always_listed(semantic: bool) -> None:
    index = semantic_index(TOOLS) if semantic else ToolIndex(TOOLS)
    named = [one for one in confusables(index) if one.reason is Reason.SAME_NAME]
    assert pairs(named) == [frozenset({"shop:search", "wiki:search"})]
    assert named[0].closeness < CLOSE
    assert pairs(confusables(index, limit=1)) == pairs(named)


@pytest.mark.parametrize("semantic", [True, False])
@given(catalogs)
def test_pairs_are_unique_and_do_not_depend_on_the_order_of_the_tools(
    semantic: bool, tools: list[Tool]
) -> None:
    build = semantic_index if semantic else ToolIndex
    found, reverse = confusables(build(tools), limit=500), confusables(build(tools[::-1]), limit=500)
    assert len(set(pairs(found))) == len(found)
    assert all(len(pair) == 2 for pair in pairs(found))
    assert set(pairs(found)) == set(pairs(reverse))
    values = {frozenset({one.first, one.second}): one.closeness for one in reverse}
    assert all(values[frozenset({one.first, one.second})] == one.closeness for one in found)


@given(catalogs, st.integers(-1, 5))
def test_a_limit_keeps_the_closest_of_each_kind(tools: list[Tool], limit: int) -> None:
    index = semantic_index(tools)
    every = confusables(index, limit=500)
    some = confusables(index, limit=limit)
    assert len(some) == min(max(limit, 0), len(every))
    named = [one for one in every if one.reason is Reason.SAME_NAME]
    others = [one for one in every if one.reason is not Reason.SAME_NAME]
    assert set(some) == set([*named, *others][: max(limit, 0)])


def test_blocks_of_any_height_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(0)
    vocabulary = ["create", "page", "order", "list", "mail", "user"]
    tools = [Tool(f"s{i % 3}", f"t{i % 9}", " ".join(numbers.choice(vocabulary, 4))) for i in range(60)]
    tools = list({tool.id: tool for tool in tools}.values())
    index = semantic_index(tools)
    whole = confusables(index, limit=40)
    monkeypatch.setattr(confusable, "_CELLS", 7 * len(tools))
    assert confusables(index, limit=40) == whole


@given(catalogs)
def test_collisions_of_two_tools_are_mutual(tools: list[Tool]) -> None:
    closeness = Closeness(semantic_index(tools))
    total = sum(closeness.collisions(position) for position in range(len(tools)))
    assert total == 2 * len(confusables(semantic_index(tools), limit=500))


def test_a_tool_says_of_itself_its_first_sentence_or_else_its_name() -> None:
    assert own_words(Tool("a", "read", "Send a message. Or else read one.")) == "Send a message."
    assert own_words(Tool("a", "sendMessage")) == "send Message"
    assert own_words(Tool("a", "--")) == "--"


def test_an_empty_index_has_no_confusables() -> None:
    assert confusables(semantic_index(())) == ()

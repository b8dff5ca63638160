"""The summary pool: a line a tool, within its tokens, and the same bytes every turn."""

import pytest

from inspector.core.text import first_sentence
from inspector.core.tool import Tool, summary_pool, tool_summary

NO_LIMIT = 500


def words(text: str) -> int:
    return len(text.split())


def quarters(text: str) -> int:
    return len(text) // 4


def test_a_tool_is_its_id_and_its_first_sentence_in_one_line() -> None:
    tool = Tool("shop", "list_orders", "List  orders,\n newest first. Takes a page.")
    assert tool_summary(tool, NO_LIMIT, words) == "shop:list_orders: List orders, newest first."


@pytest.mark.parametrize("name", ["list_orders", "listOrders", "list-orders"])
def test_the_words_of_its_name_stand_for_a_missing_description(name: str) -> None:
    assert tool_summary(Tool("shop", name, " \n"), NO_LIMIT, words) == f"shop:{name}: list orders"


def test_a_tool_with_neither_description_nor_words_is_its_id() -> None:
    assert tool_summary(Tool("shop", "!"), NO_LIMIT, words) == "shop:!"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Search pages\n\nArgs:\n  query: what", "Search pages"),
        ("Search pages\r\n\r\nArgs:", "Search pages"),
        ("Search, e.g. by name. Or not.", "Search, e.g. by name."),
        ("Needs v1.2 at least. Yes.", "Needs v1.2 at least."),
        ("搜索页面。返回列表。", "搜索页面。"),
        ("no end", "no end"),
        ("", ""),
    ],
)
def test_where_the_first_sentence_ends(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_a_long_summary_is_cut_between_words() -> None:
    tool = Tool("shop", "find", "Find orders by customer, date or number")
    assert tool_summary(tool, 5, words) == "shop:find: Find orders by customer…"


def test_a_long_text_without_spaces_is_cut_all_the_same() -> None:
    assert tool_summary(Tool("s", "n", "x" * 1_000_000), 5, quarters) == f"s:n: {'x' * 17}…"


def test_a_huge_description_is_never_counted_whole() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return words(text)

    tool_summary(Tool("s", "n", "word " * 200_000), 60, count)
    assert max(counted) < 5_000
    assert len(counted) < 20


def test_without_tools_there_is_no_pool() -> None:
    assert summary_pool((), 60, words) == ""

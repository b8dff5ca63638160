import math

import pytest
from hypothesis import given, strategies as st

from inspector.core.ranking import Signal
from inspector.core.tool import Tool
from inspector.search.document import FIELDS
from inspector.search.index import ToolIndex
from inspector.search.rankers.bm25 import Bm25Ranker, Bm25Settings
from inspector.search.rankers.ranker import Ranking
from inspector.search.vocabulary import terms

words = st.sampled_from(["create", "page", "order", "late", "list", "mail", "weather", "the", "user", "x1"])
texts = st.lists(words, max_size=8).map(" ".join)
catalogs = st.lists(st.tuples(texts, texts), max_size=12).map(
    lambda pairs: [Tool("s", f"{name}_{i}", description) for i, (name, description) in enumerate(pairs)]
)


@pytest.mark.parametrize("written", ["createPage", "create_page", "create-page", "CreatePage", "create page"])
def test_a_name_is_the_same_words_however_it_is_written(written: str) -> None:
    assert terms(written) == ("creat", "page")


def test_acronyms_digits_and_accents_split_where_a_reader_would() -> None:
    assert terms("HTMLParser2") == ("html", "parser", "2")
    assert terms("größe") == ("größe",)


def test_stop_words_go_unless_nothing_else_is_left() -> None:
    assert terms("list the orders") == ("list", "order")
    assert terms("who are you") == ("who", "are", "you")


def ranking_of(tools: list[Tool], query: str) -> Ranking:
    return Bm25Ranker(ToolIndex(tools)).rank(query)


@pytest.mark.parametrize("count", [1, 2])
def test_a_catalog_of_one_or_two_tools_can_be_searched(count: int) -> None:
    tools = [Tool("s", "create_page"), Tool("s", "delete_user")][:count]
    values = ranking_of(tools, "create page").values
    assert values[0] > 0
    assert all(value == 0 for value in values[1:])


def test_a_term_that_every_tool_has_still_counts_for_something() -> None:
    tools = [Tool("s", f"page_{name}") for name in ("create", "update", "delete")]
    assert all(ranking_of(tools, "page").values > 0)


def test_a_name_weighs_more_than_a_description_and_that_more_than_a_parameter() -> None:
    schema = {"type": "object", "properties": {"refund": {"type": "string"}}}
    tools = [
        Tool("s", "other", "Something else.", schema),
        Tool("s", "other", "Makes a refund."),
        Tool("s", "refund", "Something else."),
    ]
    assert ranking_of(tools, "refund").order() == [2, 1, 0]


def test_a_share_names_the_field_it_comes_from() -> None:
    schema = {"type": "object", "properties": {"order_id": {"type": "string", "description": "The order."}}}
    tools = [Tool("orders", "list_orders", "List all orders.", schema), Tool("s", "other")]
    score = ranking_of(tools, "orders").explain(0)
    assert {part.signal for part in score.parts} == set(FIELDS)
    in_parameters = next(part for part in score.parts if part.signal is Signal.PARAMETERS)
    assert in_parameters.inputs["tf"] == 2


@given(catalogs, texts)
def test_with_one_field_the_scores_are_those_of_rank_bm25_with_a_positive_idf(
    tools: list[Tool], query: str
) -> None:
    from rank_bm25 import BM25Okapi

    # A term's document frequency counts every field, so the others must not have it.
    tools = [Tool("", "unrelated", tool.description) for tool in tools]
    documents = [list(terms(tool.description)) for tool in tools]
    wanted = list(dict.fromkeys(terms(query)))
    only = dict.fromkeys(FIELDS, 0.0) | {Signal.DESCRIPTION: 1.0}
    values = Bm25Ranker(ToolIndex(tools), Bm25Settings(only)).rank(query).values
    if not any(documents):
        assert not values.any()
        return
    model = BM25Okapi(documents)
    model.idf = {
        term: math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
        for term in {term for document in documents for term in document}
        for n in [sum(term in document for document in documents)]
    }
    assert values == pytest.approx(model.get_scores(wanted), rel=1e-5)

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.ranking import Signal
from inspector.domain.tool import Tool
from inspector.engine.retrieval.bm25 import Bm25Ranker
from inspector.engine.retrieval.term import terms

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


@pytest.mark.parametrize("count", [1, 2])
def test_a_catalog_of_one_or_two_tools_can_be_searched(count: int) -> None:
    tools = [Tool("s", "create_page"), Tool("s", "delete_user")][:count]
    scores = Bm25Ranker(tools).rank("create page")
    assert scores[0].value > 0
    assert all(score.value == 0 for score in scores[1:])


def test_a_term_that_every_tool_has_still_counts_for_something() -> None:
    tools = [Tool("s", f"page_{name}") for name in ("create", "update", "delete")]
    assert all(score.value > 0 for score in Bm25Ranker(tools).rank("page"))


def test_a_share_is_split_between_name_and_description() -> None:
    (score,) = Bm25Ranker([Tool("s", "list_orders", "List all orders, orders only.")]).rank("orders")
    shares = {part.signal: part.value for part in score.parts}
    assert shares[Signal.DESCRIPTION] == pytest.approx(2 * shares[Signal.NAME])
    assert score.parts[0].inputs["tf"] == 3


@given(catalogs, texts)
def test_the_parts_of_every_score_add_up_to_it(tools: list[Tool], query: str) -> None:
    scores = Bm25Ranker(tools).rank(query)
    assert [score.tool_id for score in scores] == [tool.id for tool in tools]
    assert all(score.adds_up() for score in scores)


@given(catalogs, texts)
def test_scores_are_the_okapi_formula_with_a_positive_idf(tools: list[Tool], query: str) -> None:
    documents = [[*terms(tool.name), *terms(tool.description)] for tool in tools]
    mean = sum(map(len, documents)) / len(documents) if documents else 0.0
    for score, document in zip(Bm25Ranker(tools).rank(query), documents, strict=True):
        expected = 0.0
        for term in dict.fromkeys(terms(query)):
            n = sum(term in other for other in documents)
            idf = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
            tf = document.count(term)
            if tf:
                expected += idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * len(document) / mean))
        assert score.value == pytest.approx(expected, abs=1e-9)

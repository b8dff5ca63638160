"""What holds for every ranker, whatever its formula. A new ranker joins by its line in `RANKERS`."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.domain.settings import DiscoverySettings
from inspector.domain.tool import Tool
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.rankers.fuzzy import FuzzyRanker
from inspector.engine.discovery.rankers.keyword_expert import KeywordExpertRanker
from inspector.engine.discovery.rankers.keyword_system import KeywordSystemRanker
from inspector.engine.discovery.rankers.pattern import PatternRanker
from inspector.engine.discovery.rankers.prd_bm25 import PrdBm25Ranker
from inspector.engine.discovery.rankers.ranker import Ranker
from tests.support.retrieval import rankers_of

Factory = Callable[[Sequence[Tool]], Ranker]


def by_meaning(name: str, tools: Sequence[Tool]) -> Ranker:
    """A ranker over an index with all its vectors, an expert's tools and a system server."""
    settings = DiscoverySettings(expert_tools=("create:*",), system_servers=("page",))
    return rankers_of(tools, settings=settings).get(name)


def by_words(name: str, tools: Sequence[Tool]) -> Ranker:
    """A ranker over an index without vectors."""
    return CatalogRankers(ToolIndex(tools), DiscoverySettings()).get(name)


INDEXED = ("hybrid", "bm25", "dense", "rrf", "z-fusion", "two-stage", "two-stage-product")
RANKERS: list[tuple[str, Factory]] = [
    *((name, partial(by_meaning, name)) for name in INDEXED),
    *((f"{name} by words", partial(by_words, name)) for name in INDEXED),
    ("prd-bm25", PrdBm25Ranker),
    ("keyword-expert", KeywordExpertRanker),
    ("keyword-system", KeywordSystemRanker),
    ("fuzzy", FuzzyRanker),
    ("fuzzy-repaired", partial(FuzzyRanker, repaired=True)),
    ("regex", PatternRanker),
]
every_ranker = pytest.mark.parametrize(("name", "factory"), RANKERS, ids=[name for name, _ in RANKERS])

characters = st.one_of(
    st.characters(), st.sampled_from("\ud800\udfff\0\u2028\u0130\u03a3\u017f\u200d -_.:*+?()[]|\\")
)
oddities = st.text(characters, max_size=12)
words = st.sampled_from(
    [
        "create",
        "page",
        "createPage",
        "list_orders",
        "get-user",
        "the",
        "a",
        "database",
        "x1",
        "Ünïcode",
        "天気",
    ]
)
texts = st.lists(st.one_of(words, oddities), max_size=6).map(" ".join)
names = st.one_of(words, oddities)
schemas = st.dictionaries(names, st.just({}), max_size=3).map(
    lambda properties: {"type": "object", "properties": properties}
)
tools = st.builds(Tool, names, names, texts, schemas, title=texts)
catalogs = st.lists(tools, max_size=8)
SHOP = (
    Tool("shop", "list_orders", "List orders, newest first.", title="Orders"),
    Tool("shop", "get_order", "Get one order."),
    Tool("mail", "send_message", "Send an e-mail about an order."),
)


@every_ranker
@given(catalogs, texts)
def test_the_parts_of_every_score_add_up_to_it(
    name: str, factory: Factory, catalog: list[Tool], query: str
) -> None:
    ranking = factory(catalog).rank(query)
    assert len(ranking.values) == len(ranking.kept) == len(catalog)
    for position, tool in enumerate(catalog):
        score = ranking.explain(position)
        assert score.tool_id == tool.id
        assert score.value == ranking.values[position]
        assert score.adds_up(), name


@every_ranker
@given(catalogs, texts)
def test_every_number_is_finite(name: str, factory: Factory, catalog: list[Tool], query: str) -> None:
    ranking = factory(catalog).rank(query)
    assert np.isfinite(ranking.values).all(), name
    for position in range(len(catalog)):
        for part in ranking.explain(position).parts:
            assert math.isfinite(part.value)
            assert all(map(math.isfinite, part.inputs.values()))


@every_ranker
@given(catalogs, texts, st.integers(0, 9))
def test_the_order_is_that_of_the_scores_with_ties_as_they_come(
    name: str, factory: Factory, catalog: list[Tool], query: str, count: int
) -> None:
    ranking = factory(catalog).rank(query)
    expected = sorted(range(len(catalog)), key=lambda position: (-ranking.values[position], position))
    assert ranking.order() == expected, name
    assert ranking.order(count) == expected[:count]


@every_ranker
@given(catalogs, texts)
def test_the_same_question_gets_the_same_answer(
    name: str, factory: Factory, catalog: list[Tool], query: str
) -> None:
    ranker = factory(catalog)
    first, second, other = ranker.rank(query), ranker.rank(query), factory(catalog).rank(query)
    assert first.values.tolist() == second.values.tolist() == other.values.tolist(), name
    assert first.kept.tolist() == second.kept.tolist() == other.kept.tolist()


@every_ranker
@given(texts)
def test_the_words_looked_for_are_all_different(name: str, factory: Factory, query: str) -> None:
    found = factory(SHOP).terms(query)
    assert len(set(found)) == len(found), name


@every_ranker
@pytest.mark.parametrize(
    "query", ["", " ", "\n\t", "\0", "\ud800", "(", "*", "the of and", "order " * 100_000]
)
def test_no_query_is_too_odd(name: str, factory: Factory, query: str) -> None:
    ranking = factory(SHOP).rank(query)
    assert all(ranking.explain(position).adds_up() for position in range(len(SHOP))), name


@every_ranker
@pytest.mark.parametrize(
    "catalog", [(), (Tool("", ""),), (Tool("", ""), Tool("", "")), (Tool("s", " ", "\n"),)]
)
def test_an_empty_catalog_and_one_without_any_text_can_be_searched(
    name: str, factory: Factory, catalog: tuple[Tool, ...]
) -> None:
    assert len(factory(catalog).rank("list orders").order()) == len(catalog), name


@every_ranker
def test_a_tool_as_large_as_a_book_is_searched_too(name: str, factory: Factory) -> None:
    huge = Tool("s" * 100_000, "list_" * 20_000, "orders " * 150_000, title="x" * 1_000_000)
    ranking = factory([huge, *SHOP]).rank("list orders")
    assert ranking.explain(0).adds_up(), name


@every_ranker
def test_a_ranker_goes_by_its_name(name: str, factory: Factory) -> None:
    assert factory(SHOP).name == name.removesuffix(" by words")

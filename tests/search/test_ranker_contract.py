"""What holds for every ranker, whatever its formula. Every ranker of the list is tried."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.index.past_use import PastUse, Use
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker import Ranker, Ranking
from inspector.search.ranker.ranker_list import RANKERS
from tests.support.retrieval import embedded, memory_semantics

Catalog = Sequence[Tool]
# A ranker over the last of these catalogs; an index goes through all of them, one change at a time.
Factory = Callable[[Sequence[Catalog]], Ranker]


def by_meaning(name: str, catalogs: Sequence[Catalog]) -> Ranker:
    """A ranker over an index with all its vectors, an expert's tools and a system server."""
    semantics = memory_semantics()
    settings = DiscoverySettings(expert_tools=("create:*",), system_servers=("page",))
    index = ToolIndex(semantics=semantics)
    for catalog in catalogs:
        index = embedded(asked(index.updated(catalog), name), semantics)
        semantics.settle(index.vectors)
    return CatalogRankers(index, settings).get(name)


def by_static_vectors(name: str, catalogs: Sequence[Catalog]) -> Ranker:
    """A ranker over an index of which the model has embedded nothing yet."""
    index = ToolIndex(semantics=memory_semantics())
    for catalog in catalogs:
        index = asked(index.updated(catalog), name)
    return CatalogRankers(index, DiscoverySettings()).get(name)


def by_words(name: str, catalogs: Sequence[Catalog]) -> Ranker:
    """A ranker over an index without vectors."""
    index = ToolIndex()
    for catalog in catalogs:
        index = asked(index.updated(catalog), name)
    return CatalogRankers(index, DiscoverySettings()).get(name)


def by_past_use(name: str, catalogs: Sequence[Catalog]) -> Ranker:
    """A ranker to whose scores past use of most tools is added."""
    index = ToolIndex()
    for catalog in catalogs:
        index = asked(index.updated(catalog), name)
    uses = {tool.id: Use(len(tool.name), len(tool.name) / 2) for tool in catalogs[-1]}
    settings = DiscoverySettings(ranker=name, affinity=1.0)
    return CatalogRankers(index, settings, used=PastUse(uses=uses)).get(name)


def asked(index: ToolIndex, name: str) -> ToolIndex:
    """The index after a search, which leaves in it what a later one can take over, or must not."""
    CatalogRankers(index, DiscoverySettings()).get(name).rank("create page")
    return index


# Rankers that never look at vectors: trying them over an index that has some would show nothing more.
READS_NO_VECTORS = frozenset(
    {
        "prd-bm25",
        "keyword-expert",
        "keyword-system",
        "fuzzy",
        "regex",
        "claude-code",
        "codex",
        "anthropic-bm25",
        "qwen-code",
        "droid",
        "vibe",
        "copilot-cli",
    }
)
CASES: list[tuple[str, Factory]] = [
    *((name, partial(by_meaning, name)) for name in RANKERS if name not in READS_NO_VECTORS),
    ("hybrid by static vectors", partial(by_static_vectors, "hybrid")),
    *((f"{name} by words", partial(by_words, name)) for name in RANKERS),
    *((f"{name} by past use", partial(by_past_use, name)) for name in ("hybrid", "two-stage", "claude-code")),
]
every_ranker = pytest.mark.parametrize(("name", "factory"), CASES, ids=[name for name, _ in CASES])

KNOWN = (
    "create",
    "page",
    "createPage",
    "list_orders",
    "get-user",
    "the",
    "a",
    "database",
    "YouTube",
    "youtube",
    "Ünïcode",
)
# What makes steps, literals and small talk of a query.
SAID = ("then", "and send", ".", "please", "notes/a.md", "“a page”", "#12", "Thanks")
characters = st.one_of(
    st.characters(), st.sampled_from("\ud800\udfff\0\u2028\u0130\u03a3\u017f\u200d -_.:*+?()[]|\\")
)
words = st.one_of(st.sampled_from((*KNOWN, "天気", "")), st.text(characters, max_size=12))
texts = st.lists(words, max_size=5).map(" ".join)
queries = st.lists(st.one_of(words, st.sampled_from(SAID)), max_size=8).map(" ".join)
schemas = st.lists(words, max_size=2).map(
    lambda names: {"type": "object", "properties": {name: {} for name in names}}
)
servers = st.one_of(st.sampled_from(["create", "page"]), words)
tools = st.builds(Tool, servers, words, texts, schemas, title=words)


FATES = st.lists(st.sampled_from(["same", "changed", "missing"]), min_size=6, max_size=6)


@st.composite
def histories(draw: st.DrawFn) -> list[list[Tool]]:
    """Up to three catalogs, one after another, of the same few tools: some come, some go, some change."""
    pool = draw(st.lists(tools, max_size=6))
    return [catalog_of(pool, fates) for fates in draw(st.lists(FATES, min_size=1, max_size=3))]


def catalog_of(pool: Catalog, fates: Sequence[str]) -> list[Tool]:
    return [
        tool if fate == "same" else replace(tool, description="page orders")
        for tool, fate in zip(pool, fates, strict=False)
        if fate != "missing"
    ]


SHOP = (
    Tool("shop", "list_orders", "List orders, newest first.", title="Orders"),
    Tool("shop", "get_order", "Get one order."),
    Tool("mail", "send_message", "Send an e-mail about an order."),
)
ODD_QUERIES = ("", " ", "\n\t", "\0", "\ud800", "(", "*", "the of and", "order " * 100_000, "Send it. " * 300)
BARE_CATALOGS = ((), (Tool("", ""),), (Tool("", ""), Tool("", "")), (Tool("s", " ", "\n"),))


@every_ranker
@given(histories(), queries, st.integers(0, 7))
def test_a_ranker_keeps_its_contract(
    name: str, factory: Factory, history: list[list[Tool]], query: str, count: int
) -> None:
    catalog, ranker = history[-1], factory(history[-1:])
    ranking = ranker.rank(query)
    assert_every_score_is_the_sum_of_finite_parts(ranking, catalog)
    assert_the_order_is_that_of_the_scores(ranking, count)
    assert_same(ranker.rank(query), ranking)
    assert_same(factory(history).rank(query), ranking)
    looked_for = ranker.terms(query)
    assert len(set(looked_for)) == len(looked_for), name


def assert_every_score_is_the_sum_of_finite_parts(ranking: Ranking, catalog: Catalog) -> None:
    assert len(ranking.values) == len(ranking.kept) == len(catalog)
    assert np.isfinite(ranking.values).all()
    for position, tool in enumerate(catalog):
        score = ranking.explain(position)
        assert score.tool_id == tool.id
        assert score.value == ranking.values[position]
        total = math.fsum(part.value for part in score.parts)
        assert math.isclose(total, score.value, rel_tol=1e-9, abs_tol=1e-9)
        for part in score.parts:
            assert math.isfinite(part.value)
            assert all(map(math.isfinite, part.inputs.values()))


def assert_the_order_is_that_of_the_scores(ranking: Ranking, count: int) -> None:
    """Ties as they come."""
    expected = sorted(range(len(ranking.values)), key=lambda position: (-ranking.values[position], position))
    assert ranking.order() == expected
    assert ranking.order(count) == expected[:count]


def assert_same(mine: Ranking, other: Ranking) -> None:
    """To the last bit, explanations too."""
    assert mine.values.tolist() == other.values.tolist()
    assert mine.kept.tolist() == other.kept.tolist()
    assert list(map(mine.explain, mine.order())) == list(map(other.explain, other.order()))


@every_ranker
def test_no_query_is_too_odd(name: str, factory: Factory) -> None:
    ranker = factory([SHOP])
    assert ranker.name == name.partition(" by ")[0]
    for query in ODD_QUERIES:
        assert_every_score_is_the_sum_of_finite_parts(ranker.rank(query), SHOP)


@every_ranker
def test_no_catalog_is_too_bare_or_too_large(name: str, factory: Factory) -> None:
    book = Tool("s" * 20_000, "list_" * 4_000, "orders " * 30_000, title="x" * 200_000)
    for catalog in (*BARE_CATALOGS, (book, *SHOP)):
        ranking = factory([catalog]).rank("list orders")
        assert_every_score_is_the_sum_of_finite_parts(ranking, catalog)
        assert len(ranking.order()) == len(catalog), name

"""What an index takes over from the one before; that it answers like a new one is in the ranker contract."""

import numpy as np

from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.index import ToolIndex
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.semantics import Semantics
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.retrieval import embedded, semantic_index


def semantics() -> Semantics:
    return Semantics(MemoryEmbedder(), MemoryVectors())


def test_only_what_changed_is_read_again() -> None:
    before = ToolIndex([Tool("s", "a", "One."), Tool("s", "b", "Two.")])
    after = before.updated([Tool("s", "a", "One."), Tool("s", "b", "Three.")])
    assert after.documents[0] is before.documents[0]
    assert after.documents[1] is not before.documents[1]


def test_a_change_keeps_the_vectors_of_everything_else() -> None:
    source, catalog = semantics(), [Tool("s", "a", "One."), Tool("s", "b", "Two.")]
    index = semantic_index(catalog, source)
    source.settle(index.vectors)
    changed = index.updated([catalog[0], Tool("s", "b", "Three.")])
    assert changed.coverage == 0.5


def test_without_enough_vectors_rankers_go_by_words_and_say_so() -> None:
    source = semantics()
    index = ToolIndex([Tool("s", "list_orders"), Tool("s", "send_mail")], semantics=source)
    ranking = CatalogRankers(index, DiscoverySettings()).get("hybrid").rank("orders")
    assert ranking.order()[0] == 0
    assert ranking.note == "words only: 0 of 2 tools embedded"


def test_a_tool_that_is_not_embedded_yet_is_judged_by_its_words_alone() -> None:
    source = semantics()
    catalog = [Tool("s", f"tool_{letter}", f"About {letter} things.") for letter in "abcdefghijk"]
    index = semantic_index(catalog, source)
    grown = index.updated([*catalog, Tool("s", "late", "List late orders.")])
    assert grown.is_semantic
    ranking = CatalogRankers(grown, DiscoverySettings()).get("hybrid").rank("late orders")
    assert ranking.order()[0] == 11
    assert ranking.explain(11).adds_up()


def test_a_servers_vector_that_comes_after_a_search_counts_in_the_next() -> None:
    source = semantics()
    catalog = [Tool("shop", "list_orders"), Tool("shop", "refund"), Tool("mail", "send")]
    smaller = semantic_index(catalog, source).updated(catalog[1:])
    query = source.query("refund")
    assert np.isnan(smaller.server_similarities(query)).tolist() == [True, False]
    assert not np.isnan(embedded(smaller, source).server_similarities(query)).any()


def test_what_a_server_says_of_its_use_is_part_of_its_text() -> None:
    tools = (Tool("shop", "refund_order", "Refund an order."),)
    index = ToolIndex(tools, instructions={"shop": "Ask before a refund."})
    assert index.server_texts["shop"].endswith("Ask before a refund.")
    assert index.updated(tools, instructions={}).server_texts["shop"].endswith("refund order")


def test_summary_lines_are_indexed_only_where_a_gate_compares_with_them() -> None:
    catalog = [Tool("s", "list_orders", "List orders. Late ones first."), Tool("s", "send_mail")]
    plain, lined = semantic_index(catalog), semantic_index(catalog, lined=True)
    assert len(plain.keys()) + len(catalog) == len(lined.keys())
    vector = lined.query_vector("late orders")
    assert vector is not None
    assert not np.isnan(lined.line_similarities(vector)).any()
    assert lined.updated(catalog[:1]).lined
    assert not lined.updated(catalog, lined=False).lined

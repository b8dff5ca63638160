"""Vectors: kept, made once, compared side by side; and the index that holds them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.core.error import StoreError
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.index.document import VectorTable
from inspector.search.index.semantics import Semantics, VectorStore
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.store.server_memory import SqliteVectors
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.retrieval import semantic_index


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolsight.db"


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[VectorStore]:
    if request.param == "memory":
        yield MemoryVectors()
        return
    opened = SqliteVectors(path)
    yield opened
    opened.close()


def test_only_what_was_kept_is_found(store: VectorStore) -> None:
    assert store.vectors("m", [b"a"]) == {}
    store.keep_vectors("m", {b"a": b"\x00\x01", b"b": b""})
    assert store.vectors("m", [b"a", b"missing", b"b"]) == {b"a": b"\x00\x01", b"b": b""}
    assert store.vectors("m", []) == {}


@pytest.mark.parametrize("count", [500, 501, 2000])
def test_any_number_of_keys_is_asked_for_at_once(store: VectorStore, count: int) -> None:
    kept = {number.to_bytes(32, "big"): bytes([number % 256]) * 1536 for number in range(count)}
    store.keep_vectors("m", kept)
    assert store.vectors("m", [*kept, *kept]) == kept


def test_a_database_that_cannot_be_used_is_told(path: Path) -> None:
    path.write_text("this is no database, " * 100)
    store = SqliteVectors(path)
    with pytest.raises(StoreError):
        store.vectors("m", [b"a"])
    with pytest.raises(StoreError):
        store.keep_vectors("m", {b"a": b"1"})
    store.close()


def semantics() -> Semantics:
    return Semantics(MemoryEmbedder(), MemoryVectors())


def test_a_change_keeps_the_vectors_of_everything_else() -> None:
    source, catalog = semantics(), [Tool("s", "a", "One."), Tool("s", "b", "Two.")]
    index = semantic_index(catalog, source)
    source.settle(index.vectors)
    changed = index.updated([catalog[0], Tool("s", "b", "Three.")])
    assert changed.coverage == 0.5


def test_a_tool_that_is_not_embedded_yet_is_judged_by_its_words_alone() -> None:
    source = semantics()
    catalog = [Tool("s", f"tool_{letter}", f"About {letter} things.") for letter in "abcdefghijk"]
    index = semantic_index(catalog, source)
    grown = index.updated([*catalog, Tool("s", "late", "List late orders.")])
    assert grown.is_semantic
    ranking = CatalogRankers(grown, DiscoverySettings()).get("hybrid").rank("late orders")
    assert ranking.order()[0] == 11
    assert ranking.explain(11).adds_up()


@given(st.integers(1, 9), st.integers(1, 200), st.integers(0, 200))
def test_a_cosine_depends_on_nothing_that_is_compared_beside_it(queries: int, rows: int, first: int) -> None:
    source = np.random.default_rng(rows)
    texts, said = (source.standard_normal((count, 384)).astype(np.float32) for count in (rows, queries))
    before = {bytes([n]): np.ones(384, np.float32) for n in range(first)}
    table = VectorTable(before).extended({b"text %d" % n: row for n, row in enumerate(texts)})
    alone = [VectorTable({b"": row}).similarities(query[None])[0, 0] for query in said for row in texts]
    assert table.similarities(said)[:, first:].ravel().tolist() == alone


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

"""What one changed tool costs an index, in counts; and that it stays the index that would be built afresh."""

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.index import document, tool_index
from inspector.search.index.document import Document, VectorTable, Vocabulary, read
from inspector.search.index.embedded_text import Key
from inspector.search.index.embedding import _missing
from inspector.search.index.semantics import Semantics
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from tests.support.memory_vectors import MemoryStaticEmbedder, MemoryVectors
from tests.support.retrieval import CountingEmbedder, embedded, memory_semantics

QUERY = "list late orders"


class CountingStatic(MemoryStaticEmbedder):
    def __init__(self) -> None:
        self.count = 0

    def embed(self, texts: Sequence[str]) -> "np.typing.NDArray[np.float32]":
        self.count += len(texts)
        return super().embed(texts)


def catalog(count: int) -> list[Tool]:
    return [
        Tool(f"s{n // 30}", f"list_orders_{n}", f"List orders of kind {n}. Late first.") for n in range(count)
    ]


def searched(index: ToolIndex) -> ToolIndex:
    CatalogRankers(index, DiscoverySettings()).get("hybrid").rank(QUERY)
    return index


@pytest.mark.parametrize("size", [50, 500])
@pytest.mark.parametrize("change", ["changed", "added", "removed", "first"])
def test_one_changed_tool_costs_the_same_in_a_catalog_of_any_size(
    size: int, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, static, documents = CountingEmbedder(), CountingStatic(), list[str]()
    semantics = Semantics(embedder, MemoryVectors(), static)
    tools, new = catalog(size), Tool("s0", "tune_piano", "Tune a piano. By ear.")
    changed = {
        "changed": [*tools[:7], new, *tools[8:]],
        "added": [*tools, new],
        "removed": tools[1:],
        "first": [new, *tools],
    }[change]
    index = searched(embedded(ToolIndex(tools, semantics=semantics), semantics))
    semantics.settle(index.vectors)

    def counted(tool: Tool, vocabulary: Vocabulary) -> Document:
        documents.append(tool.id)
        return read(tool, vocabulary)

    asked = list[str]()

    def fact(tool: Tool, _vocabulary: Vocabulary) -> int:
        asked.append(tool.id)
        return 0

    monkeypatch.setattr(tool_index, "read", counted)
    monkeypatch.setattr(tool_index, "_FACTS", (*tool_index._FACTS[:2], fact, *tool_index._FACTS[3:]))
    embedder.texts.clear()
    static.count = 0
    # The query alone.
    searched(index)
    of_query = static.count
    asked.clear()
    documents.clear()
    updated, looked = index.updated(changed), list[Key]()
    with monkeypatch.context() as patched:
        patched.setattr(VectorTable, "__contains__", lambda _table, key: looked.append(key))
        assert len(_missing(updated)) <= 5 + len(updated.servers)
    assert len(looked) == len(updated.servers)
    after = searched(embedded(updated, semantics))
    is_new = change != "removed"
    assert documents == asked == [new.id] * is_new
    assert static.count - 2 * of_query == is_new
    # Four passages, and the text of its server.
    assert len(embedder.texts) <= 5
    assert after.postings.base is index.postings.base
    assert len(after.postings.late) == is_new
    summary = after.documents[10].passages[0]
    before, now = index.vectors.get(summary), after.vectors.get(summary)
    assert before is not None
    assert now is not None
    assert np.shares_memory(before, now)


def test_an_older_index_answers_as_before_while_newer_ones_grow() -> None:
    semantics, tools = memory_semantics(), catalog(40)
    index = embedded(ToolIndex(tools, semantics=semantics), semantics)
    ranker = CatalogRankers(index, DiscoverySettings()).get("hybrid")
    before, newer = ranker.rank(QUERY).values.tolist(), index
    for number in range(40):
        newer = searched(
            embedded(newer.updated([*tools[number:], Tool("new", f"orders_{number}")]), semantics)
        )
    assert ranker.rank(QUERY).values.tolist() == before
    newest = CatalogRankers(newer, DiscoverySettings()).get("hybrid")
    of_newest = newest.rank(QUERY).values.tolist()
    # Two newer ones of the same index: the second has a table of its own.
    fresh, again = memory_semantics(), embedded(index.updated(tools[1:]), semantics)
    anew = embedded(ToolIndex(tools[1:], semantics=fresh), fresh)
    rankings = [CatalogRankers(one, DiscoverySettings()).get("hybrid").rank(QUERY) for one in (again, anew)]
    assert rankings[0].values.tolist() == rankings[1].values.tolist()
    assert newest.rank(QUERY).values.tolist() == of_newest


def test_two_changes_of_one_index_do_not_meet() -> None:
    semantics, tools = memory_semantics(), catalog(40)
    index = embedded(ToolIndex(tools, semantics=semantics), semantics)
    one = embedded(index.updated([*tools, Tool("s0", "list_late_orders", "List late orders.")]), semantics)
    ranker = CatalogRankers(one, DiscoverySettings()).get("hybrid")
    before = ranker.rank(QUERY).values.tolist()
    semantics.settle(one.vectors)
    embedded(index.updated([*tools, Tool("s0", "tune_piano", "Tune a piano.")]), semantics)
    assert ranker.rank(QUERY).values.tolist() == before


def test_few_vectors_of_former_tools_stay_in_memory_and_in_searches() -> None:
    semantics = memory_semantics()
    index = ToolIndex(semantics=semantics)
    with patch.object(tool_index, "_STALE", 4):
        for number in range(40):
            tool = Tool("shop", f"orders_{number}", f"Order {number}. Late.")
            index = searched(embedded(index.updated([tool]), semantics))
            semantics.settle(index.vectors)
    # Three of a tool's four passages, and its opening among the static ones, are its own.
    assert len(index.vectors) <= 4 + 2 * 4 + 5
    assert len(index._static_vectors[0]) <= 4 + 2 + 1


POOL = [replace(tool, server=f"s{n % 3}") for n, tool in enumerate(catalog(8))]
CHANGES = st.lists(st.permutations(POOL).flatmap(lambda tools: st.integers(0, 8).map(lambda n: tools[:n])))


@given(CHANGES, st.sets(st.integers(0, 7)))
def test_any_sequence_of_changes_gives_the_index_that_is_built_afresh(
    catalogs: list[list[Tool]], other: set[int]
) -> None:
    last = [replace(t, description="Late.") if n in other else t for n, t in enumerate(POOL)]
    semantics = memory_semantics()
    # Small enough that bases and tables are made anew in between.
    with patch.object(document, "_LATE", 2), patch.object(tool_index, "_STALE", 4):
        index = ToolIndex(semantics=semantics)
        for tools in (*catalogs, last):
            index = searched(embedded(index.updated(tools), semantics))
            semantics.settle(index.vectors)
    anew = memory_semantics()
    fresh = searched(embedded(ToolIndex(last, semantics=anew), anew))
    for term in ("list", "order", "late", "kind"):
        number, of_fresh = index.vocabulary.get(term, -1), fresh.vocabulary.get(term, -1)
        positions, frequencies = index.postings.entries(number)
        expected = fresh.postings.entries(of_fresh)
        order = np.argsort(positions)
        assert positions[order].tolist() == expected[0].tolist()
        assert frequencies[order].tolist() == expected[1].tolist()
        frequency = index.postings.document_frequencies
        assert (frequency[number] if 0 <= number < len(frequency) else 0) == len(positions)
    rankings = [CatalogRankers(one, DiscoverySettings()).get("hybrid").rank(QUERY) for one in (index, fresh)]
    assert rankings[0].values.tolist() == rankings[1].values.tolist()
    assert index.ids == fresh.ids == tuple(document.tool.id for document in index.documents)
    assert index.servers == tuple(dict.fromkeys(tool.server for tool in last))
    assert [index.servers[at] for at in index.server_of] == [tool.server for tool in last]
    assert len(index.vectors) <= 4 + 2 * 4 * len(last) + len(index.further_texts)

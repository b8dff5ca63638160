"""An index that was changed step by step answers exactly as one built anew."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings, strategies as st

from inspector.adapters.memory.vectors import MemoryEmbedder, MemoryVectors
from inspector.domain.settings import DiscoverySettings
from inspector.domain.tool import Tool
from inspector.engine.discovery.document import key_of, texts_by_key
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.semantics import Semantics

INDEXED = ("hybrid", "bm25", "dense", "rrf", "z-fusion", "two-stage", "two-stage-product")
words = st.sampled_from(
    ["create", "page", "order", "late", "list", "mail", "weather", "the", "user", "größe"]
)
texts = st.lists(words, max_size=6).map(" ".join)
schemas = st.dictionaries(words, texts, max_size=2).map(
    lambda properties: {
        "type": "object",
        "properties": {name: {"type": "string", "description": text} for name, text in properties.items()},
    }
)
tools = st.builds(Tool, st.sampled_from(["shop", "mail"]), st.sampled_from("abcdef"), texts, schemas)
catalogs = st.lists(tools, max_size=6, unique_by=lambda tool: tool.id)


def semantics() -> Semantics:
    return Semantics(MemoryEmbedder(), MemoryVectors())


def embed_all(source: Semantics, index: ToolIndex, catalog: Sequence[Tool]) -> ToolIndex:
    wanted = dict(texts_by_key(catalog)) | {key_of(text): text for text in index.server_texts.values()}
    source.embed({key: text for key, text in wanted.items() if key not in index.vectors})
    return index.with_new_vectors()


@settings(max_examples=60)
@given(st.lists(catalogs, min_size=1, max_size=5), texts)
def test_an_index_changed_step_by_step_equals_one_built_anew(steps: list[list[Tool]], query: str) -> None:
    source = semantics()
    changed = ToolIndex(semantics=source)
    for catalog in steps:
        changed = embed_all(source, changed.updated(catalog), catalog)
        source.settle(changed.vectors)
    other = semantics()
    fresh = embed_all(other, ToolIndex(steps[-1], semantics=other), steps[-1])
    for name in INDEXED:
        mine = CatalogRankers(changed, DiscoverySettings()).get(name).rank(query)
        theirs = CatalogRankers(fresh, DiscoverySettings()).get(name).rank(query)
        assert np.array_equal(mine.values, theirs.values), name
        assert np.array_equal(mine.kept, theirs.kept), name
        assert mine.order() == theirs.order()
        assert [mine.explain(p) for p in mine.order()] == [theirs.explain(p) for p in theirs.order()]


def test_only_what_changed_is_read_again() -> None:
    before = ToolIndex([Tool("s", "a", "One."), Tool("s", "b", "Two.")])
    after = before.updated([Tool("s", "a", "One."), Tool("s", "b", "Three.")])
    assert after.documents[0] is before.documents[0]
    assert after.documents[1] is not before.documents[1]


def test_a_change_keeps_the_vectors_of_everything_else() -> None:
    source, catalog = semantics(), [Tool("s", "a", "One."), Tool("s", "b", "Two.")]
    index = embed_all(source, ToolIndex(catalog, semantics=source), catalog)
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
    index = embed_all(source, ToolIndex(catalog, semantics=source), catalog)
    grown = index.updated([*catalog, Tool("s", "late", "List late orders.")])
    assert grown.is_semantic
    ranking = CatalogRankers(grown, DiscoverySettings()).get("hybrid").rank("late orders")
    assert ranking.order()[0] == 11
    assert ranking.explain(11).adds_up()

"""An embedder over a store: what was embedded once is not embedded again, and comes out the same."""

from hypothesis import given, strategies as st

from inspector.research.source import StoredEmbedder
from tests.support.memory_vectors import MemoryVectors
from tests.support.retrieval import CountingEmbedder

_texts = st.lists(st.text(max_size=20), max_size=8)


@given(_texts, _texts)
def test_a_kept_vector_is_the_one_that_was_made(first: list[str], second: list[str]) -> None:
    inner = CountingEmbedder()
    embedder = StoredEmbedder(inner, MemoryVectors())
    before = embedder.embed(first)
    assert embedder.embed(first) == before
    embedder.embed(second)
    assert sorted(inner.texts) == sorted({*first, *second})


def test_it_has_the_name_of_the_embedder_it_stands_for() -> None:
    inner = CountingEmbedder()
    embedder = StoredEmbedder(inner, MemoryVectors())
    embedder.prepare(lambda _done, _total: None, lambda: False)
    assert embedder.name == inner.name

"""The vectors of queries."""

from inspector.search.semantics import Semantics
from tests.support.memory_vectors import MemoryVectors
from tests.support.retrieval import CountingEmbedder, memory_semantics

TEXTS = ["list the orders", "refund the last order of a customer", "", "list the orders", "send a message"]


def test_texts_embedded_side_by_side_have_the_vectors_that_each_has_alone() -> None:
    together, alone = memory_semantics(), memory_semantics()
    found = together.queries(TEXTS)
    assert [vector.tolist() for vector in found] == [alone.query(text).tolist() for text in TEXTS]


def test_a_text_is_embedded_once_however_often_it_is_asked_for() -> None:
    embedder = CountingEmbedder()
    semantics = Semantics(embedder, MemoryVectors())
    semantics.query("send a message")
    semantics.queries(TEXTS)
    semantics.queries(TEXTS)
    assert sorted(embedder.texts) == sorted(set(TEXTS))

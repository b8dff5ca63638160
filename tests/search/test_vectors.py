"""Vectors kept by the database and by the fake alike, and the embedder without a model."""

import math
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.core.error import StoreError
from inspector.search.ports import VectorStore
from inspector.search.sqlite import SqliteVectors
from tests.support.memory_vectors import DIMENSIONS, MemoryEmbedder, MemoryVectors


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


def test_each_model_has_vectors_of_its_own(store: VectorStore) -> None:
    store.keep_vectors("m", {b"a": b"1"})
    store.keep_vectors("n", {b"a": b"2"})
    assert store.vectors("m", [b"a"]) == {b"a": b"1"}
    assert store.vectors("n", [b"a"]) == {b"a": b"2"}
    assert store.vectors("o", [b"a"]) == {}


def test_a_vector_kept_again_takes_the_place_of_the_first(store: VectorStore) -> None:
    store.keep_vectors("m", {b"a": b"1", b"b": b"1"})
    store.keep_vectors("m", {b"a": b"2"})
    assert store.vectors("m", [b"a", b"b"]) == {b"a": b"2", b"b": b"1"}


def test_nothing_to_keep_changes_nothing(store: VectorStore) -> None:
    store.keep_vectors("m", {b"a": b"1"})
    store.keep_vectors("m", {})
    assert store.vectors("m", [b"a"]) == {b"a": b"1"}


@pytest.mark.parametrize("count", [500, 501, 2000])
def test_any_number_of_keys_is_asked_for_at_once(store: VectorStore, count: int) -> None:
    kept = {number.to_bytes(32, "big"): bytes([number % 256]) * 1536 for number in range(count)}
    store.keep_vectors("m", kept)
    assert store.vectors("m", [*kept, *kept]) == kept


def test_another_thread_may_call_it(store: VectorStore) -> None:
    store.keep_vectors("m", {b"a": b"1"})
    found: list[object] = []

    def work() -> None:
        store.keep_vectors("m", {b"b": b"2"})
        found.append(store.vectors("m", [b"a", b"b"]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [{b"a": b"1", b"b": b"2"}]


def test_a_model_of_any_name_is_kept(store: VectorStore) -> None:
    for number, name in enumerate(["", "caf\ud800", "a\x00b", "é" * 1000]):
        store.keep_vectors(name, {b"a": bytes([number])})
        assert store.vectors(name, [b"a"]) == {b"a": bytes([number])}


def test_vectors_outlive_the_program(path: Path) -> None:
    first = SqliteVectors(path)
    first.keep_vectors("m", {b"a": b"1"})
    first.close()
    second = SqliteVectors(path)
    assert second.vectors("m", [b"a"]) == {b"a": b"1"}
    second.close()


def test_a_database_that_cannot_be_used_is_told(path: Path) -> None:
    path.write_text("this is no database, " * 100)
    store = SqliteVectors(path)
    with pytest.raises(StoreError):
        store.vectors("m", [b"a"])
    with pytest.raises(StoreError):
        store.keep_vectors("m", {b"a": b"1"})
    store.close()


def cosine(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=5))
def test_every_text_has_a_unit_vector_of_its_own(texts: list[str]) -> None:
    vectors = MemoryEmbedder().embed(texts)
    assert [len(vector) for vector in vectors] == [DIMENSIONS] * len(texts)
    assert all(math.isclose(cosine(vector, vector), 1.0) for vector in vectors)
    assert vectors == [MemoryEmbedder().embed([text])[0] for text in texts]


def test_texts_that_share_words_are_close() -> None:
    ask, near, far = MemoryEmbedder().embed(
        ["read a file from disk", "Read_File: a file, read", "weather forecast of some city"]
    )
    assert cosine(ask, near) > cosine(ask, far) + 0.3

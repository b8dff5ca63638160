"""The models of vectors: the packaged ones, and any that fastembed names."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ModelError
from inspector.search.index import packaged_model as fastembed_embedder
from inspector.search.index.packaged_model import _BATCHED, FastembedEmbedder, WordLlamaEmbedder, _batches
from inspector.search.index.semantics import StaticEmbedder
from tests.support.memory_vectors import MemoryStaticEmbedder


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> FastembedEmbedder:
    return FastembedEmbedder(tmp_path_factory.mktemp("model"))


def cosine(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def test_the_packaged_model_gives_unit_vectors(embedder: FastembedEmbedder) -> None:
    vectors = embedder.embed(["send an e-mail", "", "\ud800 lone", "x " * 5000])
    assert [len(vector) for vector in vectors] == [384] * 4
    assert all(cosine(vector, vector) == pytest.approx(1.0, abs=1e-4) for vector in vectors)


def test_what_loading_the_model_took_for_a_moment_is_given_back_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[bool] = []
    monkeypatch.setattr(fastembed_embedder, "give_back", lambda: given_back.append(True))
    embedder = FastembedEmbedder(tmp_path)
    for text in ("one", "two"):
        embedder.embed([text])
    assert given_back == [True]


def test_a_text_has_the_same_vector_whatever_is_embedded_with_it(embedder: FastembedEmbedder) -> None:
    texts = [
        "refund",
        "list the open orders",
        "",
        "send a message",
        "x " * 300,
        "book a table for four at nine",
    ]
    together = embedder.embed(texts)
    assert together == [embedder.embed([text])[0] for text in texts]


@given(st.lists(st.integers(0, 2000), max_size=60))
def test_every_text_is_in_one_batch_of_little_padding(lengths: list[int]) -> None:
    batches = _batches(lengths)
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    assert all(
        len(batch) == 1 or max(lengths[number] for number in batch) * len(batch) <= _BATCHED
        for batch in batches
    )


def test_the_models_words_are_whole_and_the_commonest_come_first(embedder: FastembedEmbedder) -> None:
    words = embedder.words()
    assert {"lights", "order", "weather"} <= set(words)
    assert all(word.isalpha() for word in words)
    assert words.index("the") < words.index("weather") < words.index("umbrella")


def test_a_damaged_copy_is_made_again(tmp_path: Path) -> None:
    FastembedEmbedder(tmp_path).embed(["x"])
    model = next(tmp_path.rglob("tokenizer.json"))
    model.write_text("{}")
    assert FastembedEmbedder(tmp_path).embed(["x"])


def test_without_the_package_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (("no_such_package_here", "model.onnx", "model.onnx", "0"),)
    monkeypatch.setattr(fastembed_embedder, "_FILES", files)
    with pytest.raises(ModelError) as caught:
        FastembedEmbedder(tmp_path).embed(["x"])
    assert "Reinstall Toolsight" in caught.value.hint


TEXTS = ("send an e-mail", "Get the weather forecast", "x " * 5_000, "\ud800 lone", "naïve 天気 🦙")


def packaged() -> StaticEmbedder:
    found = WordLlamaEmbedder.packaged()
    assert found is not None
    return found


every_embedder = pytest.mark.parametrize("make", [packaged, MemoryStaticEmbedder])


@every_embedder
def test_every_text_has_a_unit_vector(make: Callable[[], StaticEmbedder]) -> None:
    embedder = make()
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


@every_embedder
def test_a_vector_does_not_depend_on_the_texts_beside_it(make: Callable[[], StaticEmbedder]) -> None:
    embedder = make()
    together = embedder.embed(TEXTS)
    for row, text in zip(together, TEXTS, strict=True):
        assert embedder.embed([text])[0].tobytes() == row.tobytes()


def test_a_broken_table_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="static vectors cannot be read") as caught:
        WordLlamaEmbedder(tmp_path).embed(["x"])
    assert "wordllama" in str(caught.value.hint)

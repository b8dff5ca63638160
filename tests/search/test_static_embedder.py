"""Static embedders: the packaged table, and the fake that tests use."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from inspector.core.error import ModelError
from inspector.search.packaged_model import WordLlamaEmbedder
from inspector.search.ports import StaticEmbedder
from tests.support.memory_vectors import MemoryStaticEmbedder

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


@every_embedder
def test_no_text_has_no_rows_and_an_empty_one_the_zero_vector(make: Callable[[], StaticEmbedder]) -> None:
    embedder = make()
    assert embedder.embed([]).shape == (0, embedder.dimensions)
    assert not embedder.embed([""]).any()


def test_what_means_the_same_is_closer_than_what_does_not() -> None:
    ask, mail, weather = packaged().embed(
        ["write to a colleague", "Send an e-mail message to a person", "Get the weather forecast of a city"]
    )
    assert ask @ mail > ask @ weather + 0.1


def test_the_table_is_read_without_touching_the_root_logger() -> None:
    before = list(logging.getLogger().handlers)
    packaged().embed(["x"])
    assert logging.getLogger().handlers == before


def test_a_broken_table_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="static vectors cannot be read") as caught:
        WordLlamaEmbedder(tmp_path).embed(["x"])
    assert "wordllama" in str(caught.value.hint)

"""Vectors without a model or a file, for tests and offline use."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 64
_WORD = re.compile(r"[^\W_]+")


class MemoryVectors:
    """A VectorStore in memory."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bytes], bytes] = {}

    def vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {key: self._kept[model, key] for key in keys if (model, key) in self._kept}

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        self._kept.update({(model, key): vector for key, vector in vectors.items()})


class MemoryEmbedder:
    """Unit vectors of 64 dimensions: texts that share words are close, whatever the words mean.

    A word's vector of +1 and -1 comes from its hash, and a text's is the sum of its words': random indexing
    (Kanerva et al. 2000). The same text has the same vector on every machine.
    """

    name = "memory"

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Do nothing: there is nothing to load."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order."""
        return [_vector(text) for text in texts]

    def words(self) -> Sequence[str]:
        """It has no vocabulary."""
        return ()


class MemoryStaticEmbedder:
    """A StaticEmbedder that knows words by their spelling, as MemoryEmbedder does."""

    name = "memory"
    dimensions = DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector per text, in order; the zero vector for a text without words."""
        rows = [_vector(text) if _WORD.search(text) else [0.0] * DIMENSIONS for text in texts]
        return np.array(rows, np.float32).reshape(-1, DIMENSIONS)


def _vector(text: str) -> list[float]:
    # A text without words still needs a direction: that of the whole text.
    words = Counter(_WORD.findall(text.casefold())) or Counter([text])
    total = np.array(list(words.values()), dtype=np.float64) @ _signs(list(words))
    if not total.any():
        total = _signs([text])[0]
    unit: list[float] = (total / np.linalg.norm(total)).tolist()
    return unit


def _signs(words: Sequence[str]) -> np.ndarray:
    """One row of +1 and -1 per word."""
    hashes = b"".join(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=DIMENSIONS // 8).digest() for word in words
    )
    bits = np.unpackbits(np.frombuffer(hashes, dtype=np.uint8)).reshape(len(words), DIMENSIONS)
    return bits.astype(np.float64) * 2 - 1

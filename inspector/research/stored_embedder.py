"""An embedder that reuses vectors from earlier runs."""

from collections.abc import Callable, Sequence

import numpy as np

from inspector.search.document import key_of
from inspector.search.ports import Embedder, VectorStore


class StoredEmbedder:
    """An `Embedder` over another one and a store. New and kept vectors are equal to the last bit."""

    def __init__(self, embedder: Embedder, store: VectorStore) -> None:
        self._embedder = embedder
        self._store = store

    @property
    def name(self) -> str:
        return self._embedder.name

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """See `Embedder`."""
        self._embedder.prepare(progress, cancelled)

    def words(self) -> Sequence[str]:
        """See `Embedder`."""
        return self._embedder.words()

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One unit vector per text, in order. Raises ModelError and StoreError."""
        keys = [key_of(text) for text in texts]
        known = dict(self._store.vectors(self.name, list(dict.fromkeys(keys))))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            rows = np.asarray(self._embedder.embed(list(missing.values())), "<f4")
            new = {key: row.tobytes() for key, row in zip(missing, rows, strict=True)}
            self._store.keep_vectors(self.name, new)
            known |= new
        return [np.frombuffer(known[key], "<f4").tolist() for key in keys]

"""The sources of vectors: the embedder, the vector store, and new vectors in memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.engine.discovery.document import MAX_EMBEDDED, Key
from inspector.engine.discovery.vector_table import Vector, VectorTable
from inspector.engine.ports import Embedder, VectorStore

_QUERIES_KEPT = 256


class Semantics:
    """The vectors of one embedding model. Thread-safe."""

    def __init__(self, embedder: Embedder, store: VectorStore) -> None:
        self._embedder = embedder
        self._store = store
        self._fresh: dict[Key, Vector] = {}
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        return self._embedder.name

    def anew(self) -> "Semantics":
        """The same model and store with empty caches, so that a measurement finds no cached answers."""
        return Semantics(self._embedder, self._store)

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Load the model, see Embedder. Raises ModelError."""
        self._embedder.prepare(progress, cancelled)

    def table(self, keys: Iterable[Key], before: VectorTable | None = None) -> VectorTable:
        """A table of the keys that have a vector so far."""
        with self._lock:
            fresh = dict(self._fresh)
        return VectorTable(keys, fresh, before)

    def settle(self, table: VectorTable) -> None:
        """Drop the new vectors that `table` now holds."""
        with self._lock:
            self._fresh = {key: vector for key, vector in self._fresh.items() if key not in table}

    def recall(self, keys: Sequence[Key]) -> Collection[Key]:
        """Load vectors from the store and return the keys it had. Raises StoreError."""
        stored = self._store.vectors(self.model, keys)
        if stored:
            rows = np.frombuffer(b"".join(stored.values()), "<f4").reshape(len(stored), -1)
            self._add(stored.keys(), rows)
        return stored.keys()

    def embed(self, texts: Mapping[Key, str], *, keep: bool = True) -> None:
        """Embed the texts and, with `keep`, store their vectors. Raises ModelError or StoreError."""
        if not texts:
            return
        rows = np.asarray(self._embedder.embed(list(texts.values())), "<f4").reshape(len(texts), -1)
        self._add(texts.keys(), rows)
        if keep:
            vectors = {key: row.tobytes() for key, row in zip(texts, rows, strict=True)}
            self._store.keep_vectors(self.model, vectors)

    def _add(self, keys: Iterable[Key], rows: NDArray[np.float32]) -> None:
        # Views of one array per batch: freeing thousands of small arrays would fragment memory.
        with self._lock:
            self._fresh |= dict(zip(keys, rows, strict=True))

    def query(self, text: str) -> Vector:
        """The vector of a query; takes some milliseconds the first time. Raises ModelError."""
        text = text[:MAX_EMBEDDED]
        with self._lock:
            known = self._queries.get(text)
        if known is not None:
            return known
        vector = np.asarray(self._embedder.embed([text])[0], np.float32)
        with self._lock:
            self._queries[text] = vector
            if len(self._queries) > _QUERIES_KEPT:
                self._queries.popitem(last=False)
        return vector

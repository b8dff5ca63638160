"""Where vectors come from: the embedder, the store of vectors made before, and what is fresh in memory."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from inspector.engine.ports import Embedder, VectorStore
from inspector.engine.retrieval.document import MAX_EMBEDDED, Key
from inspector.engine.retrieval.vector_table import Vector, VectorTable

_QUERIES_KEPT = 256


class Semantics:
    """The vectors of one embedding model. Its methods may be called from any thread."""

    def __init__(self, embedder: Embedder, store: VectorStore) -> None:
        self._embedder = embedder
        self._store = store
        self._fresh: dict[Key, Vector] = {}
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        return self._embedder.name

    def table(self, keys: Iterable[Key], before: VectorTable | None = None) -> VectorTable:
        """A table of those keys that have a vector by now."""
        with self._lock:
            fresh = dict(self._fresh)
        return VectorTable(keys, fresh, before)

    def settle(self, table: VectorTable) -> None:
        """Forget the fresh vectors that a table holds from now on."""
        with self._lock:
            self._fresh = {key: vector for key, vector in self._fresh.items() if key not in table}

    def recall(self, keys: Sequence[Key]) -> Collection[Key]:
        """Take from the store what it has of the keys; which it had. Raises StoreError."""
        stored = self._store.vectors(self.model, keys)
        with self._lock:
            self._fresh |= {key: np.frombuffer(data, "<f4") for key, data in stored.items()}
        return stored.keys()

    def embed(self, texts: Mapping[Key, str], *, keep: bool = True) -> None:
        """Embed the texts; with `keep` the store has their vectors too. Raises ModelError, StoreError."""
        vectors = self._embedder.embed(list(texts.values()))
        made = {key: np.asarray(vector, "<f4") for key, vector in zip(texts, vectors, strict=True)}
        with self._lock:
            self._fresh |= made
        if keep:
            self._store.keep_vectors(self.model, {key: vector.tobytes() for key, vector in made.items()})

    def query(self, text: str) -> Vector:
        """The vector of a query, some milliseconds the first time. Raises ModelError."""
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

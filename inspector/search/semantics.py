"""The sources of vectors: the embedder, the vector store, and new vectors in memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inspector.search.document import MAX_EMBEDDED, Key, key_of
from inspector.search.ports import Embedder, StaticEmbedder, VectorStore
from inspector.search.query.literal import REQUESTS, SMALL_TALK
from inspector.search.query.spelling import Spelling
from inspector.search.vector_table import Vector, VectorTable


def keep_to_one_thread() -> None:
    """Leave the processors to whoever computes next.

    After a product OpenBLAS' threads turn in a loop for some 20 ms, in case there is another one, and take a
    processor from the model that embeds the next query.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")


_QUERIES_KEPT = 256


class Semantics:
    """The vectors of one embedding model, and the static ones that need none. Thread-safe."""

    def __init__(self, embedder: Embedder, store: VectorStore, static: StaticEmbedder | None = None) -> None:
        self._embedder = embedder
        self._store = store
        self.static = static
        self._fresh: dict[Key, Vector] = {}
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._talk: Vector | None = None
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        return self._embedder.name

    @cached_property
    def spelling(self) -> Spelling:
        """Corrects words by those that the model knows whole. Raises ModelError."""
        return Spelling(self._embedder.words())

    def anew(self) -> "Semantics":
        """The same model and store with empty caches, so that a measurement finds no cached answers."""
        return Semantics(self._embedder, self._store, self.static)

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Load the model, see Embedder. Raises ModelError or StoreError."""
        self._embedder.prepare(progress, cancelled)
        self._direction()

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

    def small_talk(self, vector: Vector) -> float:
        """How much closer a text is to what people say without asking for anything than to requests.

        The difference of its cosines with the mean of either kind of example (-2 to 2), as a nearest centroid
        classifier compares (Rocchio 1971). Raises ModelError or StoreError.
        """
        return float(self._direction() @ vector)

    def _direction(self) -> Vector:
        """From requests to small talk; its examples are embedded once."""
        if self._talk is None:
            self._talk = self._centroid(SMALL_TALK) - self._centroid(REQUESTS)
        return self._talk

    def _centroid(self, texts: Sequence[str]) -> Vector:
        keys = [key_of(text) for text in texts]
        stored = dict(self._store.vectors(self.model, keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in stored}
        if missing:
            rows = np.asarray([self._embedder.embed([text])[0] for text in missing.values()], "<f4")
            fresh = {key: row.tobytes() for key, row in zip(missing, rows, strict=True)}
            self._store.keep_vectors(self.model, fresh)
            stored |= fresh
        mean: Vector = np.mean([np.frombuffer(stored[key], "<f4") for key in keys], axis=0)
        length = np.linalg.norm(mean)
        return mean / length if length else mean

    def query(self, text: str) -> Vector:
        """The vector of a query; takes some milliseconds the first time. Raises ModelError."""
        return self.queries([text])[0]

    def meanings(
        self, texts: Sequence[str], made_of: Mapping[str, Sequence[str]] | None = None
    ) -> list[Vector | None]:
        """The unit vectors of texts, None for blank ones. Raises ModelError.

        A text in `made_of` has the direction of the mean of those texts, and is not embedded itself.
        """
        made_of = made_of or {}
        said = [part for text in texts for part in made_of.get(text, (text,)) if part.strip()]
        known = dict(zip(said, self.queries(said), strict=True))
        for text, parts in made_of.items():
            known[text] = _mean_direction([known[part] for part in parts])
        return list(map(known.get, texts))

    def queries(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of several queries. Raises ModelError."""
        wanted = [text[:MAX_EMBEDDED] for text in texts]
        with self._lock:
            known = {text: self._queries[text] for text in wanted if text in self._queries}
        new = list(dict.fromkeys(text for text in wanted if text not in known))
        if new:
            rows = np.asarray(self._embedder.embed(new), np.float32)
            for text, vector in zip(new, rows, strict=True):
                # A row alone keeps no others in memory.
                known[text] = vector.copy()
                self._keep_query(text, known[text])
        return [known[text] for text in wanted]

    def _keep_query(self, text: str, vector: Vector) -> None:
        with self._lock:
            self._queries[text] = vector
            if len(self._queries) > _QUERIES_KEPT:
                self._queries.popitem(last=False)


def _mean_direction(vectors: Sequence[Vector]) -> Vector:
    total: Vector = np.sum(vectors, axis=0)
    length = np.linalg.norm(total)
    return total / length if length else vectors[0]

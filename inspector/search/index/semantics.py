"""Vectors from an embedder, a vector store and memory; the spelling of queries by the model's words."""

import re
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from inspector.core.error import ToolsightError
from inspector.search.index.document import Vector, VectorTable
from inspector.search.index.embedded_text import MAX_EMBEDDED, Key, key_of
from inspector.search.index.vocabulary import word_lines


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str: ...

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Load the model, downloading it first if needed. May take minutes; may be called in any thread.

        `progress` receives the bytes so far and the approximate total. Raises ModelError.
        """

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one unit vector per text, in order, whatever the other texts are. Raises ModelError."""

    def words(self) -> Sequence[str]:
        """The English words that the model knows whole, commonest first; empty if nobody can tell.

        Raises ModelError.
        """


class StaticEmbedder(Protocol):
    """Turns texts into unit vectors by looking their words up in a table: in microseconds, without a model.

    A text's vector does not depend on the texts beside it; a text without words has the zero vector.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def __hash__(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector a text, of shape (texts, dimensions). Does not raise for any text."""


class VectorStore(Protocol):
    """Stored vectors by model and content hash: float32, little-endian. Thread-safe.

    Each method raises StoreError.
    """

    def vectors(self, model: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """The stored vectors for the given keys; missing ones are left out."""

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None: ...


# What people say without asking for anything, and what they ask for.
SMALL_TALK, REQUESTS = word_lines("small_talk"), word_lines("requests")
# Words of the phrasebook, made by docs/benchmark/phrasebook.py.
SPELT = word_lines("spelt")


# Corrects misspelt words of a query: “turn of the lihgts” is read as “turn of the lights”.
#
# A word is left as it is if the embedding model or the catalog knows it whole: it then means something to
# one of the rankers. The correction is a known word at most one typing error away (Damerau 1964: a letter
# too many, missing, wrong, or two swapped), in long words two if the catalog has it or it has the same
# letters. It begins as the word does: few people misspell the first letter. Models know few words whole (no
# “deletion”, no “calories”); those of several phrases of the phrasebook are left as they are, too.
LONG = 8
_HALF = 4
# No part of a name, a path, an address or a number.
_WORD = re.compile(r"(?<![\w@./#'’-])[A-Za-z]{4,30}(?![\w@/#'’-]|\.\w)")
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ly")

# Whether a catalog has a word, and all that it has.
Has = Callable[[str], bool]
Catalog = Callable[[], frozenset[str]]


class Spelling:
    """The words that an embedding model knows, commonest first. A catalog's are read for misspelt ones."""

    def __init__(self, words: Sequence[str]) -> None:
        self._known = frozenset((*words, *SPELT))
        self._by_beginning: dict[str, list[str]] = defaultdict(list)
        for word in words:
            self._by_beginning[word[0]].append(word)

    def corrected(self, text: str, has: Has, catalog: Catalog) -> str:
        """The text with its misspelt words corrected; the same text if there are none."""
        return _WORD.sub(lambda match: self._read(match, has, catalog), text)

    def _read(self, match: re.Match[str], has: Has, catalog: Catalog) -> str:
        word = match[0].lower()
        is_name = match[0] != word and match.start() > 0
        if is_name or _is_known(word, self._known.__contains__) or _is_known(word, has):
            return match[0]
        return self._nearest(word, catalog()) or match[0]

    def _nearest(self, word: str, catalog: frozenset[str]) -> str:
        """The nearest known word, of equally near ones the catalog's, then the commonest; "" for none."""
        own = sorted(other for other in catalog if _begins_as(word, other) and other.isalpha())
        common = [o for first in {word[0], word[1]} for o in self._by_beginning[first] if _begins_as(word, o)]
        most = 2 if len(word) >= LONG else 1
        near = ((_errors(word, other, most), at, other) for at, other in enumerate(own + common))
        allowed = [
            one for one in near if one[0] <= (most if one[1] < len(own) or set(one[2]) == set(word) else 1)
        ]
        return min(allowed)[2] if allowed else ""


# To read a model's words takes a tenth of a second, and every session and every measurement asks for them.
_SPELLINGS: WeakKeyDictionary[Embedder, Spelling] = WeakKeyDictionary()


def _is_known(word: str, has: Has) -> bool:
    if has(word) or any(word.endswith(end) and has(word.removesuffix(end)) for end in _ENDINGS):
        return True
    # “homepage” is two words, and neither is wrong.
    return any(has(word[:at]) and has(word[at:]) for at in range(_HALF, len(word) - _HALF + 1))


def _begins_as(word: str, other: str) -> bool:
    """Whether another word begins with the same letter, or with the first two swapped."""
    return len(other) >= _HALF and (other[0] == word[0] or other[:2] == word[1::-1])


def _errors(word: str, other: str, most: int) -> int:
    """The typing errors between two words (optimal string alignment), or some number above `most`."""
    # An error changes the length by one at most, and the letters by two.
    if abs(len(word) - len(other)) > most or len(set(word) ^ set(other)) > 2 * most:
        return most + 1
    row, before, earlier = list(range(len(other) + 1)), [], []
    for i, letter in enumerate(word):
        row, before, earlier = [i + 1], row, before
        for j, its in enumerate(other):
            errors = min(before[j + 1] + 1, row[j] + 1, before[j] + (letter != its))
            if i and j and letter == other[j - 1] and its == word[i - 1]:
                errors = min(errors, earlier[j - 1] + 1)
            row.append(errors)
    return row[-1]


_QUERIES_KEPT = 256


class Semantics:
    """The vectors of one embedding model, and the static ones that need none. Thread-safe."""

    def __init__(self, embedder: Embedder, store: VectorStore, static: StaticEmbedder | None = None) -> None:
        self._embedder = embedder
        self._store = store
        self.static = static
        self.problem = ""
        """Why the model cannot be used, and what to do; "" as far as is known."""
        self._fresh: dict[Key, Vector] = {}
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._talk: Vector | None = None
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        return self._embedder.name

    @property
    def spelling(self) -> Spelling:
        """Corrects words by those that the model knows whole. Raises ModelError."""
        found = _SPELLINGS.get(self._embedder)
        if found is None:
            found = _SPELLINGS[self._embedder] = Spelling(self._embedder.words())
        return found

    def anew(self) -> "Semantics":
        """The same model and store with empty caches, so that a measurement finds no cached answers."""
        fresh = Semantics(self._embedder, self._store, self.static)
        fresh.problem = self.problem
        return fresh

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Load the model, see Embedder. Raises ModelError or StoreError."""
        self._embedder.prepare(progress, cancelled)
        self._direction()
        self.problem = ""

    def failed(self, error: ToolsightError) -> None:
        """Take note of why searches have to do without the model."""
        self.problem = " ".join(f"{error.message}. {error.hint}".split())

    def extended(self, table: VectorTable) -> VectorTable:
        """The table with all new vectors so far."""
        with self._lock:
            fresh = dict(self._fresh)
        return table.extended(fresh)

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

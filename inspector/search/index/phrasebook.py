"""A phrasebook: what people say beside the words of an interface, and what it makes of a request's vector.

People say “go to example.com”, tools “navigate to a URL”. A request is read in two steps, both learned from
the phrases (`inspector/search/phrases/phrases.tsv`; docs/benchmark/phrasebook.py makes the tables):

    u  =  unit(v M)                                       v: the vector as the model gives it
    r  =  unit((1 - s c) u  +  s c * sum of w_i t_i)      t_i: what the NEAR nearest phrases mean
    v' =  unit((1 - a) v  +  a r)

M is a linear map, trained contrastively so that requests come to lie near their meaning (InfoNCE: van den
Oord, Li and Vinyals 2018). c is the cosine of u with the nearest mapped phrase, w the softmax of such cosines
over TEMPERATURE, s the SHARE and a the TRUST. Tools are not moved.

A server's own phrases (`phrases` in its configuration) stand among the shipped ones, from which M is learned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.search.index import packaged_model
from inspector.search.index.document import Vector, VectorTable
from inspector.search.index.embedded_text import key_of
from inspector.search.index.semantics import StaticEmbedder
from inspector.search.index.vocabulary import terms

NEAR, TEMPERATURE = 8, 0.08
SHARE, TRUST = 0.4, 0.8
FOLDER = files("inspector.search") / "phrases"
TEXT = "phrases.tsv"
# By the name of the model that made the vectors.
TABLES = {packaged_model.NAME: "sentence.npz", packaged_model.STATIC_NAME: "static.npz"}


_MOST = np.iinfo(np.int8).max
# So many vectors of requests are remembered: some 3 kB each.
_MOST_READ = 512

Phrases = Mapping[str, Mapping[str, str]]
"""What people say and what it means, by the server whose configuration says so."""


# A request's vector, moved; the numbers of the nearest phrases, nearest first, and their weights.
_Reading = tuple[Vector, Sequence[tuple[int, float]]]


class Phrase(NamedTuple):
    """A request in everyday words, and what it asks for as a tool would say it."""

    request: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.request} → {self.meaning}"


@dataclass(frozen=True)
class PhraseVectors:
    """The tables of one kind of vectors of `d` dimensions, a row a phrase.

    `mapping` is (d, d). `basis` (d, k) and `centre` (k) lead to a space in which near phrases are looked for;
    `keys` (n, k) are the mapped requests there. `meanings` (n, d) are unit vectors, with int8 times `unit`.
    The first rows are those of `own` phrases.
    """

    mapping: NDArray[np.float32]
    basis: NDArray[np.float32]
    centre: NDArray[np.float32]
    keys: NDArray[np.float32]
    meanings: NDArray[np.int8]
    unit: float
    own: tuple[Phrase, ...] = ()
    share: float = SHARE
    # While a tool is edited the same few requests are read at each key.
    _read: dict[bytes, _Reading] = field(default_factory=dict, init=False, repr=False, compare=False)

    def with_own(self, own: Sequence[Phrase], vectors: NDArray[np.float32]) -> "PhraseVectors":
        """These and own phrases, with the vectors of both sides, of shape (phrases, 2, d).

        A phrase with a side that has no words for these vectors is left out.
        """
        has_words: NDArray[np.bool_] = np.abs(vectors).max(axis=2).min(axis=1) > 0
        requests, meant = vectors[has_words].swapaxes(0, 1)
        keys = _units(_units(requests @ self.mapping) @ self.basis - self.centre)
        meanings = np.clip(np.rint(meant / np.float32(self.unit)), -_MOST, _MOST).astype(np.int8)
        return replace(
            self,
            keys=np.concatenate([keys, self.keys]),
            meanings=np.concatenate([meanings, self.meanings]),
            own=tuple(phrase for phrase, kept in zip(own, has_words.tolist(), strict=True) if kept),
        )

    def read(self, vector: Vector) -> Vector:
        """A request's unit vector, moved to where tools say such things; one without words stays as it is."""
        return self._reading(vector)[0] if vector.any() else vector

    def _reading(self, vector: Vector) -> _Reading:
        key = vector.tobytes()
        if key not in self._read:
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            mapped = _unit(vector @ self.mapping)
            near, weights, nearest = self._nearest(mapped)
            meaning = weights @ (self.meanings[near] * np.float32(self.unit))
            share = self.share * max(nearest, 0.0)
            moved = _unit((1 - share) * mapped + share * meaning)
            numbered = list(zip(near.tolist(), weights.tolist(), strict=True))
            self._read[key] = (_unit((1 - TRUST) * vector + TRUST * moved), numbered)
        return self._read[key]

    def near(self, vector: Vector) -> Sequence[tuple[Phrase, float]]:
        """The phrases nearest to a request, nearest first, and their weights."""
        return [(self._phrase(number), weight) for number, weight in self._reading(vector)[1]]

    def meant_near(self, request: Vector, passages: NDArray[np.float32], most: int) -> list[str]:
        """What phrases mean that is near to a request and to one of a tool's passages, nearest first."""
        meanings = self.meanings * np.float32(self.unit)
        nearness = meanings @ self.read(request) + (meanings @ passages.T).max(axis=1)
        order = np.argsort(-nearness, kind="stable")[: 2 * most].tolist()
        return list(dict.fromkeys(self._phrase(number).meaning for number in order))[:most]

    def _phrase(self, number: int) -> Phrase:
        of_own = number < len(self.own)
        return self.own[number] if of_own else phrases()[number - len(self.own)]

    def _nearest(self, mapped: Vector) -> tuple[NDArray[np.intp], NDArray[np.float32], float]:
        """The nearest phrases, nearest first, their weights, and the cosine of the first."""
        cosines = self.keys @ _unit(mapped @ self.basis - self.centre)
        found = np.argpartition(-cosines, NEAR)[:NEAR]
        found = found[np.argsort(-cosines[found], kind="stable")]
        weights = np.exp((cosines[found] - cosines[found[0]]) / TEMPERATURE)
        return found, weights / weights.sum(), float(cosines[found[0]])


@cache
def phrases() -> Sequence[Phrase]:
    """The phrases that come with Toolsight."""
    lines = (FOLDER / TEXT).read_text(encoding="utf-8").splitlines()
    return [Phrase(*line.split("\t")) for line in lines]


@cache
def phrase_vectors(model: str) -> PhraseVectors | None:
    """The tables for a model's vectors; None if none come with Toolsight for that model."""
    if model not in TABLES:
        return None
    with (FOLDER / TABLES[model]).open("rb") as file, np.load(file) as stored:
        return read_tables(stored)


def read_tables(stored: Mapping[str, NDArray[np.generic]]) -> PhraseVectors:
    """Tables as they are stored: small, in half precision or int8."""
    mapping, basis, centre, keys = (
        stored[name].astype(np.float32) for name in ("mapping", "basis", "centre", "keys")
    )
    return PhraseVectors(
        mapping, basis, centre, _units(keys), stored["meanings"].astype(np.int8), float(stored["unit"])
    )


def _units(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    units: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units


def _unit(vector: NDArray[np.floating]) -> NDArray[np.float32]:
    length = np.linalg.norm(vector)
    return (vector / length if length else vector).astype(np.float32)


def own_phrases(by_server: Phrases, servers: Sequence[str]) -> tuple[Phrase, ...]:
    """The phrases of these servers."""
    own = (known for server, known in by_server.items() if server in servers)
    return tuple(Phrase(*pair) for known in own for pair in known.items())


# An index that got new vectors has the same phrases.
@lru_cache(maxsize=2)
def _static_vectors(static: StaticEmbedder, own: tuple[Phrase, ...]) -> PhraseVectors | None:
    shipped = phrase_vectors(static.name)
    if shipped is None or not own:
        return shipped
    rows = static.embed(list(chain.from_iterable(own)))
    return shipped.with_own(own, rows.reshape(len(own), 2, -1))


class Phrasebook:
    """The phrases for the vectors of one model and for static ones; either may be missing."""

    def __init__(
        self, model: str, static: StaticEmbedder | None, own: Sequence[Phrase], vectors: VectorTable
    ) -> None:
        """Of `own` phrases those count whose `vectors` by the model are there; static ones are made now."""
        self._model = phrase_vectors(model)
        self._static_vectors = _static_vectors(static, tuple(own)) if static is not None else None
        known = [phrase for phrase in own if all(key_of(text) in vectors for text in phrase)]
        if self._model is not None and known:
            sides = [vectors.get(key_of(text)) for text in chain.from_iterable(known)]
            self._model = self._model.with_own(known, np.array(sides, np.float32).reshape(len(known), 2, -1))

    def read(self, vectors: Sequence[Vector]) -> Sequence[Vector]:
        """The model's vectors of requests, moved."""
        return vectors if self._model is None else [self._model.read(vector) for vector in vectors]

    def read_static(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The static vectors of requests, moved."""
        if self._static_vectors is None:
            return rows
        return np.array([self._static_vectors.read(row) for row in rows], np.float32).reshape(rows.shape)

    def like(self, vector: Vector | None, static: Vector | None) -> Phrase | None:
        """The phrase that a request is read like, by the model's vector of it or else by its static one."""
        near = (
            self._near_static(static) if vector is None or self._model is None else self._model.near(vector)
        )
        return near[0][0] if near else None

    def meant_near(self, request: Vector, passages: NDArray[np.float32], most: int) -> list[str]:
        """What phrases near to both mean, by the model's vectors; nothing without a table for them."""
        return self._model.meant_near(request, passages, most) if self._model is not None else []

    def meant(self, static: Vector) -> Mapping[str, float]:
        """The terms of what the phrases near to a request's static vector mean, and their weights."""
        found: dict[str, float] = {}
        for phrase, weight in self._near_static(static):
            for term in dict.fromkeys(terms(phrase.meaning)):
                found[term] = found.get(term, 0.0) + weight
        return found

    def _near_static(self, vector: Vector | None) -> Sequence[tuple[Phrase, float]]:
        if vector is None or self._static_vectors is None:
            return ()
        return self._static_vectors.near(vector)
